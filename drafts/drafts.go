package drafts

import (
	"context"
	"sync"
	"time"

	"parley/sessions"
)

// What is remembered at most: of one answer, and of all together. Of too much,
// the answers are forgotten that have not grown for longest.
const (
	TextMax = 64 << 10
	allMax  = 8 << 20
)

// AgainEvery is how often an answer that grows is published whole beside a
// shared store.
const AgainEvery = 2 * time.Second

// Store is a store that remembers the drafts published through it.
type Store struct {
	sessions.Store
	again time.Duration // 0: nothing is published again

	mu   sync.Mutex
	open map[string]*draft // by session
	size int
	tick int64 // counts what is published
}

type draft struct {
	epoch int64
	text  []byte
	used  int64     // tick of the last piece
	whole time.Time // when all of it was last published
}

// Over makes a Store. With again, the whole of a growing answer is published
// that often.
func Over(store sessions.Store, again time.Duration) *Store {
	return &Store{Store: store, again: again, open: map[string]*draft{}}
}

// SoFar is the answer being written in a session, as one piece from its
// beginning; false: none is written here.
func (s *Store) SoFar(session string) (sessions.LiveEvent, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	d := s.open[session]
	if d == nil {
		return sessions.LiveEvent{}, false
	}
	return d.event(session), true
}

func (d *draft) event(session string) sessions.LiveEvent {
	return sessions.LiveEvent{Session: session, Kind: sessions.LiveDraft, Epoch: d.epoch, Text: string(d.text)}
}

// Publish implements [sessions.Live].
func (s *Store) Publish(ctx context.Context, event sessions.LiveEvent) error {
	if event.Kind == sessions.LiveDraft {
		event = s.grow(event)
	}
	return s.Store.Publish(ctx, event)
}

// grow remembers a piece, and gives what is to be published in its place.
func (s *Store) grow(piece sessions.LiveEvent) sessions.LiveEvent {
	s.mu.Lock()
	defer s.mu.Unlock()
	d := s.open[piece.Session]
	if d == nil || piece.Epoch > d.epoch {
		s.forget(piece.Session)
		d = &draft{epoch: piece.Epoch, whole: time.Now()}
		s.open[piece.Session] = d
	}
	if piece.Epoch < d.epoch {
		return piece
	}
	if piece.Offset > len(d.text) || piece.Offset+len(piece.Text) > TextMax {
		s.forget(piece.Session) // it has no beginning, or is too long: the finished answer will show
		return piece
	}
	s.size += piece.Offset + len(piece.Text) - len(d.text)
	d.text = append(d.text[:piece.Offset], piece.Text...)
	s.tick++
	d.used = s.tick
	for s.size > allMax {
		s.forgetOldest()
	}
	if s.again > 0 && time.Since(d.whole) >= s.again {
		d.whole = time.Now()
		return d.event(piece.Session)
	}
	return piece
}

func (s *Store) forget(session string) {
	if d := s.open[session]; d != nil {
		s.size -= len(d.text)
		delete(s.open, session)
	}
}

func (s *Store) forgetOldest() {
	oldest := ""
	for session, d := range s.open {
		if oldest == "" || d.used < s.open[oldest].used {
			oldest = session
		}
	}
	s.forget(oldest)
}

// Append implements [sessions.Turns]: what a turn has written so far is in the
// log from then on.
func (s *Store) Append(ctx context.Context, lease sessions.Lease, entries []sessions.NewEntry) ([]sessions.Entry, error) {
	s.ended(lease)
	return s.Store.Append(ctx, lease, entries)
}

// Commit implements [sessions.Turns].
func (s *Store) Commit(ctx context.Context, request sessions.CommitRequest) (sessions.CommitResult, error) {
	s.ended(request.Lease)
	return s.Store.Commit(ctx, request)
}

func (s *Store) ended(lease sessions.Lease) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if d := s.open[lease.Session]; d != nil && d.epoch <= lease.Epoch {
		s.forget(lease.Session)
	}
}
