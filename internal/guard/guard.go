package guard

import (
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
)

// ErrPanic is wrapped by what Run makes of a panic.
var ErrPanic = errors.New("a fault in the gateway's own code")

// Run runs f and turns its panic into an error, logged with its place. what
// names the work in the log.
func Run(log *slog.Logger, what string, f func() error) (err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = fmt.Errorf("%w: %s: %v", ErrPanic, what, cause)
			log.Error("a fault in the gateway's own code; please report it", "where", what, "cause", fmt.Sprint(cause), "stack", string(debug.Stack()))
		}
	}()
	return f()
}

// Safely is Run for work whose failure nobody waits for.
func Safely(log *slog.Logger, what string, f func()) {
	_ = Run(log, what, func() error { f(); return nil }) // it is logged
}
