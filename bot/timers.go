package bot

import (
	"context"
	"strings"
	"time"

	"parley/bot/checkpoints"
	"parley/internal/guard"
	"parley/sessions"
)

// timerFor is how long a fired timer is this process's, unless its handler says
// otherwise. One that is neither finished nor set anew by then fires once more.
const timerFor = sessions.LeaseFor

// timerHandler is what timers of one purpose do.
type timerHandler struct {
	// handle finishes the timer, sets it anew, or returns an error. Whatever it
	// does besides may be done again.
	handle func(ctx context.Context, timer sessions.Timer) error
	// hold is how long a fired timer is this process's.
	hold time.Duration
}

// timerHandlers are all purposes that timers have. A timer's name begins with
// its purpose and a colon.
func (b *Bot) timerHandlers() map[string]timerHandler {
	return map[string]timerHandler{
		sessions.SchedulePurpose: {handle: b.schedules.Fired, hold: timerFor},
		checkpoints.Purpose:      {handle: b.checkpoints.Fired, hold: checkpoints.Hold},
	}
}

// holdOf is how long a timer of this name is held: what its purpose, the part
// of the name before the colon, asks for.
func (b *Bot) holdOf(name string) time.Duration {
	purpose, _, _ := strings.Cut(name, ":")
	if handler, known := b.timers[purpose]; known {
		return handler.hold
	}
	return timerFor
}

// take claims an item that is due and sets it going.
func (b *Bot) take(ctx context.Context, item sessions.WorkItem) error {
	switch item.Kind {
	case sessions.WorkTurn:
		return b.turns.Take(ctx, item.ID)
	case sessions.WorkLane:
		return b.outbox.Take(ctx, item.ID)
	case sessions.WorkTimer:
		return b.takeTimer(ctx, item.Home, item.ID)
	case sessions.WorkStop:
		b.turns.Check(ctx, item.ID)
		return nil
	default:
		b.log.Error("work of a kind this version does not know; it is left for one that does", "kind", item.Kind, "id", item.ID)
		return sessions.ErrBusy
	}
}

// takeTimer fires a timer and does what it is for.
func (b *Bot) takeTimer(ctx context.Context, home, name string) error {
	timer, err := b.store.Fire(ctx, home, name, sessions.Claimer{Owner: b.config.Replica, For: b.holdOf(name)})
	if err != nil {
		return err
	}
	handler, known := b.timers[timer.Purpose]
	if !known {
		b.log.Error("a timer of a purpose this version does not know; it is left for one that does", "home", home, "name", name, "purpose", timer.Purpose)
		return sessions.ErrBusy
	}
	doing, cancel := context.WithTimeout(b.life.Intake, timerFor*3/4)
	defer cancel()
	return guard.Run(b.log, "a timer", func() error { return handler.handle(doing, timer) })
}
