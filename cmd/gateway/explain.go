package main

import (
	"errors"
	"fmt"
	"strings"
	"syscall"

	"parley/sessions"
)

// explain is an error as one line for the person at the terminal: what is
// wrong, and what to do.
func explain(err error) string {
	text := strings.ReplaceAll(strings.TrimSpace(err.Error()), "\n", "; ") // of joined errors
	switch {
	case strings.HasPrefix(text, "unknown command"): // cobra has no type for it
		return text + "; `gateway --help` lists what there is"
	case errors.Is(err, sessions.ErrLocked):
		return text + "; stop the other gateway, or give this one another store.url or data folder"
	case errors.Is(err, syscall.EADDRINUSE):
		return text + "; stop what listens there, or set http.listen (GATEWAY_LISTEN) to another port"
	case errors.Is(err, syscall.EACCES), errors.Is(err, syscall.EPERM):
		return text + "; check who owns it and its permissions"
	}
	return text
}

// storeError says which store does not open. An unreachable one comes with a
// remedy of its own.
func storeError(address fmt.Stringer, err error) error {
	if errors.Is(err, sessions.ErrUnavailable) {
		return fmt.Errorf("the store %s cannot be reached: %w; check that it runs and store.url (REDIS_URL)", address, err)
	}
	return fmt.Errorf("cannot open the store %s: %w", address, err)
}
