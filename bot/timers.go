package bot

import (
	"context"

	"parley/sessions"
)

// timerFor is how long a fired timer is this worker's. One that is neither
// finished nor set anew by then fires once more.
const timerFor = sessions.LeaseFor

// timerHandler does what a fired timer is for. It finishes the timer, sets it
// anew, or returns an error; whatever it does besides may be done again.
type timerHandler func(ctx context.Context, timer sessions.Timer) error

// timerHandlers are all purposes that timers have.
func (b *Bot) timerHandlers() map[string]timerHandler {
	return map[string]timerHandler{
		sessions.SchedulePurpose: b.scheduleFired,
		checkpointPurpose:        b.checkpointFired,
	}
}

// takeTimer fires a timer and does what it is for.
func (b *Bot) takeTimer(ctx context.Context, home, name string) error {
	timer, err := b.store.Fire(ctx, home, name, sessions.Claimer{Owner: b.replica, For: timerHold(name)})
	if err != nil {
		return err
	}
	handler, known := b.timers[timer.Purpose]
	if !known {
		b.log.Error("a timer of a purpose this version does not know; it is left for one that does", "home", home, "name", name, "purpose", timer.Purpose)
		return sessions.ErrBusy
	}
	doing, cancel := context.WithTimeout(b.intake, timerFor*3/4)
	defer cancel()
	return guarded(b.log, "a timer", func() error { return handler(doing, timer) })
}
