package bot

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"slices"
	"time"

	"parley/adapters"
	"parley/internal/fault"
	"parley/sessions"
)

// How long a worker holds a lane, and how often it tries to store a receipt.
const (
	laneFor      = sessions.LeaseFor
	settleTries  = 4
	settlePause  = 250 * time.Millisecond
	storeTimeout = sessions.LeaseFor / 4
)

// outgoing builds the outbox rows that show text on a surface: none on a
// local surface, because its people read the log.
func (b *Bot) outgoing(surface string, text string, format adapters.Format, replyTo string, entry int) ([]sessions.NewDelivery, error) {
	parsed, err := adapters.ParseSurface(surface)
	if err != nil || local(parsed.Platform) {
		return nil, nil //nolint:nilerr // what was said nowhere is answered nowhere but in the log
	}
	var rows []sessions.NewDelivery
	for i, part := range b.split(parsed, text, format) {
		out := adapters.Outgoing{Surface: parsed, Text: part, Format: format}
		if i == 0 {
			out.ReplyTo = replyTo
		}
		payload, err := json.Marshal(out)
		if err != nil {
			return nil, err
		}
		rows = append(rows, sessions.NewDelivery{Surface: surface, Payload: payload, Entry: entry})
	}
	return rows, nil
}

// split cuts text for a surface. Which bot an adapter is may not be known yet;
// the rules of its platform are. Without any, the text stays whole until there
// is a connection that takes or refuses it.
func (b *Bot) split(surface adapters.Surface, text string, format adapters.Format) []string {
	for _, adapter := range b.adapters {
		if adapter.Capabilities().Platform == surface.Platform {
			return adapter.Split(text, format)
		}
	}
	return []string{text}
}

// learning reports whether an adapter of a platform does not know yet which
// bot it is.
func (b *Bot) learning(platform adapters.Platform) bool {
	return slices.ContainsFunc(b.adapters, func(adapter adapters.Adapter) bool {
		return adapter.Capabilities().Platform == platform && adapter.Account() == ""
	})
}

// adapterOf finds the adapter of a surface's account; nil where there is none.
func (b *Bot) adapterOf(surface string) (adapters.Adapter, adapters.Surface) {
	parsed, err := adapters.ParseSurface(surface)
	if err != nil {
		return nil, parsed
	}
	for _, adapter := range b.adapters {
		if adapter.Capabilities().Platform == parsed.Platform && adapter.Account() == parsed.Account {
			return adapter, parsed
		}
	}
	return nil, parsed
}

// deliverAll sends rows whose lanes were taken, each lane in a goroutine of its own.
func (b *Bot) deliverAll(sends []sessions.Delivery, answered time.Time) {
	for _, delivery := range sends {
		b.leases.holdLane(delivery.Lane.ID)
		b.spawn(func() {
			defer b.leases.releaseLane(delivery.Lane.ID)
			b.runLane(delivery, answered)
		})
	}
}

// runLane sends a taken row and then what follows it in its lane. answered is
// when the store was last asked about the lane.
func (b *Bot) runLane(delivery sessions.Delivery, answered time.Time) {
	ctx := b.sending
	for next := &delivery; next != nil; {
		fault.Here(fault.BeforeSend)
		if time.Since(answered) > sessions.FenceFresh {
			next, answered = b.settled(ctx, putBack(*next))
			continue
		}
		next, answered = b.settled(ctx, b.attempt(ctx, *next, answered))
	}
}

// putBack gives a row back untried and asks for the lane's first row again: the
// way to check a lane that has not been checked for too long.
func putBack(delivery sessions.Delivery) sessions.Settlement {
	return sessions.Settlement{
		Delivery: delivery, State: sessions.DeliveryPending, Uncounted: true, MaybeSent: delivery.MaybeSent, Next: true,
		Reason: "the lane was not checked for too long before sending",
	}
}

// attempt sends one row once and says what is to become of it. answered is as
// in runLane.
func (b *Bot) attempt(ctx context.Context, delivery sessions.Delivery, answered time.Time) sessions.Settlement {
	adapter, message, err := b.message(delivery)
	if err != nil {
		return settle(delivery, adapters.Receipt{}, err, adapters.Capabilities{}, jitter())
	}
	call, cancel := context.WithTimeout(ctx, sendTimeout)
	defer cancel()
	began := time.Now()
	var receipt adapters.Receipt
	err = guarded(b.log, "a delivery", func() (err error) {
		receipt, err = b.send(call, adapter, message, answered)
		return err
	})
	fault.Here(fault.AfterSendBeforeReceipt)
	out := settle(delivery, receipt, err, adapter.Capabilities(), jitter())
	// After a failure the lane rests until it is due again; the row stays its
	// first. At the end of a stop what is left is for the next start.
	out.Next = out.State != sessions.DeliveryPending && b.thinking.Err() == nil
	b.metrics.attempted(delivery, began, out.State, err)
	b.logAttempt(delivery, out, err)
	return out
}

// send sends a message, and at once again where its chat turns out to have
// moved, if the store's answer still holds.
func (b *Bot) send(ctx context.Context, adapter adapters.Adapter, message adapters.Outgoing, answered time.Time) (adapters.Receipt, error) {
	receipt, err := adapter.Send(ctx, message)
	if moved := movedTo(receipt, err); moved != (adapters.Surface{}) {
		b.moveChat(ctx, message.Surface, moved)
		if err != nil && time.Since(answered) <= sessions.FenceFresh {
			message.Surface = moved
			receipt, err = adapter.Send(ctx, message)
		}
	}
	return receipt, err
}

func (b *Bot) message(delivery sessions.Delivery) (adapters.Adapter, adapters.Outgoing, error) {
	var message adapters.Outgoing
	if err := json.Unmarshal(delivery.Payload, &message); err != nil {
		return nil, message, &adapters.SendError{Kind: adapters.SendRefused, Reason: "the outbox row cannot be read: " + err.Error(), Err: err}
	}
	message.DeliveryID, message.Attempt, message.MaybeSent = delivery.ID, delivery.Attempt, delivery.MaybeSent
	adapter, surface := b.adapterOf(delivery.Surface)
	switch {
	case adapter == nil && b.learning(surface.Platform):
		return nil, message, &adapters.SendError{Kind: adapters.SendUnavailable, Reason: "the connection to " + delivery.Surface + " is not there yet"}
	case adapter == nil:
		return nil, message, &adapters.SendError{Kind: adapters.SendDenied, Reason: "no connection to " + delivery.Surface + " is configured"}
	}
	return adapter, message, nil
}

func movedTo(receipt adapters.Receipt, err error) adapters.Surface {
	if err == nil {
		return receipt.MovedTo
	}
	return adapters.AsSendError(err).MovedTo
}

// settled stores a receipt and returns the lane's next row, if the lane is
// still held. A store that does not answer is asked a few times; then the lane
// runs out, and whoever takes it next finds the row marked MaybeSent.
func (b *Bot) settled(ctx context.Context, settlement sessions.Settlement) (*sessions.Delivery, time.Time) {
	for try := 1; ; try++ {
		asked := time.Now()
		call, cancel := context.WithTimeout(context.WithoutCancel(ctx), storeTimeout)
		next, err := b.store.Settle(call, settlement, sessions.Claimer{Owner: b.replica, For: laneFor})
		cancel()
		if err == nil {
			fault.Here(fault.AfterReceipt)
			if settlement.State != sessions.DeliveryPending {
				b.lookAtSchedule(settlement.Delivery.Session)
			}
			return next, asked
		}
		log := b.log.With("surface", settlement.Delivery.Surface, "delivery", settlement.Delivery.ID)
		if errors.Is(err, sessions.ErrFenced) {
			log.Warn("another worker holds this lane now; its receipt stands")
			return nil, asked
		}
		if try == settleTries {
			log.Error("the receipt could not be stored; the message may be sent again", "error", err)
			return nil, asked
		}
		wait(ctx, settlePause*time.Duration(try))
	}
}

func (b *Bot) logAttempt(delivery sessions.Delivery, out sessions.Settlement, err error) {
	log := b.log.With("surface", delivery.Surface, "session", delivery.Session, "delivery", delivery.ID, "attempt", delivery.Attempt)
	switch {
	case err == nil:
		log.Debug("sent")
	case out.State == sessions.DeliveryPending:
		log.Warn("not delivered, will try again", slog.Duration("after", out.After), "error", err)
	default:
		log.Error("not delivered, given up", "state", out.State, "error", err)
	}
}

func (b *Bot) moveChat(ctx context.Context, from, to adapters.Surface) {
	call, cancel := context.WithTimeout(ctx, storeTimeout)
	defer cancel()
	if err := b.store.MoveChat(call, from.ChatKey(), to.ChatKey()); err != nil {
		b.log.Error("a chat has a new id, but it could not be stored; it is tried again with the next message", "surface", from, "to", to, "error", err)
		return
	}
	b.listed.forget(from.ChatKey())
	b.listed.forget(to.ChatKey())
	b.log.Info("a chat has a new id", "surface", from, "to", to)
}

// say puts one line for people into the outbox, once per key.
func (b *Bot) say(ctx context.Context, key string, keyFor time.Duration, surface adapters.Surface, text, replyTo string) error {
	rows, err := b.outgoing(surface.Key(), text, adapters.Markdown, replyTo, -1)
	if err != nil || len(rows) == 0 {
		return err
	}
	asked := time.Now()
	result, err := b.store.Enqueue(ctx, sessions.EnqueueRequest{Key: key, KeyFor: keyFor, Deliveries: rows, Send: b.sender()})
	if err != nil {
		return err
	}
	b.deliverAll(result.Sends, asked)
	return nil
}

// sender is the claimer for lanes, nil once the gateway no longer begins to send.
func (b *Bot) sender() *sessions.Claimer {
	if b.intake.Err() != nil {
		return nil
	}
	return &sessions.Claimer{Owner: b.replica, For: laneFor}
}
