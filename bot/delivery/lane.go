package delivery

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"parley/adapters"
	"parley/internal/fault"
	"parley/internal/guard"
	"parley/internal/pause"
	"parley/sessions"
)

// How long a lane may be used to send. It is held for laneFor by the store's
// clock, which began at the earliest when the store was asked. What is left
// behind rightFor is for a request that is on its way, and for clocks that run
// unlike.
const (
	rightFor = laneFor - laneFor/4
	rightMin = sendTimeout / 4 // with less left no send begins
)

// right is until when a lane that was asked for at a time may be used.
func right(asked time.Time) time.Time { return asked.Add(rightFor) }

// mayBegin reports whether enough of a right is left to begin a send.
func mayBegin(asked time.Time) bool { return time.Until(right(asked)) >= rightMin }

// How often a receipt is tried to be stored.
const (
	receiptTries = 4
	receiptPause = 250 * time.Millisecond
)

// sendLane sends a taken row and then what follows it in its lane. asked is
// when the store was last asked about the lane.
func (o *Outbox) sendLane(row sessions.Delivery, asked time.Time) {
	for next := &row; next != nil; {
		fault.Here(fault.BeforeSend)
		if !mayBegin(asked) {
			o.Log.Warn("a message was put back: the right to send it was too old by the time it came to it", "surface", next.Surface, "delivery", next.ID, "asked_ago", time.Since(asked).Round(time.Millisecond))
			o.PutBack(*next)
			next, asked = o.settle(putBack(*next))
			continue
		}
		next, asked = o.settle(o.attempt(*next, asked))
	}
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

// putBack gives a row back untried and asks for the lane's first row again: the
// way to check a lane that has not been checked for too long.
func putBack(row sessions.Delivery) sessions.Settlement {
	return sessions.Settlement{
		Delivery: row, State: sessions.DeliveryPending, Uncounted: true, MaybeSent: row.MaybeSent, Next: true,
		Reason: "the lane was not checked for too long before sending",
	}
}

// attempt sends one row once and says what is to become of it. asked is as in
// sendLane.
func (o *Outbox) attempt(row sessions.Delivery, asked time.Time) sessions.Settlement {
	adapter, message, err := o.outgoing(row)
	if err != nil {
		return o.decided(row, fate(row, adapters.Receipt{}, err, adapters.Capabilities{}, pause.Jitter()), err)
	}
	began := time.Now()
	ctx, cancel := context.WithDeadline(o.Life.Sending, earlier(began.Add(sendTimeout), right(asked)))
	defer cancel()
	var receipt adapters.Receipt
	err = guard.Run(o.Log, "a delivery", func() (err error) {
		receipt, err = o.transmit(ctx, adapter, message, asked)
		return err
	})
	fault.Here(fault.AfterSendBeforeReceipt)
	out := fate(row, receipt, err, adapter.Capabilities(), pause.Jitter())
	// After a failure the lane rests until it is due again; the row stays its
	// first. At the end of a stop what is left is for the next start.
	out.Next = out.State != sessions.DeliveryPending && o.Life.Thinking.Err() == nil
	o.Attempted(row, began, out.State, err)
	return o.decided(row, out, err)
}

// decided logs what is to become of a row, and tells where it is given up.
func (o *Outbox) decided(row sessions.Delivery, out sessions.Settlement, err error) sessions.Settlement {
	o.logAttempt(row, out, err)
	if out.State == sessions.DeliveryFailed || out.State == sessions.DeliveryUnknown {
		o.GivenUp(row, out.State, err)
	}
	return out
}

// transmit sends a message, and at once again where its chat turns out to have
// moved, if the right still holds.
func (o *Outbox) transmit(ctx context.Context, adapter adapters.Adapter, message adapters.Outgoing, asked time.Time) (adapters.Receipt, error) {
	receipt, err := adapter.Send(ctx, message)
	if moved := movedTo(receipt, err); moved != (adapters.Surface{}) {
		o.Moved(ctx, message.Surface, moved)
		if err != nil && mayBegin(asked) && adapters.Late(ctx) == nil {
			message.Surface = moved
			receipt, err = adapter.Send(ctx, message)
		}
	}
	return receipt, err
}

func movedTo(receipt adapters.Receipt, err error) adapters.Surface {
	if err == nil {
		return receipt.MovedTo
	}
	return adapters.AsSendError(err).MovedTo
}

// settle stores a receipt and returns the lane's next row, if the lane is still
// held. A store that does not answer is asked a few times. Then the lane runs
// out, and whoever takes it next finds the row marked MaybeSent.
func (o *Outbox) settle(receipt sessions.Settlement) (*sessions.Delivery, time.Time) {
	for try := 1; ; try++ {
		asked := time.Now()
		call, cancel := o.Life.Call()
		next, err := o.Store.Settle(call, receipt, sessions.Claimer{Owner: o.Replica, For: laneFor})
		cancel()
		if err == nil {
			fault.Here(fault.AfterReceipt)
			if receipt.State != sessions.DeliveryPending {
				o.Ended(receipt.Delivery.Session)
			}
			return next, asked
		}
		log := o.Log.With("surface", receipt.Delivery.Surface, "delivery", receipt.Delivery.ID)
		if errors.Is(err, sessions.ErrFenced) {
			log.Warn("another worker holds this lane now; its receipt stands")
			return nil, asked
		}
		if try == receiptTries {
			log.Error("the receipt could not be stored; the message may be sent again", "error", err)
			return nil, asked
		}
		pause.For(o.Life.Sending, receiptPause*time.Duration(try))
	}
}

func (o *Outbox) logAttempt(row sessions.Delivery, out sessions.Settlement, err error) {
	if err == nil && !o.Log.Enabled(o.Life.Sending, slog.LevelDebug) {
		return
	}
	log := o.Log.With("surface", row.Surface, "session", row.Session, "delivery", row.ID, "attempt", row.Attempt)
	switch {
	case err == nil:
		log.Debug("sent")
	case out.State == sessions.DeliveryPending:
		log.Warn("not delivered, will try again", slog.Duration("after", out.After), "error", err)
	default:
		log.Error("not delivered, given up", "state", out.State, "error", err)
	}
}
