package slack

import (
	"context"
	"sync"
	"time"
)

// Bounds of what is remembered of people and channels.
const (
	directoryMax = 4096             // entries of each kind
	nameAge      = time.Hour        // how long a name holds
	failureAge   = time.Minute      // how long a failed look-up is not repeated
	mentionsMax  = 20               // people looked up for one message; further ones keep their id
	channelAge   = 10 * time.Minute // how long a channel's name holds
)

// channel is what conversations.info tells.
type channel struct {
	Name   string
	Direct bool   // of two people
	With   string // Direct: the other person's id
}

// ours reports whether it is a direct chat that the bot is part of: another
// is not told about at all.
func (c channel) ours(me self) bool { return c.Direct && c.With != "" && c.With != me.User }

// directory remembers names, bounded and for a while. Names are for people to
// read; nothing is allowed because of one.
type directory struct {
	users    memory[string]
	channels memory[channel]
}

func newDirectory(user func(context.Context, string) (string, error), chat func(context.Context, string) (channel, error), now func() time.Time) *directory {
	return &directory{
		users:    memory[string]{fetch: user, now: now, age: nameAge, entries: map[string]remembered[string]{}},
		channels: memory[channel]{fetch: chat, now: now, age: channelAge, entries: map[string]remembered[channel]{}},
	}
}

type remembered[T any] struct {
	value T
	until time.Time
}

// memory is one kind of look-up.
type memory[T any] struct {
	fetch func(ctx context.Context, id string) (T, error)
	now   func() time.Time
	age   time.Duration

	mu      sync.Mutex
	entries map[string]remembered[T]
}

// get looks id up; the zero value where it cannot be had in ctx's time.
func (m *memory[T]) get(ctx context.Context, id string) T {
	m.mu.Lock()
	entry, found := m.entries[id]
	m.mu.Unlock()
	if found && m.now().Before(entry.until) {
		return entry.value
	}
	value, err := m.fetch(ctx, id)
	age := m.age
	if err != nil {
		value, age = entry.value, failureAge // an old name is better than none
	}
	m.put(id, remembered[T]{value: value, until: m.now().Add(age)})
	return value
}

// put stores an entry. When there are too many, all are forgotten: simpler
// than an order of use, and they come back one look-up each.
func (m *memory[T]) put(id string, entry remembered[T]) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.entries) >= directoryMax {
		clear(m.entries)
	}
	m.entries[id] = entry
}
