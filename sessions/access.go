package sessions

import (
	"slices"
	"strings"
)

// Caller is whoever wants to reach a session by its id: over the API, on the
// page, in a terminal, or with a command that names one.
type Caller struct {
	User  User
	Owner bool // may see every session
	// Namespace limits a channel's token to the sessions whose id begins with
	// it and a colon. Empty: no such limit.
	Namespace string
}

// Reach is the one rule of who may reach a session: ErrNotFound for everybody
// else, as if there were none, so that nobody learns which ids exist. An owner
// who only looks is not made a participant by it.
func Reach(record Record, caller Caller) error {
	if caller.Namespace != "" {
		return reachNamespace(record.ID, caller.Namespace)
	}
	if caller.Owner || slices.ContainsFunc(record.Participants, caller.User.Is) {
		return nil
	}
	return ErrNotFound
}

func reachNamespace(id, namespace string) error {
	if rest, found := strings.CutPrefix(id, namespace+":"); found && rest != "" {
		return nil
	}
	return ErrNotFound
}

// MaySpeakFor is the other half of the rule for a channel's token: the
// identity it speaks for is one of the token's own platform. ErrNotFound.
func (c Caller) MaySpeakFor(identity string) error {
	platform, _, _ := strings.Cut(identity, ":")
	if c.Namespace != "" && platform != c.Namespace {
		return ErrNotFound
	}
	return nil
}
