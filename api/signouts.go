package api

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"parley/sessions"
)

// Limits of the list of sign-ins that were ended.
const (
	signOutsLock  = "web:sign-outs"
	signOutsMax   = 500              // more end every sign-in there is
	signOutsFresh = 15 * time.Second // how old another replica's list may be here
	signOutsHold  = 2 * time.Second
	signOutsTries = 20
	signOutsPause = 25 * time.Millisecond
)

// signOuts are the sign-ins that were ended before their time. They are kept as
// the text of a lock of the store, for all replicas and over restarts; another
// replica hears of one within signOutsFresh.
type signOuts struct {
	store sessions.Locks
	owner string
	now   func() time.Time

	mu    sync.Mutex
	known signOutList
	read  time.Time // zero: never
}

// signOutList is what is kept. Times are Unix seconds.
type signOutList struct {
	Before int64            `json:"before,omitempty"` // every sign-in renewed last before then has ended
	Out    map[string]int64 `json:"out,omitempty"`    // id → when no cookie of it can be good any more
}

func newSignOuts(config Config) *signOuts {
	return &signOuts{store: config.Store, owner: "sign-outs-" + rand.Text(), now: config.Now}
}

// has reports whether a sign-in was ended whose cookie was made at a time. An
// error means that nobody knows: the caller lets nobody in.
func (s *signOuts) has(ctx context.Context, id string, made time.Time) (bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.read.IsZero() || s.now().Sub(s.read) >= signOutsFresh {
		if err := s.change(ctx, nil); err != nil && s.read.IsZero() {
			return false, err
		}
	}
	_, out := s.known.Out[signOutName(id)]
	return out || made.Unix() < s.known.Before, nil
}

// add ends a sign-in. It returns when that is durable.
func (s *signOuts) add(ctx context.Context, id string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.change(ctx, func(list *signOutList) { list.add(id, s.now()) })
}

// change reads the list and, with edit, writes it anew.
func (s *signOuts) change(ctx context.Context, edit func(*signOutList)) error {
	ctx, cancel := context.WithTimeout(ctx, storeTimeout)
	defer cancel()
	lock, err := s.lock(ctx)
	if err != nil {
		return fmt.Errorf("the list of ended sign-ins: %w", err)
	}
	list := signOutList{}
	if lock.Data != "" {
		err = json.Unmarshal([]byte(lock.Data), &list)
	}
	if err == nil && edit != nil {
		edit(&list)
		var text []byte
		if text, err = json.Marshal(list); err == nil {
			err = s.store.SaveLock(ctx, lock, string(text), 0)
		}
	}
	if err == nil {
		s.known, s.read = list, s.now()
	}
	return errors.Join(err, s.store.Unlock(ctx, lock))
}

// lock waits for its turn: another replica has the list for as long as it takes
// to read it.
func (s *signOuts) lock(ctx context.Context) (lock sessions.Lock, err error) {
	for range signOutsTries {
		lock, err = s.store.Lock(ctx, signOutsLock, sessions.Claimer{Owner: s.owner, For: signOutsHold})
		if !errors.Is(err, sessions.ErrBusy) {
			return lock, err
		}
		select {
		case <-time.After(signOutsPause):
		case <-ctx.Done():
			return lock, ctx.Err()
		}
	}
	return lock, err
}

func (l *signOutList) add(id string, now time.Time) {
	for name, until := range l.Out {
		if until <= now.Unix() {
			delete(l.Out, name)
		}
	}
	if len(l.Out) >= signOutsMax {
		*l = signOutList{Before: now.Unix() + 1}
		return
	}
	if l.Out == nil {
		l.Out = map[string]int64{}
	}
	l.Out[signOutName(id)] = now.Add(SignedInFor).Unix()
}

func signOutName(id string) string { return base64.RawURLEncoding.EncodeToString([]byte(id)) }
