package sessions

import (
	"context"
	"slices"
	"strings"
	"time"
)

// LinkFor is how long a code to link identities is good.
const LinkFor = 10 * time.Minute

// User is one person behind one or more identities ("telegram:12345"). Who
// never linked another has one, and its id is the user's.
type User struct {
	ID         string   `json:"id"`             // the first identity
	Identities []string `json:"identities"`     // ID too, in the order they were linked
	Role       string   `json:"role,omitempty"` // as set in the store; empty: none was
}

// Is reports whether an identity is one of the user's.
func (u User) Is(identity string) bool {
	return u.ID == identity || slices.Contains(u.Identities, identity)
}

// Users are the people.
type Users interface {
	// Who is the person behind an identity. One the store knows nothing of is
	// a user of that identity alone, without a role.
	Who(ctx context.Context, identity string) (User, error)

	// SetRole gives a user, named by any of their identities, a role; empty
	// takes it back.
	SetRole(ctx context.Context, identity, role string) (User, error)

	// OfferLink makes a code with which another identity can join the user of
	// this one, once and within LinkFor; an earlier code of the user's is void.
	OfferLink(ctx context.Context, identity string) (code string, err error)

	// TakeLink makes the user of identity one with the user who was offered
	// the code. The identities of the one who takes it, the former user,
	// belong to the other from then on, behind that one's own. In every
	// session's Participants and UserID the other stands in the former's
	// place, which may be a moment later. The former's stored role is gone.
	// merged is the former user's id. ErrNotFound: the code is unknown, used or too old;
	// ErrConflict: they are one already (the code stays good).
	TakeLink(ctx context.Context, code, identity string) (user User, merged string, err error)

	// ListUsers lists who has several identities or a stored role, by id,
	// behind the id after (empty: from the first), at most limit (1 to ListMax).
	ListUsers(ctx context.Context, after string, limit int) ([]User, error)
}

// CheckIdentity refuses what cannot be an identity: a platform, a colon and an
// id, without white space or control characters.
func CheckIdentity(identity string) error {
	if err := CheckKey("identity", identity); err != nil {
		return err
	}
	platform, id, found := strings.Cut(identity, ":")
	if !found || platform == "" || id == "" || strings.ContainsFunc(identity, func(r rune) bool { return r <= ' ' || r == 0x7f }) {
		return &InvalidError{What: "identity", Why: "it must look like telegram:12345"}
	}
	return nil
}

// CheckCode refuses what cannot be a link's code.
func CheckCode(code string) error {
	if code == "" || len(code) > 64 || strings.ContainsFunc(code, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return &InvalidError{What: "code", Why: "it is none that /link gave"}
	}
	return nil
}
