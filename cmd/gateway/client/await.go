package client

import (
	"context"
	"encoding/json"

	"parley/api"
	"parley/sessions"
)

// Await gives every entry of the reply to what was said, in order, until the
// turn is over. before is the newest seq there was before it was said; it
// decides where the reply begins when nothing was stored, as for /retry.
// failed is the error entry that ended the turn, or nil.
func (c *Client) Await(ctx context.Context, said Said, before int64, take func(api.EntryView)) (failed *api.EntryView, err error) {
	w := waiter{question: said.Seq, below: map[string]bool{}, take: take}
	after := before
	if said.Seq > 0 {
		after = said.Seq - 1
	}
	err = c.Follow(ctx, said.Session, after, func(event Event) bool { return !w.over(event) })
	return w.failed, err
}

// waiter recognises the end of a reply.
type waiter struct {
	question int64           // seq of the message that is answered; 0: none was stored
	below    map[string]bool // entries of the question's branch; unused without question
	// waiting: the question stood in a queue when it was read. What ends then
	// may be another's turn, so the reply is over only when nothing is left to
	// be done.
	waiting bool
	ended   bool // an answer or an error has come
	failed  *api.EntryView
	take    func(api.EntryView)
}

// over takes the next event in, and reports whether the reply is complete.
func (w *waiter) over(event Event) bool {
	switch event.Kind {
	case KindEntry:
		return w.entry(event.Entry)
	case KindStatus:
		return w.ended && event.Status.Status != sessions.StatusRunning && event.Status.Queued == 0
	}
	return false
}

func (w *waiter) entry(entry api.EntryView) bool {
	if entry.Seq == w.question {
		w.below[entry.ID], w.waiting = true, entry.Waiting
		return false
	}
	if entry.Type == sessions.EntryError {
		w.failed, w.ended = &entry, true
		return !w.waiting
	}
	if entry.Type != sessions.EntryMessage || !w.belongs(entry) {
		return false
	}
	var message sessions.Message
	if json.Unmarshal(entry.Payload, &message) != nil || message.Role == sessions.RoleUser {
		return false
	}
	w.take(entry)
	if !message.EndsTurn() {
		return false
	}
	w.failed, w.ended = nil, true
	return !w.waiting
}

// belongs reports whether an entry stands below the question.
func (w *waiter) belongs(entry api.EntryView) bool {
	if w.question == 0 || w.waiting {
		return true
	}
	if entry.ParentID == nil || !w.below[*entry.ParentID] {
		return false
	}
	w.below[entry.ID] = true
	return true
}
