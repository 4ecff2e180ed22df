package redisstore

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"parley/internal/pause"
	"parley/sessions"
)

// Bounds of the work on users.
const (
	userHops = 10               // users that became part of each other, one after the other
	linkLock = "\x00link"       // the lock under which users are made one, one pair at a time
	linkFor  = 15 * time.Second // how long that may take
	linkWait = 20 * time.Millisecond
)

// Who is the person behind an identity: one read, and one more for each user
// that has become part of another.
func (s *Store) Who(ctx context.Context, identity string) (sessions.User, error) {
	if err := sessions.CheckIdentity(identity); err != nil {
		return sessions.User{}, err
	}
	user, err := s.userOf(ctx, identity, s.scripts.who)
	if err == nil && !user.Is(identity) { // it is on its way there
		user.Identities = append(user.Identities, identity)
	}
	return user, err
}

// atUser runs a script at the home of an identity's user: its first argument
// is the identity, and it answers moved where that belongs to another user.
func (s *Store) atUser(ctx context.Context, identity string, sc *script, values ...any) (*reply, error) {
	for range userHops {
		code, r, err := s.answer(ctx, s.of(identity), sc, append([]any{identity}, values...)...)
		switch {
		case err != nil:
			return nil, err
		case code == "ok":
			return r, nil
		case code != "moved":
			return nil, r.refusal(code, "change a user")
		}
		if identity = r.text(); r.err != nil {
			return nil, r.err
		}
	}
	return nil, fmt.Errorf("the user of %s: %w", identity, errReply)
}

func (s *Store) userOf(ctx context.Context, identity string, sc *script, values ...any) (sessions.User, error) {
	r, err := s.atUser(ctx, identity, sc, values...)
	if err != nil {
		return sessions.User{}, err
	}
	return r.user(), r.err
}

// user reads an id, the further identities and a role.
func (r *reply) user() sessions.User {
	u := sessions.User{ID: r.text()}
	u.Identities = []string{u.ID}
	if more := r.text(); more != "" {
		u.Identities = append(u.Identities, strings.Split(more, "\n")...)
	}
	u.Role = r.text()
	return u
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
	return s.userOf(ctx, identity, s.scripts.userRole, role)
}

// OfferLink makes a code, which carries the number of the user's partition.
func (s *Store) OfferLink(ctx context.Context, identity string) (string, error) {
	user, err := s.Who(ctx, identity)
	if err != nil {
		return "", err
	}
	for range userHops {
		p := s.of(user.ID)
		code := strconv.Itoa(p.index) + "-" + strings.ToLower(rand.Text()[:10])
		answer, r, err := s.answer(ctx, p, s.scripts.userOffer, user.ID, code, sessions.LinkFor.Milliseconds())
		if err != nil || answer == "ok" {
			return code, err
		}
		user.ID = r.text()
	}
	return "", errReply
}

// TakeLink makes the user of an identity part of the user who was offered the
// code. The code is kept for them, they yield, and then the other adopts their
// identities and all partitions rewrite their sessions: these steps are taken
// at once here, and finished by Due where that fails. One link at a time is
// made, so that no two users become part of each other.
func (s *Store) TakeLink(ctx context.Context, code, identity string) (sessions.User, string, error) {
	if err := errors.Join(sessions.CheckCode(code), sessions.CheckIdentity(identity)); err != nil {
		return sessions.User{}, "", err
	}
	p, ok := s.ofID(code)
	if !ok {
		return sessions.User{}, "", sessions.ErrNotFound
	}
	unlock, err := s.linking(ctx)
	if err != nil {
		return sessions.User{}, "", err
	}
	defer unlock()
	joining, err := s.Who(ctx, identity)
	if err != nil {
		return sessions.User{}, "", err
	}
	answer, r, err := s.answer(ctx, p, s.scripts.userReserve, code, joining.ID, 1)
	if err != nil {
		return sessions.User{}, "", err
	}
	if answer != "ok" {
		return sessions.User{}, "", r.refusal(answer, "link")
	}
	user := r.text()
	if err := s.yield(ctx, p, code, joining.ID, user); err != nil {
		return sessions.User{}, "", err
	}
	made, err := s.Who(ctx, user)
	if !slices.Contains(made.Identities, joining.ID) { // that step waits
		made.Identities = append(made.Identities, joining.Identities...)
	}
	return made, joining.ID, err
}

func (s *Store) yield(ctx context.Context, p partition, code, joining, user string) error {
	from := s.of(joining)
	answer, r, err := s.answer(ctx, from, s.scripts.userYield, joining, user, newToken(), len(s.parts))
	if err != nil {
		return err
	}
	if answer != "ok" {
		_, _, err := s.answer(ctx, p, s.scripts.userReserve, code, joining, 0)
		return errors.Join(fmt.Errorf("somebody joins %s just now: %w", joining, sessions.ErrUnavailable), err)
	}
	s.forwardAll(ctx, from, r.list(), nil)
	var steps []func() error
	for _, p := range s.parts {
		steps = append(steps, func() error { return s.work(ctx, p, "merge/"+joining) })
	}
	if err := together(steps); err != nil {
		s.config.Logger.WarnContext(ctx, "some sessions still name a user who has become part of another", "error", err)
	}
	return r.err
}

// linking waits for the right to make users one. It lapses by itself.
func (s *Store) linking(ctx context.Context) (unlock func(), err error) {
	lock := sessions.Lock{Name: linkLock, Owner: newToken()}
	ctx, cancel := context.WithTimeout(ctx, linkFor)
	defer cancel()
	for {
		lock, err = s.Lock(ctx, linkLock, sessions.Claimer{Owner: lock.Owner, For: linkFor})
		if err == nil {
			break
		}
		if !errors.Is(err, sessions.ErrBusy) || !pause.For(ctx, linkWait) {
			return nil, fmt.Errorf("link: %w: %w", sessions.ErrUnavailable, err)
		}
		lock.Owner = newToken()
	}
	return func() {
		ctx := context.WithoutCancel(ctx)
		if err := s.Unlock(ctx, lock); err != nil {
			s.config.Logger.DebugContext(ctx, "the lock of linking lapses by itself", "error", err)
		}
	}, nil
}

// ListUsers lists users by id.
func (s *Store) ListUsers(ctx context.Context, after string, limit int) ([]sessions.User, error) {
	if err := sessions.CheckList(limit); err != nil {
		return nil, err
	}
	if after != "" {
		if err := sessions.CheckKey("user id", after); err != nil {
			return nil, err
		}
	}
	count := share(limit, len(s.parts))
	sources := make([]*source[sessions.User], len(s.parts))
	for i, p := range s.parts {
		after := after
		sources[i] = &source[sessions.User]{more: true, read: func() ([]sessions.User, bool, error) {
			val, err := s.run(ctx, p, s.scripts.userList, after, count)
			if err != nil {
				return nil, false, err
			}
			r := read(val)
			var list []sessions.User
			for r.more() {
				list = append(list, r.user())
			}
			if len(list) > 0 {
				after = list[len(list)-1].ID
			}
			return list, len(list) == count, r.err
		}}
	}
	return merged(sources, limit, func(a, b sessions.User) bool { return a.ID < b.ID })
}
