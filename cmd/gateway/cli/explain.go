package cli

import (
	"errors"
	"io/fs"
	"strings"

	"parley/sessions"
)

// Explain is an error as one line for the person at the terminal: what is
// wrong, and what to do.
func Explain(err error) string {
	text := strings.ReplaceAll(strings.TrimSpace(err.Error()), "\n", "; ") // of joined errors
	switch {
	case errors.Is(err, sessions.ErrLocked):
		return text + "; stop the other gateway, or give this one another store.url or data folder"
	case errors.Is(err, errAddressInUse):
		return text + "; stop what listens there, or set http.listen (GATEWAY_LISTEN) to another port"
	case errors.Is(err, fs.ErrPermission):
		return text + "; check who owns it and its permissions"
	}
	return text
}
