package sqlitestore

import (
	"context"
	"database/sql"

	"parley/sessions"
)

// Who is the person behind an identity.
func (s *Store) Who(ctx context.Context, identity string) (sessions.User, error) {
	if err := sessions.CheckIdentity(identity); err != nil {
		return sessions.User{}, err
	}
	return read(ctx, s, func(t *tx) (sessions.User, error) { return t.who(identity) })
}

func (t *tx) who(identity string) (sessions.User, error) {
	id, err := t.userOf(identity)
	if err != nil {
		return sessions.User{}, err
	}
	return t.user(id)
}

// userOf is the id of the user whom an identity belongs to: itself, where
// nothing else is known. It takes any user id.
func (t *tx) userOf(identity string) (string, error) {
	id := identity
	_, err := t.one("SELECT user_id FROM identities WHERE identity = ?", []any{identity}, []any{&id})
	return id, err
}

// user reads a user by id.
func (t *tx) user(id string) (sessions.User, error) {
	user := sessions.User{ID: id}
	if _, err := t.one("SELECT role FROM users WHERE id = ?", []any{id}, []any{&user.Role}); err != nil {
		return user, err
	}
	err := t.each(func(rows *sql.Rows) error {
		var identity string
		err := rows.Scan(&identity)
		user.Identities = append(user.Identities, identity)
		return err
	}, "SELECT identity FROM identities WHERE user_id = ? ORDER BY place", id)
	if user.Identities == nil {
		user.Identities = []string{id}
	}
	return user, err
}

// SetRole gives a user a role.
func (s *Store) SetRole(ctx context.Context, identity, role string) (sessions.User, error) {
	if err := sessions.CheckIdentity(identity); err != nil {
		return sessions.User{}, err
	}
	if role != "" {
		if err := sessions.CheckKey("role", role); err != nil {
			return sessions.User{}, err
		}
	}
	return written(ctx, s, func(t *tx) (sessions.User, error) {
		user, err := t.who(identity)
		if err != nil {
			return user, err
		}
		user.Role = role
		t.wakeWho(user)
		return user, t.keepUser(user)
	})
}

// keepUser stores a user, or forgets one of whom there is nothing to know.
func (t *tx) keepUser(user sessions.User) error {
	if _, err := t.exec("DELETE FROM identities WHERE user_id = ?", user.ID); err != nil {
		return err
	}
	if user.Role == "" && len(user.Identities) == 1 {
		_, err := t.exec("DELETE FROM users WHERE id = ?", user.ID)
		return err
	}
	for i, identity := range user.Identities {
		if _, err := t.exec("INSERT INTO identities (identity, user_id, place) VALUES (?, ?, ?)", identity, user.ID, i); err != nil {
			return err
		}
	}
	_, err := t.exec("INSERT INTO users (id, role) VALUES (?, ?) ON CONFLICT DO UPDATE SET role = excluded.role", user.ID, user.Role)
	return err
}

// wakeWho hints that all of a user's identities are somebody else now.
func (t *tx) wakeWho(user sessions.User) {
	for _, identity := range user.Identities {
		t.wakes = append(t.wakes, sessions.WorkItem{Kind: sessions.WorkWho, ID: identity, Due: t.time()})
	}
}

// ListUsers lists who has several identities or a role.
func (s *Store) ListUsers(ctx context.Context, after string, limit int) ([]sessions.User, error) {
	if after != "" {
		if err := sessions.CheckKey("user id", after); err != nil {
			return nil, err
		}
	}
	if err := sessions.CheckList(limit); err != nil {
		return nil, err
	}
	return read(ctx, s, func(t *tx) ([]sessions.User, error) { return t.usersBehind(after, limit) })
}

func (t *tx) usersBehind(after string, limit int) (users []sessions.User, err error) {
	var ids []string
	err = t.each(func(rows *sql.Rows) error {
		var id string
		err := rows.Scan(&id)
		ids = append(ids, id)
		return err
	}, "SELECT id FROM users WHERE id > ? ORDER BY id LIMIT ?", after, limit)
	for _, id := range ids {
		if err != nil {
			return nil, err
		}
		var user sessions.User
		user, err = t.user(id)
		users = append(users, user)
	}
	return users, err
}
