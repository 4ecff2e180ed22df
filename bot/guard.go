package bot

import (
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
)

// errPanic is wrapped by what guarded makes of a panic.
var errPanic = errors.New("a fault in the gateway's own code")

// guarded runs f and turns its panic into an error, logged with its place: what
// one message sets off must not take the process, and with it all others, down.
func guarded(log *slog.Logger, what string, f func() error) (err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = fmt.Errorf("%w: %s: %v", errPanic, what, cause)
			log.Error("a fault in the gateway's own code; please report it", "where", what, "cause", fmt.Sprint(cause), "stack", string(debug.Stack()))
		}
	}()
	return f()
}

// safely is guarded for what has no error and is missed by nobody.
func (b *Bot) safely(what string, f func()) {
	_ = guarded(b.log, what, func() error { f(); return nil }) // it is logged
}
