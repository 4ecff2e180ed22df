package life

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"parley/internal/guard"
	"parley/sessions"
)

// ErrDraining is the cause with which a Life's contexts end.
var ErrDraining = errors.New("the gateway is stopping")

// storeTimeout bounds one call of the store.
const storeTimeout = sessions.LeaseFor / 4

// Life is the life of one gateway. Its three contexts end one after the other:
// Intake takes events and work up, Thinking runs turns, Sending delivers.
type Life struct {
	Intake, Thinking, Sending          context.Context
	endIntake, endThinking, endSending context.CancelCauseFunc

	log *slog.Logger
	// tasks are the goroutines of Spawn and the calls of Enter. Once closed is
	// set, Enter adds none. Spawn is only called from within one of them or
	// from the intake, which ends first.
	tasks  sync.WaitGroup
	gate   sync.Mutex
	closed bool
}

// New begins a life.
func New(log *slog.Logger) *Life {
	l := &Life{log: log}
	background := context.Background()
	l.Intake, l.endIntake = context.WithCancelCause(background)
	l.Thinking, l.endThinking = context.WithCancelCause(background)
	l.Sending, l.endSending = context.WithCancelCause(background)
	return l
}

// Stopping reports whether nothing new is taken in.
func (l *Life) Stopping() bool { return l.Intake.Err() != nil }

// Spawn runs f in a goroutine that Drain waits for.
func (l *Life) Spawn(f func()) {
	l.tasks.Go(func() { guard.Safely(l.log, "a task", f) })
}

// Enter begins a call from outside that may spawn. It returns false when the
// gateway stops. Leave ends the call.
func (l *Life) Enter() bool {
	l.gate.Lock()
	defer l.gate.Unlock()
	if l.closed {
		return false
	}
	l.tasks.Add(1)
	return true
}

// Leave ends what Enter began.
func (l *Life) Leave() { l.tasks.Done() }

// EndIntake lets nothing new begin.
func (l *Life) EndIntake() { l.endIntake(ErrDraining) }

// Drain waits for all goroutines and calls. After grace it calls late once and
// ends Thinking, and then waits as long as a send and its receipt may take.
func (l *Life) Drain(grace time.Duration, late func()) {
	l.gate.Lock()
	l.closed = true
	l.gate.Unlock()
	done := make(chan struct{})
	go func() { l.tasks.Wait(); close(done) }()
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case <-done:
	case <-timer.C:
		late()
		l.endThinking(ErrDraining)
		<-done
	}
	l.endThinking(ErrDraining)
}

// EndSending ends the last of the three.
func (l *Life) EndSending() { l.endSending(ErrDraining) }

// Call is for a call of the store that is made to its end also while the
// gateway stops.
func (l *Life) Call() (context.Context, context.CancelFunc) { return Detached(l.Sending) }

// Detached is for a call of the store by which this process may come to hold
// something. It is not broken off when whoever asked has gone: then nobody
// would know what was taken until it runs out.
func Detached(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), storeTimeout)
}

// Bounded is for a call of the store that ends with ctx.
func Bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, storeTimeout)
}
