package turns

import (
	"context"
	"strings"
	"sync"
	"time"
	"unicode"

	"parley/internal/fault"
	"parley/routing"
	"parley/sessions"
)

// draftEvery is how often a growing answer is shown at most.
const draftEvery = 100 * time.Millisecond

// draft shows a growing answer to whoever watches the session, without
// anything that a silence marker could still take back. Best effort.
type draft struct {
	live    sessions.Live
	session string
	epoch   int64

	mu      sync.Mutex
	strip   routing.Stripper
	pending string
	begun   bool // something other than white space has come
	offset  int  // bytes shown so far
	wake    chan struct{}
}

func newDraft(live sessions.Live, lease sessions.Lease, group bool) *draft {
	return &draft{
		live: live, session: lease.Session, epoch: lease.Epoch,
		strip: routing.Stripper{Labels: group}, wake: make(chan struct{}, 1),
	}
}

// write takes a piece of the raw answer.
func (d *draft) write(piece string) {
	d.mu.Lock()
	if !d.begun {
		// The stripper holds back an answer that begins with white space
		// until it knows whether the ends are trimmed.
		piece = strings.TrimLeftFunc(piece, unicode.IsSpace)
		d.begun = piece != ""
	}
	d.pending += d.strip.Write(piece)
	some := d.pending != ""
	d.mu.Unlock()
	if some {
		select {
		case d.wake <- struct{}{}:
		default:
		}
	}
}

// run publishes what is pending, at most once per draftEvery, until ctx ends.
func (d *draft) run(ctx context.Context) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-d.wake:
		}
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		}
		d.publish(ctx)
		timer.Reset(draftEvery)
	}
}

func (d *draft) publish(ctx context.Context) {
	d.mu.Lock()
	event := sessions.LiveEvent{Session: d.session, Kind: sessions.LiveDraft, Epoch: d.epoch, Offset: d.offset, Text: d.pending}
	d.offset += len(d.pending)
	d.pending = ""
	d.mu.Unlock()
	if event.Text == "" {
		return
	}
	call, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	_ = d.live.Publish(call, event) // a draft that is lost is shown whole when the answer is stored
	fault.Here(fault.MidDraft)
}
