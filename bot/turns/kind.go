package turns

import (
	"context"

	"parley/sessions"
)

// Kind is what is particular to the turns of one kind. A Kind belongs to one
// turn, and is called by its goroutine only.
type Kind interface {
	// Think decides how the turn ends. It calls [Turn.Answer] at most once.
	// Where it does not, nothing is taken for read of the conversation. An error
	// means that this process cannot end the turn.
	Think(ctx context.Context, turn *Turn) (sessions.CommitRequest, error)
	// Stored is called with the entries that the turn's end has written, before
	// anything of it is sent.
	Stored(turn *Turn, entries []sessions.Entry)
}

// Manner is how a kind of turn asks the model.
type Manner struct {
	System string // goes behind the system prompt
	Unseen bool   // nobody waits to see the answer being written
}

// chat is the turn that answers what people said.
type chat struct{}

func (chat) Think(ctx context.Context, turn *Turn) (sessions.CommitRequest, error) {
	return turn.Answer(ctx, Manner{})
}

func (chat) Stored(*Turn, []sessions.Entry) {}
