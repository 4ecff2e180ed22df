package bot

import (
	"context"
	"fmt"
	"time"

	"parley/adapters"
	"parley/bot/life"
	"parley/bot/texts"
	"parley/scheduler"
	"parley/sessions"
)

// undeliveredFor is how long the gateway's own lines that a place did not take
// are not told of again.
const undeliveredFor = 10 * time.Minute

// givenUp tells of a message that is given up: in its chat, and each owner
// elsewhere where and why. All parts of one answer are told of once, and a line
// like these is never told of in its own place, so that none begets another. A
// schedule tells of its own.
//
// What it says is in the outbox when it returns, or could not be stored within
// the time of one call; that is logged.
func (a *announcer) givenUp(life *life.Life, row sessions.Delivery, state sessions.DeliveryState, err error) {
	if scheduler.IDOf(row.Session) != "" {
		return
	}
	ctx, cancel := life.Call()
	defer cancel()
	if failed := a.tellGivenUp(ctx, row, state, err); failed != nil {
		a.log.Error("that a message was given up could not be told", "surface", row.Surface, "delivery", row.ID, "error", failed)
	}
}

func (a *announcer) tellGivenUp(ctx context.Context, row sessions.Delivery, state sessions.DeliveryState, err error) error {
	surface, parsed := adapters.ParseSurface(row.Surface)
	if parsed != nil {
		return parsed
	}
	key, keyFor := "undelivered:"+row.Surface, undeliveredFor
	if row.Session != "" {
		key, keyFor = fmt.Sprintf("undelivered:%s:%d:%s", row.Session, row.Entry, row.Surface), sessions.DedupeFor
	}
	text := texts.Undelivered
	if state == sessions.DeliveryUnknown {
		text = texts.MaybeDelivered
	}
	failure := adapters.AsSendError(err)
	if row.Session != "" && failure.Kind != adapters.SendGone {
		if err := a.say(ctx, key, keyFor, surface, text); err != nil {
			return err
		}
	}
	owners, err := a.owners(ctx)
	for i, owner := range owners {
		if err == nil && owner != surface {
			err = a.say(ctx, fmt.Sprintf("%s:%d", key, i), keyFor, owner, texts.UndeliveredAt(row.Surface, failure.Error()))
		}
	}
	return err
}

// emptyAnswer tells owners that the model had nothing to say in a group: once
// until it answers there, which counts its turns on.
func (a *announcer) emptyAnswer(life *life.Life, record sessions.Record, cause string) {
	ctx, cancel := life.Call()
	defer cancel()
	owners, err := a.owners(ctx)
	for i, owner := range owners {
		if err == nil {
			err = a.say(ctx, fmt.Sprintf("empty:%s:%d:%d", record.ID, record.TurnCount, i), sessions.DedupeFor, owner, texts.EmptyAnswer(record, cause))
		}
	}
	if err != nil {
		a.log.Error("that an answer was empty could not be told", "session", record.ID, "error", err)
	}
}
