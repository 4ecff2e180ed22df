package sqlitestore

import (
	"fmt"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"parley/sessions"
)

// The callers of the benchmarks: how many at the same time, in how many chats.
const (
	benchCallers = 64
	benchChats   = 200
)

func benchStore(b *testing.B) *Store {
	b.Helper()
	return open(b, Config{Path: filepath.Join(b.TempDir(), "gateway.db")})
}

func benchPost(n int64, trigger bool) sessions.PostRequest {
	return sessions.PostRequest{
		Key: fmt.Sprintf("telegram:1:%d", n), Surface: fmt.Sprintf("telegram:1:%d", n%benchChats), Trigger: trigger, UserID: "u-ann", Rights: "member",
		New:     sessions.NewSession{Source: sessions.Source{Kind: "channel", Platform: "telegram", Type: sessions.Group}},
		Message: sessions.Message{Role: sessions.RoleUser, Text: "a message of a common length, as people write them", Sender: &sessions.Sender{ID: "telegram:5", Name: "Ann", Role: "member"}, SentAt: time.Unix(n, 0)},
	}
}

// BenchmarkPost is a message that does not trigger, durable.
func BenchmarkPost(b *testing.B) {
	for _, callers := range []int{1, benchCallers} {
		b.Run(fmt.Sprintf("callers=%d", callers), func(b *testing.B) {
			store := benchStore(b)
			var n atomic.Int64
			parallel(b, callers, func() error {
				_, err := store.Post(b.Context(), benchPost(n.Add(1), false))
				return err
			})
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "posts/s")
		})
	}
}

// parallel runs b.N calls from so many callers.
func parallel(b *testing.B, callers int, call func() error) {
	b.Helper()
	var left atomic.Int64
	left.Store(int64(b.N))
	done := make(chan error, callers)
	b.ResetTimer()
	for range callers {
		go func() {
			for left.Add(-1) >= 0 {
				if err := call(); err != nil {
					done <- err
					return
				}
			}
			done <- nil
		}()
	}
	for range callers {
		if err := <-done; err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkTurn is a message and its answer the quick way, three durable
// calls: post with claim, commit with send, settle.
func BenchmarkTurn(b *testing.B) {
	for _, callers := range []int{1, benchCallers} {
		b.Run(fmt.Sprintf("callers=%d", callers), func(b *testing.B) {
			store := benchStore(b)
			free := make(chan *benchChat, benchChats)
			for i := range int64(benchChats) {
				free <- &benchChat{next: i}
			}
			parallel(b, callers, func() error {
				chat := <-free
				defer func() { free <- chat }()
				return benchTurn(b, store, chat)
			})
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "turns/s")
		})
	}
}

// benchChat is one chat, and what a worker with a warm cache holds of its log.
type benchChat struct {
	next  int64 // number of the next message
	known sessions.Known
}

func benchTurn(b *testing.B, store *Store, chat *benchChat) error {
	b.Helper()
	worker := sessions.Claimer{Owner: "w", For: sessions.LeaseFor}
	chat.next += benchChats
	request := benchPost(chat.next, true)
	request.Claim, request.Known = &worker, chat.known
	posted, err := store.Post(b.Context(), request)
	if err != nil {
		return err
	}
	answer, err := sessions.NewMessage(sessions.Message{Role: sessions.RoleAssistant, Text: "an answer of a common length, as models write them, and a little longer"})
	if err != nil {
		return err
	}
	committed, err := store.Commit(b.Context(), sessions.CommitRequest{
		Lease: posted.Turn.Lease, Outcome: sessions.Done, Entries: []sessions.NewEntry{answer}, Send: &worker,
		Deliveries: []sessions.NewDelivery{{Surface: request.Surface, Payload: []byte(`{"text":"an answer"}`), Entry: 0}},
	})
	if err != nil {
		return err
	}
	chat.known = sessions.Known{Session: posted.Session, Seq: committed.Entries[0].Seq}
	_, err = store.Settle(b.Context(), sessions.Settlement{Delivery: committed.Sends[0], State: sessions.DeliverySent, MessageIDs: []string{"1"}, Next: true}, worker)
	return err
}

// BenchmarkLongLog is a post into a session with a log of the length named.
func BenchmarkLongLog(b *testing.B) {
	for _, length := range []int{100, 100_000} {
		b.Run(fmt.Sprintf("entries=%d", length), func(b *testing.B) {
			store := open(b, Config{Path: Memory})
			posted, err := store.Post(b.Context(), benchPost(benchChats, false))
			if err != nil {
				b.Fatal(err)
			}
			grow(b, store, posted.Session, length)
			b.ResetTimer()
			for n := int64(2); b.Loop(); n++ {
				if _, err := store.Post(b.Context(), benchPost(n*benchChats, false)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// grow fills a log with copies of its first entry.
func grow(b *testing.B, store *Store, id string, length int) {
	b.Helper()
	err := store.write(b.Context(), func(t *tx) error {
		r, err := t.load(id)
		if err != nil {
			return err
		}
		payload := []byte(`{"role":"user","text":"a message of a common length, as people write them"}`)
		for range length {
			entry, err := t.insert(r, sessions.EntryMessage, payload, r.leaf, false)
			if err != nil {
				return err
			}
			r.leaf = entry.Seq
		}
		return t.save(r)
	})
	if err != nil {
		b.Fatal(err)
	}
}

// BenchmarkDue asks what is due of nothing, with many sessions and timers at rest.
func BenchmarkDue(b *testing.B) {
	for _, resting := range []int{10, 20_000} {
		b.Run(fmt.Sprintf("resting=%d", resting), func(b *testing.B) {
			store := open(b, Config{Path: Memory})
			err := store.write(b.Context(), func(t *tx) error {
				for i := range resting {
					if _, err := t.create(sessions.NewSession{ID: fmt.Sprintf("sub:%d", i)}, ""); err != nil {
						return err
					}
					if _, err := t.exec("INSERT INTO timers (home, name, purpose, payload, due, fence, due_at) VALUES (?, 't', '', '', ?2, 0, ?2)", strconv.Itoa(i), t.after(time.Hour)); err != nil {
						return err
					}
				}
				return nil
			})
			if err != nil {
				b.Fatal(err)
			}
			b.ResetTimer()
			for b.Loop() {
				if items, err := store.Due(b.Context(), 100); err != nil || len(items) > 0 {
					b.Fatal(items, err)
				}
			}
		})
	}
}
