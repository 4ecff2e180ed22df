package marks

import (
	"context"
	"errors"
	"time"

	"golang.org/x/sync/errgroup"

	"parley/sessions"
)

// markWorkers is how many marks are asked for at a time.
const markWorkers = 16

// exclusive is a shared store that no gateway uses while it is held.
type exclusive struct {
	locks sessions.Locks
	owner string
	held  [Max]sessions.Lock
}

// HoldAlone takes all marks of a store, runs use, and gives them back. errMarked: a
// gateway runs. The context of use ends when a mark is lost.
func HoldAlone(ctx context.Context, locks sessions.Locks, owner string, use func(context.Context) error) error {
	e := &exclusive{locks: locks, owner: owner}
	defer e.drop(ctx)
	if err := e.each(ctx, e.take); err != nil {
		if errors.Is(err, sessions.ErrBusy) {
			return ErrMarked
		}
		return err
	}
	ctx, lose := context.WithCancelCause(ctx)
	defer lose(nil)
	done := make(chan struct{})
	var renewing errgroup.Group
	renewing.Go(func() error {
		if err := e.renew(ctx, done); err != nil {
			lose(err)
		}
		return nil
	})
	err := use(ctx)
	close(done)
	_ = renewing.Wait() // it gives no error
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	return err
}

// each does something with every mark. One that fails does not end the others:
// what the store may have done has to be known.
func (e *exclusive) each(ctx context.Context, do func(context.Context, int) error) error {
	var workers errgroup.Group
	workers.SetLimit(markWorkers)
	for i := range Max {
		workers.Go(func() error { return do(ctx, i) })
	}
	return workers.Wait()
}

func (e *exclusive) take(ctx context.Context, i int) error {
	held, err := e.locks.Lock(ctx, markName(i), sessions.Claimer{Owner: e.owner, For: sessions.LeaseFor})
	if err == nil {
		e.held[i] = held
	}
	return err
}

// renew keeps the marks until done, and fails when they were lost or may have
// been.
func (e *exclusive) renew(ctx context.Context, done <-chan struct{}) error {
	ticker := time.NewTicker(sessions.RenewEvery)
	defer ticker.Stop()
	for renewed := time.Now(); ; {
		select {
		case <-done:
			return nil
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
		asked := time.Now()
		err := e.each(ctx, e.again)
		switch {
		case err == nil:
			renewed = asked
		case ctx.Err() != nil:
			return nil
		case errors.Is(err, sessions.ErrBusy), time.Since(renewed) >= sessions.LeaseFor-sessions.RenewEvery:
			return errors.New("the store could not be held any longer, and a gateway may run on it now; start the migration again")
		}
	}
}

func (e *exclusive) again(ctx context.Context, i int) error {
	before := e.held[i].Fence
	if err := e.take(ctx, i); err != nil {
		return err
	}
	if e.held[i].Fence != before {
		return sessions.ErrBusy // it was another's in between
	}
	return nil
}

// drop gives back what was taken; the rest runs out by itself.
func (e *exclusive) drop(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), sessions.RenewEvery)
	defer cancel()
	_ = e.each(ctx, func(ctx context.Context, i int) error {
		if e.held[i].Name != "" {
			_ = e.locks.Unlock(ctx, e.held[i])
		}
		return nil
	})
}
