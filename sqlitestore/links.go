package sqlitestore

import (
	"context"
	"crypto/rand"
	"slices"
	"strings"

	"parley/sessions"
)

// codeLength is how many of 32 letters and digits a code has: 60 random bits,
// more than can be tried in [sessions.LinkFor].
const codeLength = 12

// OfferLink makes a code with which another identity can join.
func (s *Store) OfferLink(ctx context.Context, identity string) (string, error) {
	if err := sessions.CheckIdentity(identity); err != nil {
		return "", err
	}
	code := strings.ToLower(rand.Text()[:codeLength])
	return code, s.write(ctx, func(t *tx) error {
		user, err := t.who(identity)
		if err != nil {
			return err
		}
		if err := t.voidLinks(user); err != nil {
			return err
		}
		_, err = t.exec("INSERT INTO links (code, identity, until) VALUES (?, ?, ?)", code, identity, t.after(sessions.LinkFor))
		return err
	})
}

// voidLinks removes a user's codes, and those that have run out.
func (t *tx) voidLinks(user sessions.User) error {
	for _, identity := range user.Identities {
		if _, err := t.exec("DELETE FROM links WHERE identity = ?", identity); err != nil {
			return err
		}
	}
	_, err := t.exec("DELETE FROM links WHERE until <= ?", t.now)
	return err
}

// TakeLink makes the user of identity one with the user who was offered the code.
func (s *Store) TakeLink(ctx context.Context, code, identity string) (user sessions.User, merged string, err error) {
	if err := sessions.CheckCode(code); err != nil {
		return user, "", err
	}
	if err := sessions.CheckIdentity(identity); err != nil {
		return user, "", err
	}
	user, err = written(ctx, s, func(t *tx) (user sessions.User, err error) {
		user, merged, err = t.takeLink(code, identity)
		return user, err
	})
	if err != nil {
		return sessions.User{}, "", err
	}
	s.chores.wake()
	return user, merged, nil
}

func (t *tx) takeLink(code, identity string) (user sessions.User, merged string, err error) {
	var offered string
	found, err := t.one("SELECT identity FROM links WHERE code = ? AND until > ?", []any{code, t.now}, []any{&offered})
	if err != nil || !found {
		return user, "", notFound(err)
	}
	if user, err = t.who(offered); err != nil {
		return user, "", err
	}
	joining, err := t.who(identity)
	if err != nil {
		return user, "", err
	}
	if joining.ID == user.ID {
		return user, "", sessions.ErrConflict
	}
	if _, err := t.exec("DELETE FROM links WHERE code = ?", code); err != nil {
		return user, "", err
	}
	user.Identities = slices.Concat(user.Identities, joining.Identities)
	t.wakeWho(user)
	return user, joining.ID, t.merge(user, joining.ID)
}
