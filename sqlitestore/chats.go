package sqlitestore

import (
	"context"
	"slices"

	"parley/sessions"
)

// ListChat allows a chat.
func (s *Store) ListChat(ctx context.Context, chat, by string) error {
	if err := sessions.CheckKey("chat", chat); err != nil {
		return err
	}
	return s.write(ctx, func(t *tx) error {
		_, err := t.exec("INSERT INTO chats (chat, by, at) VALUES (?, ?, ?) ON CONFLICT DO NOTHING", chat, by, t.now)
		return err
	})
}

// UnlistChat takes that back.
func (s *Store) UnlistChat(ctx context.Context, chat string) error {
	if err := sessions.CheckKey("chat", chat); err != nil {
		return err
	}
	return s.write(ctx, func(t *tx) error {
		_, err := t.exec("DELETE FROM chats WHERE chat = ?", chat)
		return err
	})
}

// ChatListed reports whether a chat is allowed.
func (s *Store) ChatListed(ctx context.Context, chat string) (bool, error) {
	if err := sessions.CheckKey("chat", chat); err != nil {
		return false, err
	}
	return read(ctx, s, func(t *tx) (bool, error) {
		var at int64
		return t.one("SELECT at FROM chats WHERE chat = ?", []any{chat}, []any{&at})
	})
}

// MoveChat gives a chat a new key.
func (s *Store) MoveChat(ctx context.Context, from, to string) error {
	if err := sessions.CheckKey("chat", from); err != nil {
		return err
	}
	if err := sessions.CheckKey("chat", to); err != nil {
		return err
	}
	if from == to {
		return nil
	}
	return s.write(ctx, func(t *tx) error {
		if _, err := t.exec("INSERT INTO chats (chat, by, at) SELECT ?, by, at FROM chats WHERE chat = ? ON CONFLICT DO NOTHING", to, from); err != nil {
			return err
		}
		if _, err := t.exec("DELETE FROM chats WHERE chat = ?", from); err != nil {
			return err
		}
		return t.moveBinding(from, to)
	})
}

// moveBinding gives a surface's session to another surface that has none.
func (t *tx) moveBinding(from, to string) error {
	r, err := t.findBound(from)
	if err != nil || r == nil {
		return err
	}
	if there, err := t.findBound(to); err != nil || there != nil {
		return err
	}
	d, err := t.detail(r)
	if err != nil {
		return err
	}
	if i := slices.Index(d.Surfaces, from); i >= 0 {
		d.Surfaces[i] = to
	}
	if _, err := t.exec("UPDATE bindings SET surface = ? WHERE surface = ?", to, from); err != nil {
		return err
	}
	if err := t.saveDetail(r); err != nil {
		return err
	}
	return t.save(r)
}
