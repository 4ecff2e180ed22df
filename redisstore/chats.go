package redisstore

import (
	"context"

	"parley/sessions"
)

// ListChat allows a chat.
func (s *Store) ListChat(ctx context.Context, chat, by string) error {
	return s.chat(ctx, chat, "list", by)
}

// UnlistChat takes that back.
func (s *Store) UnlistChat(ctx context.Context, chat string) error {
	return s.chat(ctx, chat, "unlist", "")
}

// ChatListed reports whether a chat is allowed.
func (s *Store) ChatListed(ctx context.Context, chat string) (bool, error) {
	if err := sessions.CheckKey("chat", chat); err != nil {
		return false, err
	}
	p := s.ofSurface(chat)
	val, err := s.command(ctx, p, "exists", p.key("ch", chat))
	return val == int64(1), err
}

func (s *Store) chat(ctx context.Context, chat, op, by string) error {
	if err := sessions.CheckKey("chat", chat); err != nil {
		return err
	}
	if len(by) > sessions.KeyMax {
		return &sessions.InvalidError{What: "by", Why: "it is too long"}
	}
	_, err := s.run(ctx, s.ofSurface(chat), s.scripts.chat, chat, op, by)
	return err
}

// MoveChat gives a chat a new key. Each step may be repeated, and whoever
// repeats the call after a failure finishes it: the old chat loses what it had
// last of all.
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
	allowed, session, err := s.moveRead(ctx, from)
	if err != nil {
		return err
	}
	there := s.ofSurface(to)
	elsewhere := session != "" && s.of(session) != there
	val, err := s.run(ctx, there, s.scripts.moveTo, to, allowed, session, bit(elsewhere))
	if err != nil {
		return err
	}
	if val != session {
		session = "" // the new chat has its own: the old one keeps what it has
	}
	if session != "" {
		if _, err := s.run(ctx, s.of(session), s.scripts.moveSession, session, from, to); err != nil {
			return err
		}
	}
	_, err = s.run(ctx, s.ofSurface(from), s.scripts.moveFrom, from, session)
	return err
}

// moveRead reads who allowed the chat, behind a + (or - if it is not), and its
// current session.
func (s *Store) moveRead(ctx context.Context, chat string) (allowed, session string, err error) {
	val, err := s.run(ctx, s.ofSurface(chat), s.scripts.moveRead, chat)
	if err != nil {
		return "", "", err
	}
	r := read(val)
	allowed = "-"
	if by, ok := r.next().(string); ok {
		allowed = "+" + by
	}
	if id, ok := r.next().(string); ok {
		session = id
	}
	return allowed, session, r.err
}
