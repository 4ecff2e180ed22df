package delivery

import (
	"context"
	"log/slog"
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
