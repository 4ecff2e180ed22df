package endpoint

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"
)

// LimitError is the cause a watchdog ends a call with.
type LimitError struct {
	what  string
	after time.Duration
}

// Error says which limit fired, and its value.
func (e *LimitError) Error() string { return fmt.Sprintf("%s within %s", e.what, e.after) }

// Watchdog ends its context when nothing has been heard for too long.
type Watchdog struct {
	ctx    context.Context
	cancel context.CancelCauseFunc
	free   context.CancelFunc
	timer  *time.Timer
	begun  atomic.Bool // something has been heard
	limits Limits
}

// NewWatchdog starts waiting for the first event. The caller must call Stop.
func NewWatchdog(parent context.Context, limits Limits) *Watchdog {
	w := &Watchdog{limits: limits}
	total := &LimitError{"the answer was not complete", limits.Total}
	limited, free := context.WithTimeoutCause(parent, limits.Total, total)
	w.free = free
	w.ctx, w.cancel = context.WithCancelCause(limited)
	w.timer = time.AfterFunc(limits.First, w.fire)
	return w
}

func (w *Watchdog) fire() {
	if w.begun.Load() {
		w.cancel(&LimitError{"nothing more came", w.limits.Idle})
		return
	}
	w.cancel(&LimitError{"nothing came", w.limits.First})
}

// Heard starts waiting for the next event.
func (w *Watchdog) Heard() {
	if w.timer.Stop() {
		w.begun.Store(true)
		w.timer.Reset(w.limits.Idle)
	}
}

// Enough gives whatever is still going on only so long, and is no failure.
func (w *Watchdog) Enough(after time.Duration) (stop func() bool) {
	w.timer.Stop()
	return time.AfterFunc(after, func() { w.cancel(context.Canceled) }).Stop
}

// Fired is the limit that ended the call, or nil.
func (w *Watchdog) Fired() *LimitError {
	limit, _ := context.Cause(w.ctx).(*LimitError) //nolint:errorlint // the cause is ours and never wrapped
	return limit
}

// Stop ends the context and frees the timers.
func (w *Watchdog) Stop() {
	w.timer.Stop()
	w.cancel(context.Canceled)
	w.free()
}
