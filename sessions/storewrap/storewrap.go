package storewrap

import (
	"strings"
	"unicode"

	"parley/sessions"
)

// Op is an operation of a store: each method of sessions.Store but Close.
type Op int

// Method is the name of the method, as Go writes it.
func (o Op) Method() string { return methods[o] }

// Word is the name as labels of metrics write it: dead_letters.
func (o Op) Word() string {
	var word strings.Builder
	for i, letter := range o.Method() {
		if unicode.IsUpper(letter) && i > 0 {
			word.WriteByte('_')
		}
		word.WriteRune(unicode.ToLower(letter))
	}
	return word.String()
}

// Hooks are what is done around each operation. S is what Before hands to the
// After of the same call. Both may be called from any goroutine, and both are
// required.
type Hooks[S any] struct {
	// Before comes first. With an error the store is not called, After
	// neither, and the caller gets that error.
	Before func(Op) (S, error)
	// After is told how the store answered. With an error of its own the
	// caller gets that and nothing else, although the call took effect.
	After func(op Op, state S, err error) error
}

// New is the store with the hooks around every operation. Close is the store's.
func New[S any](store sessions.Store, hooks Hooks[S]) sessions.Store {
	return &wrapped[S]{store, hooks}
}

type wrapped[S any] struct {
	store sessions.Store
	hooks Hooks[S]
}

// Close closes the store, without a hook.
func (w *wrapped[S]) Close() error { return w.store.Close() }
