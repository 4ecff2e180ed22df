package telegram

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	tgbotapi "github.com/go-telegram-bot-api/telegram-bot-api/v5"
	"golang.org/x/sync/errgroup"

	"parley/adapters"
	"parley/internal/fault"
)

const (
	pollSeconds = 30               // how long Telegram holds a request
	pollTimeout = 45 * time.Second // then the connection counts as lost
	pollLimit   = 100
	lanesMax    = 16 // surfaces whose events are handed over at once
	// pollQuick is how fast an empty answer to a long poll is odd: something
	// in between does not hold requests, and must not be asked in a hot loop.
	pollQuick = time.Second
)

// allowedUpdates are the kinds of update that become events.
const allowedUpdates = `["message","edited_message","channel_post","edited_channel_post","message_reaction","callback_query","my_chat_member","chat_member"]`

// poll receives until ctx ends or the token is refused. The offset is sent
// once, as the confirmation of a batch that was taken whole: ids may restart
// at a lower number, so none is kept longer.
func (a *Adapter) poll(ctx context.Context, sink adapters.Sink) error {
	var offset int64
	seconds := 0 // the first answer after a failure comes at once
	for failures := 0; ctx.Err() == nil; {
		asked := time.Now()
		batch, err := a.getUpdates(ctx, offset, seconds)
		if err != nil {
			failures++
			seconds = 0
			if err := a.reconnect(ctx, err, failures); err != nil {
				return err
			}
			continue
		}
		a.hearing()
		if offset != 0 {
			fault.Here(fault.AfterAck)
		}
		offset = 0
		if len(batch) == 0 {
			if err := a.idle(ctx, seconds > 0 && time.Since(asked) < pollQuick, &failures); err != nil {
				return err
			}
			seconds = pollSeconds
			continue
		}
		failures, seconds = 0, pollSeconds
		if err := a.take(ctx, sink, batch); err != nil {
			return err
		}
		offset = batch[len(batch)-1].ID + 1
	}
	return ctx.Err()
}

func (a *Adapter) idle(ctx context.Context, tooQuick bool, failures *int) error {
	if !tooQuick {
		*failures = 0
		return nil
	}
	*failures++
	return a.wait(ctx, again().After(*failures))
}

func (a *Adapter) hearing() {
	if a.health.set(adapters.Hearing, "") {
		a.logger.Info("hearing Telegram")
	}
}

// getUpdates asks for the next batch; an offset of 0 is left out. An update
// without a readable id is logged and left out; if all of them are, that is an
// error, because nothing could be confirmed.
func (a *Adapter) getUpdates(ctx context.Context, offset int64, seconds int) ([]update, error) {
	params := tgbotapi.Params{
		"timeout": strconv.Itoa(seconds), "limit": strconv.Itoa(pollLimit), "allowed_updates": allowedUpdates,
	}
	params.AddNonZero64("offset", offset)
	var raws []json.RawMessage
	if err := a.client.call(ctx, pollTimeout, "getUpdates", params, &raws); err != nil {
		return nil, err
	}
	batch := make([]update, 0, len(raws))
	for _, raw := range raws {
		decoded, err := decodeUpdate(raw)
		if err != nil {
			a.logger.Error("an update of Telegram has no readable id", "bytes", len(raw), "error", err)
			continue
		}
		batch = append(batch, decoded)
	}
	if len(batch) == 0 && len(raws) > 0 {
		return nil, errors.New("telegram getUpdates: no update has a readable id")
	}
	return batch, nil
}

// take hands a batch to the sink and returns when all of it is taken. A chat's
// migration waits for what came before it and holds up what comes after.
func (a *Adapter) take(ctx context.Context, sink adapters.Sink, batch []update) error {
	var pending []adapters.Event
	for _, event := range a.events(batch) {
		if event.Kind != adapters.EventMigrate {
			pending = append(pending, event)
			continue
		}
		if err := a.lanes(ctx, sink, pending); err != nil {
			return err
		}
		if err := a.offer(ctx, sink, event); err != nil {
			return err
		}
		pending = nil
	}
	return a.lanes(ctx, sink, pending)
}

// events normalizes a batch; what is not understood is logged with its kind.
func (a *Adapter) events(batch []update) []adapters.Event {
	events := make([]adapters.Event, 0, len(batch))
	for _, u := range batch {
		event, err := guarded(u, *a.self.Load())
		var skipped *skippedError
		switch {
		case err == nil:
			events = append(events, event)
		case errors.As(err, &skipped) && skipped.Known:
			a.logger.Debug("a Telegram update without interest", "update_id", u.ID, "kind", skipped.Kind)
		case errors.As(err, &skipped):
			a.logger.Warn("a Telegram update of an unknown kind was dropped", "update_id", u.ID, "kind", skipped.Kind)
		default:
			a.logger.Error("a Telegram update cannot be read and was dropped", "update_id", u.ID, "kind", u.Kind, "bytes", len(u.Body), "error", err)
		}
	}
	return events
}

// guarded is normalize for updates of any shape: one that makes it panic is an
// update that cannot be read, not a stream that cannot go on.
func guarded(u update, me self) (event adapters.Event, err error) {
	defer func() {
		if fault := recover(); fault != nil {
			err = fmt.Errorf("reading it failed: %v", fault)
		}
	}()
	return normalize(u, me)
}

// lanes hands events over: those of one surface in order, those of different
// surfaces at the same time.
func (a *Adapter) lanes(ctx context.Context, sink adapters.Sink, events []adapters.Event) error {
	if len(events) == 1 {
		return a.offer(ctx, sink, events[0])
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(lanesMax)
	for _, lane := range bySurface(events) {
		group.Go(func() error {
			for _, event := range lane {
				if err := a.offer(ctx, sink, event); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return group.Wait()
}

func bySurface(events []adapters.Event) [][]adapters.Event {
	place := map[adapters.Surface]int{}
	var lanes [][]adapters.Event
	for _, event := range events {
		i, known := place[event.Surface]
		if !known {
			i = len(lanes)
			place[event.Surface] = i
			lanes = append(lanes, nil)
		}
		lanes[i] = append(lanes[i], event)
	}
	return lanes
}

// offer hands one event over until it is taken; an error is ctx's.
func (a *Adapter) offer(ctx context.Context, sink adapters.Sink, event adapters.Event) error {
	for failures := 1; ; failures++ {
		err := sink(ctx, event)
		if err == nil {
			return nil
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		d := again().After(failures)
		a.logger.Warn("an event was not taken; Telegram keeps it", "surface", event.Surface, "event", event.ID, "error", err, "again_in", d.Round(time.Millisecond))
		if err := a.wait(ctx, d); err != nil {
			return err
		}
	}
}
