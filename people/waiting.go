package people

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"parley/internal/pause"
	"parley/sessions"
)

// The requests are the text of one lock: whoever changes them holds it
// meanwhile, so that each change is a whole one on any number of replicas.
const (
	requestsLock = "people:requests"
	lockTries    = 20
	lockPause    = 50 * time.Millisecond
)

// requests is the lock's text.
type requests struct {
	Waiting []Request `json:"waiting,omitempty"`
}

// change reads the requests that wait and stores what do leaves of them; where
// it leaves them as they are nothing is written. ErrBusy: others changed them
// all the while.
func (r *Room) change(ctx context.Context, do func(waiting []Request) ([]Request, error)) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), sessions.LeaseFor)
	defer cancel()
	lock, err := r.lock(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = r.Store.Unlock(context.WithoutCancel(ctx), lock) }() // else it runs out
	var kept requests
	if lock.Data != "" {
		if err := json.Unmarshal([]byte(lock.Data), &kept); err != nil {
			kept = requests{} // of another version: nobody waits for long
		}
	}
	waiting := current(kept.Waiting, r.now())
	after, err := do(waiting)
	if err != nil || len(after) == len(waiting) {
		return err
	}
	text, err := json.Marshal(requests{after})
	if err != nil {
		return err
	}
	return r.Store.SaveLock(ctx, lock, string(text))
}

func (r *Room) lock(ctx context.Context) (sessions.Lock, error) {
	claimer := sessions.Claimer{Owner: sessions.DrawID("people-", nil), For: sessions.LeaseFor}
	for attempt := 1; ; attempt++ {
		lock, err := r.Store.Lock(ctx, requestsLock, claimer)
		if !errors.Is(err, sessions.ErrBusy) || attempt == lockTries {
			return lock, err
		}
		pause.For(ctx, lockPause)
	}
}

// Knock keeps a stranger's wish to be let in, or finds the one they have made.
// Code, At and Until are filled in. ErrFull.
func (r *Room) Knock(ctx context.Context, request Request) (Request, error) {
	if err := sessions.CheckIdentity(request.Identity); err != nil {
		return Request{}, err
	}
	var mine Request
	err := r.change(ctx, func(waiting []Request) (kept []Request, err error) {
		kept, mine, err = add(waiting, request, r.now())
		return kept, err
	})
	return mine, err
}

// Waiting are the requests that nobody has answered, the oldest first.
func (r *Room) Waiting(ctx context.Context) ([]Request, error) {
	var out []Request
	err := r.change(ctx, func(waiting []Request) ([]Request, error) {
		out = waiting
		return waiting, nil
	})
	return out, err
}

// answered drops the requests of a user.
func (r *Room) answered(ctx context.Context, user sessions.User) error {
	return r.change(ctx, func(waiting []Request) ([]Request, error) {
		var kept []Request
		for _, request := range waiting {
			if !user.Is(request.Identity) {
				kept = append(kept, request)
			}
		}
		return kept, nil
	})
}
