package bot

import (
	"context"
	"errors"

	"parley/routing"
	"parley/sessions"
)

// asInGroup gives a command in a direct chat the rights that it has in groups,
// where a group's conversation was taken up there: who takes part in it does
// not own it. A new conversation only leaves it, and does not end it for the
// others. refused: the sender may not run the command on it.
func (b *Bot) asInGroup(ctx context.Context, a *arrival) (refused bool, err error) {
	name := a.decision.Command.Name
	if !a.direct() || ofNoSession(name) || a.role == routing.Owner && name != "new" {
		return false, nil
	}
	record, err := b.current(ctx, *a)
	if errors.Is(err, sessions.ErrNotFound) || err == nil && record.Source.Type != sessions.Group {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if name == "new" {
		_, err := b.store.Detach(ctx, record.ID, a.event.Surface.Key())
		return false, ignoreGone(err)
	}
	a.decision.Permission = routing.MayRun(name, a.role, false, b.policy.Access)
	return a.decision.Permission == routing.PermRefused, nil
}

// ofNoSession reports whether a command changes nothing in the conversation
// that is held where it is given.
func ofNoSession(name string) bool {
	switch name {
	case "start", "help", "whoami", "status", "tree", "sessions", "resume", "fork", "schedule", "link", "allow":
		return true
	}
	return false
}
