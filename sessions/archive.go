package sessions

import (
	"context"
	"encoding/json"
)

// Archive is everything a store holds, for moving to another one. Nothing
// else may use either store meanwhile.
type Archive interface {
	// Dump reads items behind cursor (empty: from the first), at most limit (1
	// to ListMax), in an order that does not change. next is the cursor
	// behind them; empty: nothing is left. What has run out (dedupe keys,
	// codes to link) is left out, and so is what is only known for a moment:
	// leases, lanes and locks are free in the archive.
	Dump(ctx context.Context, cursor string, limit int) (items []Item, next string, err error)
	// Restore writes items, all or none of each. Writing the same item again
	// changes nothing. They come in the order of Dump: a session before its
	// entries, its entries by seq, and all before what refers to it.
	Restore(ctx context.Context, items []Item) error
}

// ItemKind says what an [Item] is. The kinds, and their bodies, stand in
// sessions/archive.
type ItemKind string

// Item is one thing a store holds. Body is the JSON of the type of its kind;
// two stores that hold the same give the same items, byte for byte.
type Item struct {
	Kind ItemKind        `json:"kind"`
	Body json.RawMessage `json:"body"`
}
