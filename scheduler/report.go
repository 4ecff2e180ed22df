package scheduler

import (
	"encoding/json"
	"fmt"

	"parley/sessions"
)

// Result is how the turn of one attempt ended.
type Result string

// Results.
const (
	Answered  Result = "answered"  // an answer is in the log, and in the outbox
	Quiet     Result = "silent"    // it said that there is nothing to say
	NoAnswer  Result = "failed"    // with the reason
	Stopped   Result = "stopped"   // somebody or the deadline broke it off
	Resent    Result = "resent"    // no model was asked: an answer that was there is delivered again
	Overtaken Result = "overtaken" // its run had ended otherwise before it began
)

// Report is the payload of the EntryTurn that the turn of an attempt writes
// with its end, in the same step. What a run came to is read off the log: the
// report, and behind it the receipts of its deliveries.
type Report struct {
	Attempt string           `json:"attempt"` // Run.AttemptKey
	Result  Result           `json:"result"`
	Error   string           `json:"error,omitempty"`
	Tokens  *sessions.Tokens `json:"tokens,omitempty"`
	// Behind is how many entries before the report the answer stands; 0: none.
	Behind  int64    `json:"behind,omitempty"`
	Targets []Target `json:"targets,omitempty"`
}

// Target is a surface that an attempt delivers to, and how many rows it put into
// the outbox for it. A surface whose people read the log gets none.
type Target struct {
	Surface string `json:"surface"`
	Rows    int    `json:"rows"`
}

// Entry is the report as it is written.
func (r Report) Entry() (sessions.NewEntry, error) {
	payload, err := json.Marshal(r)
	return sessions.NewEntry{Type: sessions.EntryTurn, Payload: payload}, err
}

// seen is what the log tells about an attempt.
type seen struct {
	over   bool
	report Report
	at     sessions.Entry // the report's
	// receipts of the report's deliveries, by surface
	receipts map[string][]sessions.DeliveryEntry
}

// observe reads what became of an attempt from the entries behind its prompt.
func observe(attempt string, entries []sessions.Entry) (seen, error) {
	out := seen{receipts: map[string][]sessions.DeliveryEntry{}}
	for _, entry := range entries {
		switch entry.Type {
		case sessions.EntryTurn:
			var report Report
			if json.Unmarshal(entry.Payload, &report) == nil && report.Attempt == attempt {
				out.over, out.report, out.at = true, report, entry
			}
		case sessions.EntryDelivery:
			if !out.over {
				continue
			}
			var receipt sessions.DeliveryEntry
			if err := json.Unmarshal(entry.Payload, &receipt); err != nil {
				return out, fmt.Errorf("the receipt in entry %s cannot be read: %w", entry.ID(), err)
			}
			if receipt.EntryID == sessions.EntryID(out.at.Seq-out.report.Behind) {
				out.receipts[receipt.Surface] = append(out.receipts[receipt.Surface], receipt)
			}
		}
	}
	return out, nil
}

// delivered is what the receipts say about one surface.
func (s seen) delivered(surface string) Delivered {
	out := Delivered{Surface: surface, State: sessions.DeliverySent}
	for _, receipt := range s.receipts[surface] {
		switch {
		case receipt.State == sessions.DeliveryFailed,
			receipt.State == sessions.DeliveryUnknown && out.State != sessions.DeliveryFailed:
			out.State, out.Reason = receipt.State, cut(receipt.Reason)
		}
	}
	for _, target := range s.report.Targets {
		if target.Surface == surface && len(s.receipts[surface]) < target.Rows {
			return Delivered{Surface: surface, State: sessions.DeliveryPending}
		}
	}
	return out
}

// reasonMax bounds what is kept of a reason, in bytes.
const reasonMax = 500

func cut(text string) string {
	if len(text) <= reasonMax {
		return text
	}
	for i := reasonMax; ; i-- {
		if text[i]&0xc0 != 0x80 { // a character begins here
			return text[:i] + "…"
		}
	}
}
