package archive

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"math/bits"
	"slices"
	"time"

	"parley/sessions"
)

// Checksum is of a set of items, whatever their order: the sum of the items'
// SHA-256, as numbers of 256 bits.
type Checksum [4]uint64

// Add takes an item in.
func (c *Checksum) Add(item sessions.Item) {
	hash := sha256.New()
	hash.Write([]byte(item.Kind)) // a hash never fails
	hash.Write([]byte{0})
	hash.Write(item.Body)
	sum := hash.Sum(nil)
	carry := uint64(0)
	for i := range c {
		c[i], carry = bits.Add64(c[i], binary.LittleEndian.Uint64(sum[8*i:]), carry)
	}
}

// String is the checksum in hexadecimal.
func (c Checksum) String() string {
	var text [32]byte
	for i, word := range c {
		binary.LittleEndian.PutUint64(text[8*i:], word)
	}
	return hex.EncodeToString(text[:])
}

// Tally is how much a store holds, by kind.
type Tally map[sessions.ItemKind]Count

// Count is how many items of a kind there are, and their checksum.
type Count struct {
	Items int64    `json:"items"`
	Sum   Checksum `json:"-"`
}

func (t Tally) add(item sessions.Item) {
	count := t[item.Kind]
	count.Items++
	count.Sum.Add(item)
	t[item.Kind] = count
}

// Items is how many there are of all kinds.
func (t Tally) Items() (all int64) {
	for _, count := range t {
		all += count.Items
	}
	return all
}

// Kinds are those that there are items of, in order.
func (t Tally) Kinds() []sessions.ItemKind { return slices.Sorted(maps.Keys(t)) }

// DifferenceError is two stores that do not hold the same.
type DifferenceError struct {
	Kind     sessions.ItemKind
	From, To Count
}

// Error says of which kind there is more, or what differs.
func (e *DifferenceError) Error() string {
	if e.From.Items != e.To.Items {
		return fmt.Sprintf("of kind %s there are %d in the one store and %d in the other", e.Kind, e.From.Items, e.To.Items)
	}
	return fmt.Sprintf("%d of kind %s are not the same in both stores: checksum %.16s and %.16s", e.From.Items, e.Kind, e.From.Sum, e.To.Sum)
}

// Same is nil, or a *DifferenceError of the first kind that differs.
func (t Tally) Same(other Tally) error {
	kinds := maps.Clone(t)
	maps.Copy(kinds, other)
	for _, kind := range kinds.Kinds() {
		if t[kind] != other[kind] {
			return &DifferenceError{Kind: kind, From: t[kind], To: other[kind]}
		}
	}
	return nil
}

// CopyOptions say how to go through an archive. The zero value goes through
// all of it.
type CopyOptions struct {
	Cursor string // where to begin; empty: with the first item
	Batch  int    // items of one step, 1 to ListMax; 0: 200
	// Leave passes over items. Nil: none.
	Leave func(sessions.Item) bool
	// Step is told after each step how many items were done since the
	// beginning, and the cursor to go on with, which is empty after the last:
	// what is before it is done for good. An error ends the work.
	Step func(done int64, cursor string) error
}

const copyBatch = 200

// Copy writes what one archive holds into another. It may be ended and begun
// again, from the last cursor or from the first item: what was written is
// written again, and changes nothing.
func Copy(ctx context.Context, from, to sessions.Archive, options CopyOptions) error {
	return walk(ctx, from, options, func(items []sessions.Item) error { return to.Restore(ctx, items) })
}

// Measure counts what an archive holds. Dedupe keys and locks that run out
// before lasting are left out: of two stores that are measured one after the other,
// one may have forgotten them.
func Measure(ctx context.Context, archive sessions.Archive, lasting time.Time, options CopyOptions) (Tally, error) {
	tally := Tally{}
	err := walk(ctx, archive, options, func(items []sessions.Item) error {
		for _, item := range items {
			if lasts(item, lasting) {
				tally.add(item)
			}
		}
		return nil
	})
	return tally, err
}

func lasts(item sessions.Item, lasting time.Time) bool {
	var end struct {
		Until   time.Time `json:"until"`   // a key's
		Expires time.Time `json:"expires"` // a lock's; zero: never
	}
	switch item.Kind {
	case ItemKey:
		return json.Unmarshal(item.Body, &end) == nil && end.Until.After(lasting)
	case ItemLock:
		return json.Unmarshal(item.Body, &end) == nil && (end.Expires.IsZero() || end.Expires.After(lasting))
	}
	return true
}

func walk(ctx context.Context, archive sessions.Archive, options CopyOptions, take func([]sessions.Item) error) error {
	if options.Batch == 0 {
		options.Batch = copyBatch
	}
	done := int64(0)
	for cursor := options.Cursor; ; {
		items, next, err := archive.Dump(ctx, cursor, options.Batch)
		if err != nil {
			return err
		}
		if next == cursor && next != "" {
			return fmt.Errorf("the store's cursor does not move behind %d items", done)
		}
		done += int64(len(items))
		if options.Leave != nil {
			items = slices.DeleteFunc(items, options.Leave)
		}
		if len(items) > 0 {
			if err := take(items); err != nil {
				return err
			}
		}
		if options.Step != nil {
			if err := options.Step(done, next); err != nil {
				return err
			}
		}
		if cursor = next; next == "" {
			return nil
		}
	}
}
