package delivery

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"parley/adapters"
	"parley/bot/life"
	"parley/internal/pause"
	"parley/sessions"
)

// platform is an adapter that only sends: what it is given to send, fails or is
// kept.
type platform struct {
	adapters.Adapter
	fail func(adapters.Outgoing) error
	sent []string
}

func (*platform) Capabilities() adapters.Capabilities {
	return adapters.Capabilities{Platform: adapters.Telegram}
}
func (*platform) Account() string                               { return "77" }
func (*platform) Split(text string, _ adapters.Format) []string { return []string{text} }

func (p *platform) Send(_ context.Context, message adapters.Outgoing) (adapters.Receipt, error) {
	if p.fail != nil {
		if err := p.fail(message); err != nil {
			return adapters.Receipt{}, err
		}
	}
	p.sent = append(p.sent, message.Text)
	return adapters.Receipt{}, nil
}

func newOutbox(p *platform) *Outbox {
	log := slog.New(slog.DiscardHandler)
	return New(Config{
		Connections: Connections{p}, Life: life.New(log), Log: log, Ended: func(string) {},
		GivenUp:   func(sessions.Delivery, sessions.DeliveryState, error) {},
		Moved:     func(context.Context, adapters.Surface, adapters.Surface) {},
		Attempted: func(sessions.Delivery, time.Time, sessions.DeliveryState, error) {},
		PutBack:   func(sessions.Delivery) {},
	})
}

// An answer to a platform that this gateway is not connected to goes into the
// outbox; one that people read in the log does not.
func TestOnlyLocalSurfacesNeedNoOutbox(t *testing.T) {
	t.Parallel()
	o := newOutbox(&platform{})
	for surface, want := range map[string]int{"slack:1:C1": 1, "telegram:78:5": 1, "telegram:77:5": 1, "web:local:x": 0, "cli:local:x": 0, "": 0} {
		rows, err := o.Rows(Text{Surface: surface, Text: "text", Format: adapters.Plain, Entry: -1})
		if err != nil || len(rows) != want {
			t.Errorf("%s: %d rows, %v", surface, len(rows), err)
		}
	}
}

// What is sent to a chat's new id begins within the same right.
func TestASendToAMovedChatBeginsWithinTheRight(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		moved := adapters.Surface{Platform: adapters.Telegram, Account: "77", Chat: "new"}
		p := &platform{fail: func(message adapters.Outgoing) error {
			if message.Surface == moved {
				return nil
			}
			return &adapters.SendError{Kind: adapters.SendMoved, MovedTo: moved}
		}}
		o, slow := newOutbox(p), 2*rightFor
		o.Moved = func(ctx context.Context, _, _ adapters.Surface) { pause.For(ctx, slow) }
		row := sessions.Delivery{ID: "1", Attempt: 1, Surface: "telegram:77:old", Payload: []byte(`{"surface":"telegram:77:old","text":"hi"}`)}
		if out := o.attempt(row, time.Now()); out.State != sessions.DeliveryPending || len(p.sent) != 0 {
			t.Fatalf("sent %q on an old answer: %+v", p.sent, out)
		}
		slow = 0
		if out := o.attempt(row, time.Now()); out.State != sessions.DeliverySent || len(p.sent) != 1 {
			t.Fatalf("sent %q: %+v", p.sent, out)
		}
	})
}

// slowStore takes receipts slowly, and has so many rows of one lane.
type slowStore struct {
	sessions.Outbox
	takes time.Duration
	rows  int
}

func (s *slowStore) Settle(ctx context.Context, settlement sessions.Settlement, _ sessions.Claimer) (*sessions.Delivery, error) {
	row := settlement.Delivery
	if settlement.State == sessions.DeliveryPending {
		return &row, nil
	}
	pause.For(context.WithoutCancel(ctx), s.takes)
	if s.rows--; s.rows == 0 {
		return nil, nil //nolint:nilnil // the lane is empty
	}
	return &row, nil
}

// A slow store delays what is sent. Only where most of the lane's lease has
// passed by the time of its answer, a message is put back, and that is counted.
func TestASlowStoreDelaysAndStopsNothing(t *testing.T) {
	t.Parallel()
	for takes, wantPutBack := range map[time.Duration]int{500 * time.Millisecond: 0, 1200 * time.Millisecond: 0, 3 * time.Second: 0, rightFor: 2} {
		synctest.Test(t, func(t *testing.T) {
			p, store, back := &platform{}, &slowStore{takes: takes, rows: 3}, 0
			o := newOutbox(p)
			o.Store, o.PutBack = store, func(sessions.Delivery) { back++ }
			o.sendLane(sessions.Delivery{ID: "1", Attempt: 1, Surface: "telegram:77:5", Payload: []byte(`{"surface":"telegram:77:5","text":"hi"}`)}, time.Now())
			if len(p.sent) != 3 || back != wantPutBack {
				t.Errorf("calls of %s: %d sent, %d put back", takes, len(p.sent), back)
			}
		})
	}
}

// starting is a platform that learns which bot it is.
type starting struct {
	platform

	known atomic.Bool
}

func (s *starting) Account() string {
	if s.known.Load() {
		return s.platform.Account()
	}
	return ""
}

// taking is a store whose lanes have a row each.
type taking struct{ sessions.Outbox }

func (taking) Take(_ context.Context, lane string, _ sessions.Claimer) (sessions.Delivery, error) {
	return sessions.Delivery{ID: "1", Attempt: 2, Surface: lane, Payload: []byte(`{"surface":"` + lane + `","text":"hi"}`)}, nil
}

func (taking) Settle(context.Context, sessions.Settlement, sessions.Claimer) (*sessions.Delivery, error) {
	return nil, nil //nolint:nilnil // the lane is empty
}

// What a start finds waiting is sent when the connection is there, and has not
// failed before that.
func TestAStartWaitsForItsConnections(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p, failed := &starting{}, 0
		o := newOutbox(&p.platform)
		o.connections, o.Store = Connections{p}, taking{}
		o.Attempted = func(_ sessions.Delivery, _ time.Time, _ sessions.DeliveryState, err error) {
			if err != nil {
				failed++
			}
		}
		if err := o.Take(t.Context(), "telegram:77:5"); !errors.Is(err, sessions.ErrBusy) {
			t.Fatalf("taken before the connection is there: %v", err)
		}
		p.known.Store(true)
		if err := o.Take(t.Context(), "telegram:77:5"); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if len(p.sent) != 1 || failed != 0 {
			t.Fatalf("%d sent, %d attempts failed", len(p.sent), failed)
		}
		p.known.Store(false) // a platform that stays away is asked for with pauses
		<-time.After(startsIn)
		if err := o.Take(t.Context(), "telegram:77:5"); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
	})
}
