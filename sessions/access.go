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
	// it and a colon. With a User it speaks for that person, who has to reach
	// the session too. Empty: no such limit.
	Namespace string
}

// Reach is the one rule of who may reach a session: ErrNotFound for everybody
// else, as if there were none, so that nobody learns which ids exist. An owner
// who only looks is not made a participant by it.
func Reach(record Record, caller Caller) error {
	if caller.Namespace != "" {
		if err := reachNamespace(record.ID, caller.Namespace); err != nil || caller.User.ID == "" {
			return err
		}
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

// MaySpeak is the rule of whom a program may speak for in a session that it
// reaches: in a direct one for who takes part in it, an owner, and whoever is
// the first there; in a group's for everybody. ErrNotFound.
func MaySpeak(record Record, user User, owner bool) error {
	if record.Source.Type != Direct || owner || len(record.Participants) == 0 || slices.ContainsFunc(record.Participants, user.Is) {
		return nil
	}
	return ErrNotFound
}
