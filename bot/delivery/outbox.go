package delivery

import (
	"context"
	"log/slog"
	"time"

	"parley/adapters"
	"parley/bot/life"
	"parley/sessions"
)

const (
	laneFor = sessions.LeaseFor // how long a worker holds a lane
	// startsIn is how long after the start lanes are left alone whose connection
	// is not known yet: an attempt would fail, count, and make people wait for
	// its pause. Later it is the pause that keeps the store from being asked.
	startsIn = 10 * time.Second
)

// Config is what an Outbox is made of. Everything is required.
type Config struct {
	Store       sessions.Outbox
	Connections Connections
	Life        *life.Life
	Replica     string // names this process among all that share the store
	Log         *slog.Logger
	// GivenUp is called when a row will not be sent again although it has
	// not, or perhaps not, arrived; before that is stored, and perhaps more than
	// once. The lane waits for it: it is one call of the store long, at most. err says why, as a *adapters.SendError.
	GivenUp func(row sessions.Delivery, state sessions.DeliveryState, err error)
	// Ended is called when a row of a session will not be sent again.
	Ended func(session string)
	// Moved stores that a chat has another id. It logs what fails; the chat
	// moves again with its next message.
	Moved func(ctx context.Context, from, to adapters.Surface)
	// Attempted is called after each attempt: err is nil when it was sent,
	// state what became of the row.
	Attempted func(row sessions.Delivery, began time.Time, state sessions.DeliveryState, err error)
	// PutBack is called when a row is given back untried, because too much of
	// the lane's lease has passed.
	PutBack func(row sessions.Delivery)
}

// Outbox makes rows and sends them. Its methods may be called from any
// goroutine that Life knows of.
type Outbox struct {
	Config
	connections Connections
	busy        *busy
	began       time.Time
}

// New makes an Outbox that sends nothing yet.
func New(config Config) *Outbox {
	return &Outbox{Config: config, connections: config.Connections, busy: newBusy(), began: time.Now()}
}

// Claimer takes lanes for new rows. It is nil once the gateway begins no more
// sends: then the rows wait in the store.
func (o *Outbox) Claimer() *sessions.Claimer {
	if o.Life.Stopping() {
		return nil
	}
	return o.LastClaimer()
}

// LastClaimer is Claimer for what a turn says at its end: that is sent also
// while the gateway stops.
func (o *Outbox) LastClaimer() *sessions.Claimer {
	return &sessions.Claimer{Owner: o.Replica, For: laneFor}
}

// Say puts one text of the gateway's own into the outbox, once per key, and
// sends it. keyFor is how long the key holds.
func (o *Outbox) Say(ctx context.Context, key string, keyFor time.Duration, text Text) error {
	text.Entry = -1
	rows, err := o.Rows(text)
	if err != nil || len(rows) == 0 {
		return err
	}
	asked := time.Now()
	result, err := o.Store.Enqueue(ctx, sessions.EnqueueRequest{Key: key, KeyFor: keyFor, Deliveries: rows, Send: o.Claimer()})
	if err != nil {
		return err
	}
	o.Send(result.Sends, asked)
	return nil
}

// Take claims a lane that is due and sends on it. sessions.ErrBusy: this
// process sends on it already, begins no more sends, or has just started and
// does not know the connection yet.
func (o *Outbox) Take(ctx context.Context, lane string) error {
	claimer := o.Claimer()
	if claimer == nil || o.busy.sends(lane) || o.starts(lane) {
		return sessions.ErrBusy
	}
	asked := time.Now()
	row, err := o.Store.Take(ctx, lane, *claimer)
	if err != nil {
		return err
	}
	o.Send([]sessions.Delivery{row}, asked)
	return nil
}

// Send sends rows whose lanes were taken, each lane in a goroutine of its own.
// asked is when the store was asked for them.
func (o *Outbox) Send(rows []sessions.Delivery, asked time.Time) {
	for _, row := range rows {
		o.busy.begin(row.Lane.ID)
		o.Life.Spawn(func() {
			defer o.busy.end(row.Lane.ID)
			o.sendLane(row, asked)
		})
	}
}

// starts reports whether a lane's connection may be there in a moment.
func (o *Outbox) starts(lane string) bool {
	adapter, surface := o.connections.Of(lane)
	return adapter == nil && o.connections.learning(surface.Platform) && time.Since(o.began) < startsIn
}
