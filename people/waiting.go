package people

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"parley/internal/pause"
	"parley/routing"
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
	Waiting  []Request  `json:"waiting,omitempty"`
	Answered []answered `json:"answered,omitempty"`
}

// answered is what an owner said to a request. It is kept as long as the
// request would have waited: an answer that is given again, as when nobody saw
// what came of it, changes nothing more.
type answered struct {
	Code     string       `json:"code"`
	Identity string       `json:"identity"`
	Role     routing.Role `json:"role"`
	Until    time.Time    `json:"until"`
}

// change reads the requests and stores what do makes of them, if it says that it
// has changed them. ErrBusy: others changed them all the while.
func (r *Room) change(ctx context.Context, do func(kept *requests) (changed bool, err error)) error {
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
	now := r.now()
	kept.Waiting = current(kept.Waiting, now)
	kept.Answered = slices.DeleteFunc(kept.Answered, func(a answered) bool { return !now.Before(a.Until) })
	changed, err := do(&kept)
	if err != nil || !changed {
		return err
	}
	text, err := json.Marshal(kept)
	if err != nil {
		return err
	}
	return r.Store.SaveLock(ctx, lock, string(text), RequestFor)
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
	err := r.change(ctx, func(kept *requests) (bool, error) {
		waiting, found, err := add(kept.Waiting, request, r.now())
		changed := len(waiting) != len(kept.Waiting)
		kept.Waiting, mine = waiting, found
		return changed, err
	})
	return mine, err
}

// Waiting are the requests that nobody has answered, the oldest first.
func (r *Room) Waiting(ctx context.Context) ([]Request, error) {
	kept, err := r.requests(ctx)
	return kept.Waiting, err
}

func (r *Room) requests(ctx context.Context) (out requests, err error) {
	err = r.change(ctx, func(kept *requests) (bool, error) {
		out = *kept
		return false, nil
	})
	return out, err
}

// answer drops the requests of a user, and remembers what was said to them.
func (r *Room) answer(ctx context.Context, user sessions.User, role routing.Role) error {
	return r.change(ctx, func(kept *requests) (bool, error) {
		var waiting []Request
		for _, request := range kept.Waiting {
			if !user.Is(request.Identity) {
				waiting = append(waiting, request)
				continue
			}
			kept.Answered = append(kept.Answered, answered{request.Code, request.Identity, role, request.Until})
		}
		changed := len(waiting) != len(kept.Waiting)
		kept.Waiting, kept.Answered = waiting, kept.Answered[max(0, len(kept.Answered)-allMax):]
		return changed, nil
	})
}
