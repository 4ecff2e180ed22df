package adapters

import "context"

// Locker gives rights that one replica has at a time, such as reading the
// updates of one bot token. An adapter that gets none (a nil Locker) is the only
// replica.
type Locker interface {
	// Lock waits until the right is this replica's, or ctx ends; then it
	// returns ctx's error. A store that is away is waited for. busy is called,
	// once, when another replica turns out to hold the right: only then is it
	// healthy to hear nothing.
	Lock(ctx context.Context, name string, busy func()) (Lock, error)
}

// Lock is a right that is held. It is renewed by whoever gave it.
type Lock interface {
	// Context ends when the right is lost or given back: from then on nothing
	// that needs it may begin.
	Context() context.Context
	// Data is the text that was last saved under the lock's name, by whichever
	// holder; empty at first.
	Data() string
	// Save stores the text. An error means that it may not have been stored,
	// or that the right is lost.
	Save(ctx context.Context, data string) error
	// Unlock gives the right back, so that another replica has it at once.
	// Idempotent.
	Unlock()
}
