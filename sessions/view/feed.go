package view

import (
	"cmp"
	"strings"
	"time"
	"unicode/utf8"

	"parley/sessions"
)

// FeedType says what a [FeedItem] tells of.
type FeedType string

// Feed types.
const (
	FeedAssistant   FeedType = "assistant"    // an answer
	FeedUser        FeedType = "user"         // what a person said
	FeedEvent       FeedType = "event"        // anything else that happened
	FeedError       FeedType = "error"        // what went wrong, as people were told
	FeedHandoff     FeedType = "handoff"      // another role goes on
	FeedResume      FeedType = "resume"       // the conversation goes on after a break
	FeedRepair      FeedType = "repair"       // a broken log was mended
	FeedTool        FeedType = "tool"         // a tool was called
	FeedToolSuccess FeedType = "tool-success" // and this is its result
	FeedToolError   FeedType = "tool-error"   // and it failed
	FeedActivation  FeedType = "activation"   // a turn began
)

// FeedToolMax bounds the text of a tool's item, in runes: the rest is in the
// log. What people and the model wrote is never cut.
const FeedToolMax = 2000

// LostResult is the text of a tool result that nobody has: it stands in for
// the result of a call that was under way when the gateway was killed.
const LostResult = "Tool result unavailable (recovered from broken history)"

// FeedItem is one line of what people watch. An item whose ID was seen before
// replaces that one: a tool call that has got its result.
type FeedItem struct {
	ID          string                `json:"id"`  // the entry's id; of a tool call "call:" and the call's id
	Seq         int64                 `json:"seq"` // of the entry it was derived from
	Type        FeedType              `json:"type"`
	Label       string                `json:"label"` // who or what, in a word or two
	Text        string                `json:"text"`
	Time        time.Time             `json:"time"`
	Attachments []sessions.Attachment `json:"attachments,omitempty"`
}

// Shown gives the text of an answer as people may see it, and whether nothing
// of it may be shown.
type Shown func(text string) (shown string, silent bool)

// Feed derives the items of one entry, in order; most entries have one, some
// none. It needs nothing but the entry: items of a log are those of its
// entries, from whichever on.
func Feed(e sessions.Entry, shown Shown) []FeedItem {
	if e.Type == sessions.EntryMessage {
		return messageFeed(e, shown)
	}
	item, told := eventFeed(e)
	if !told {
		return nil
	}
	item.ID, item.Seq, item.Time = e.ID(), e.Seq, e.Time
	return []FeedItem{item}
}

func messageFeed(e sessions.Entry, shown Shown) []FeedItem {
	m, err := e.Message()
	if err != nil {
		return []FeedItem{{ID: e.ID(), Seq: e.Seq, Time: e.Time, Type: FeedError, Label: "unreadable", Text: "this message cannot be read; another version of the gateway may have written it"}}
	}
	switch m.Role {
	case sessions.RoleAssistant:
		return assistantFeed(e, m, shown)
	case sessions.RoleTool:
		return resultFeed(e, m)
	case sessions.RoleUser:
	}
	return []FeedItem{{ID: e.ID(), Seq: e.Seq, Time: e.Time, Type: FeedUser, Label: speaker(m), Text: m.Text, Attachments: m.Attachments}}
}

// speaker is who said a message of a person.
func speaker(m sessions.Message) string {
	switch {
	case m.Sender == nil:
		return string(m.Role)
	case strings.TrimSpace(m.Sender.Name) != "":
		return m.Sender.Name
	}
	return m.Sender.ID
}

// assistantFeed is an answer and the calls that came with it. Of a message
// that only calls tools there are only those.
func assistantFeed(e sessions.Entry, m sessions.Message, shown Shown) []FeedItem {
	var items []FeedItem
	text, silent := shown(m.Text)
	if silent = silent || m.Silent; silent {
		text = ""
	}
	if text != "" || len(m.ToolCalls) == 0 || len(m.Attachments) > 0 {
		items = append(items, FeedItem{ID: e.ID(), Seq: e.Seq, Time: e.Time, Type: FeedAssistant, Label: answerLabel(m, silent), Text: text, Attachments: m.Attachments})
	}
	for _, call := range m.ToolCalls {
		items = append(items, FeedItem{ID: callItem(call.ID), Seq: e.Seq, Time: e.Time, Type: FeedTool, Label: call.Name, Text: cutRunes(call.Arguments, FeedToolMax)})
	}
	return items
}

func answerLabel(m sessions.Message, silent bool) string {
	switch {
	case m.Stopped:
		return "stopped"
	case m.Partial:
		return "interrupted"
	case silent:
		return "silent"
	case m.Model != "":
		return m.Model
	}
	return string(m.Role)
}

func callItem(call string) string { return "call:" + call }

// resultFeed turns the call's item into its result. A result that stands in
// for a lost one is told as a repair besides.
func resultFeed(e sessions.Entry, m sessions.Message) []FeedItem {
	item := FeedItem{ID: callItem(m.CallID), Seq: e.Seq, Time: e.Time, Type: FeedToolSuccess, Label: m.ToolName, Text: cutRunes(m.Text, FeedToolMax), Attachments: m.Attachments}
	lost := strings.Contains(m.Text, LostResult)
	if m.IsError || lost {
		item.Type = FeedToolError
	}
	if !lost {
		return []FeedItem{item}
	}
	return []FeedItem{item, {ID: e.ID(), Seq: e.Seq, Time: e.Time, Type: FeedRepair, Label: m.ToolName, Text: LostResult}}
}

// happening is what the payloads of entries that are no messages may say about
// themselves to people.
type happening struct {
	Text     string `json:"text"`
	Summary  string `json:"summary"`
	Label    string `json:"label"`
	Name     string `json:"name"`
	Reason   string `json:"reason"`
	State    string `json:"state"`
	From     string `json:"from"`
	To       string `json:"to"`
	Model    string `json:"model_id"`
	Thinking string `json:"thinking_level"`
	TargetID string `json:"target_id"`
	Emoji    string `json:"emoji"`
}

// eventFeed is the item of an entry that is no message. Nothing is told of
// what only programs need, and of deliveries that arrived.
func eventFeed(e sessions.Entry) (item FeedItem, told bool) {
	if e.Type == sessions.EntryDelivery {
		return deliveryFeed(e)
	}
	h, _ := sessions.PayloadAs[happening](e)
	event := func(label, text string) (FeedItem, bool) {
		return FeedItem{Type: FeedEvent, Label: label, Text: text}, true
	}
	switch e.Type {
	case sessions.EntryError:
		return FeedItem{Type: FeedError, Label: "error", Text: h.Text}, true
	case sessions.EntryTurn:
		return FeedItem{Type: FeedActivation, Label: cmp.Or(h.Name, "turn"), Text: cmp.Or(h.Text, h.Reason)}, true
	case sessions.EntryHandoff:
		return FeedItem{Type: FeedHandoff, Label: cmp.Or(h.To, "handoff"), Text: cmp.Or(h.Text, h.Summary, h.Reason)}, true
	case sessions.EntryLeaf:
		return leafFeed(h), true
	case sessions.EntryState:
		return stateFeed(h), true
	case sessions.EntryCompaction:
		return event("compaction", h.Summary)
	case sessions.EntryBranchSummary:
		return event("branch summary", h.Summary)
	case sessions.EntryModelChange:
		return event("model", cmp.Or(h.Model, "as configured"))
	case sessions.EntryThinking:
		return event("thinking", cmp.Or(h.Thinking, "as configured"))
	case sessions.EntrySessionName:
		return event("name", h.Name)
	case sessions.EntryLabel:
		return event("label", strings.TrimSpace(h.TargetID+" "+h.Label))
	case sessions.EntryCustomMessage:
		return event(cmp.Or(h.Name, "message"), h.Text)
	case sessions.EntryEdit, sessions.EntryDelete, sessions.EntryReaction:
		return event(string(e.Type), strings.TrimSpace(h.TargetID+" "+cmp.Or(h.Emoji, h.Text)))
	case sessions.EntryApproval, sessions.EntryCheckpoint:
		return event(string(e.Type), cmp.Or(h.Text, h.Summary, h.Reason))
	case sessions.EntryMessage, sessions.EntryCustomInfo, sessions.EntryDelivery: // the callers, and what only programs need
	}
	return FeedItem{}, false
}

func leafFeed(h happening) FeedItem {
	where := cmp.Or(h.TargetID, "the beginning")
	if h.Reason == "" {
		return FeedItem{Type: FeedEvent, Label: "branch", Text: "goes on at " + where}
	}
	return FeedItem{Type: FeedResume, Label: h.Reason, Text: "goes on at " + where}
}

func stateFeed(h happening) FeedItem {
	to := cmp.Or(h.State, h.To)
	if to == string(sessions.StateActive) {
		return FeedItem{Type: FeedResume, Label: to, Text: h.Reason}
	}
	return FeedItem{Type: FeedEvent, Label: cmp.Or(to, "state"), Text: h.Reason}
}

// deliveryFeed tells of an answer that did not arrive, or perhaps did not.
func deliveryFeed(e sessions.Entry) (FeedItem, bool) {
	d, _ := sessions.PayloadAs[sessions.DeliveryEntry](e)
	switch d.State {
	case sessions.DeliveryFailed:
		return FeedItem{Type: FeedError, Label: "not delivered", Text: strings.TrimSpace(d.Surface + " " + d.Reason)}, true
	case sessions.DeliveryUnknown:
		return FeedItem{Type: FeedError, Label: "perhaps not delivered", Text: strings.TrimSpace(d.Surface + " " + d.Reason)}, true
	case sessions.DeliveryPending, sessions.DeliverySending, sessions.DeliverySent:
	}
	return FeedItem{}, false
}

// cutRunes cuts a text to limit runes; what was cut ends with an ellipsis.
func cutRunes(text string, limit int) string {
	if len(text) <= limit || utf8.RuneCountInString(text) <= limit {
		return text
	}
	for i := range text {
		if limit--; limit == 0 {
			return text[:i] + "…"
		}
	}
	return text
}
