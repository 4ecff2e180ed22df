package delivery

import (
	"encoding/json"

	"parley/adapters"
	"parley/sessions"
)

// Text is what is said on a surface.
type Text struct {
	Surface string // key
	Text    string
	Format  adapters.Format
	ReplyTo string // the platform's id of the message it answers; may be empty
	// Entry is the index, among the entries written with the rows, of the one
	// that they show. -1: none.
	Entry int
}

// Rows are the outbox rows that show a text: none on a local surface, because
// its people read the log.
func (o *Outbox) Rows(text Text) ([]sessions.NewDelivery, error) {
	surface, err := adapters.ParseSurface(text.Surface)
	if err != nil || surface.Platform.Own() {
		return nil, nil //nolint:nilerr // what was said nowhere is answered nowhere but in the log
	}
	var rows []sessions.NewDelivery
	for i, part := range o.connections.split(surface, text.Text, text.Format) {
		out := adapters.Outgoing{Surface: surface, Text: part, Format: text.Format}
		if i == 0 {
			out.ReplyTo = text.ReplyTo
		}
		payload, err := json.Marshal(out)
		if err != nil {
			return nil, err
		}
		rows = append(rows, sessions.NewDelivery{Surface: text.Surface, Payload: payload, Entry: text.Entry})
	}
	return rows, nil
}

// outgoing is the message of a row, and the adapter that sends it. An error is
// always a *adapters.SendError.
func (o *Outbox) outgoing(row sessions.Delivery) (adapters.Adapter, adapters.Outgoing, error) {
	var message adapters.Outgoing
	if err := json.Unmarshal(row.Payload, &message); err != nil {
		return nil, message, &adapters.SendError{Kind: adapters.SendRefused, Reason: "the outbox row cannot be read: " + err.Error(), Err: err}
	}
	message.DeliveryID, message.Attempt, message.MaybeSent = row.ID, row.Attempt, row.MaybeSent
	adapter, surface := o.connections.Of(row.Surface)
	switch {
	case adapter == nil && o.connections.learning(surface.Platform):
		return nil, message, &adapters.SendError{Kind: adapters.SendUnavailable, Reason: "the connection to " + row.Surface + " is not there yet"}
	case adapter == nil:
		return nil, message, &adapters.SendError{Kind: adapters.SendDenied, Reason: "no connection to " + row.Surface + " is configured"}
	}
	return adapter, message, nil
}
