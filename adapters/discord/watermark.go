package discord

import (
	"context"
	"slices"
	"sync"
)

// watermark follows the sequence numbers of one session: what was received,
// and up to where everything was taken. Only the latter may be stored. It
// belongs to one session and is dropped with it.
type watermark struct {
	mu       sync.Mutex
	received int64
	durable  int64  // everything up to it is taken
	pending  []mark // received after durable, in order
	changed  chan struct{}
	advanced func() // called, if set, after durable has moved
}

type mark struct {
	seq   int64
	taken bool
}

func newWatermark(seq int64, advanced func()) *watermark {
	return &watermark{received: seq, durable: seq, advanced: advanced}
}

// receive notes that seq has arrived. A number that is not new is no news:
// it reports false.
func (w *watermark) receive(seq int64) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if seq <= w.received {
		return false
	}
	w.received = seq
	w.pending = append(w.pending, mark{seq: seq})
	return true
}

// taken notes that what came with seq is durable or was dropped for good.
func (w *watermark) taken(seq int64) {
	if w.advance(seq) && w.advanced != nil {
		w.advanced()
	}
}

func (w *watermark) advance(seq int64) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	i, found := slices.BinarySearchFunc(w.pending, seq, func(m mark, seq int64) int { return int(m.seq - seq) })
	if !found {
		return false
	}
	w.pending[i].taken = true
	done := 0
	for done < len(w.pending) && w.pending[done].taken {
		w.durable = w.pending[done].seq
		done++
	}
	w.pending = slices.Delete(w.pending, 0, done)
	if w.changed != nil {
		close(w.changed)
		w.changed = nil
	}
	return done > 0
}

// position is the last number received, and the last up to which all is taken.
func (w *watermark) position() (received, durable int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.received, w.durable
}

// below waits until at most n events are waiting; false: ctx ended before.
func (w *watermark) below(ctx context.Context, n int) bool {
	for {
		waiting, changed := w.waiting()
		if waiting <= n {
			return true
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return false
		}
	}
}

// waiting is how many events are not yet below the watermark, and a channel
// that is closed when that may have changed.
func (w *watermark) waiting() (int, <-chan struct{}) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.changed == nil {
		w.changed = make(chan struct{})
	}
	return len(w.pending), w.changed
}
