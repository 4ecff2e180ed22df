package bot

import (
	"context"
	"errors"
	"time"

	"parley/sessions"
)

// How the gateway looks for work that nobody told it of.
const (
	dueEvery    = 250 * time.Millisecond
	dueParallel = 16
	// dueLimit is how much is looked at. While nothing of that can be taken
	// up, because other workers have it or this process is full, it is more,
	// up to sessions.ListMax: what comes behind must not wait for it.
	dueLimit = 256
	// storePause is how long the search for work rests after the store failed.
	storePause = 2 * time.Second
)

// findWork takes up what is due until ctx ends. Hints make it quick; the
// look at the due set makes it certain.
func (b *Bot) findWork(ctx context.Context) {
	var wakes <-chan sessions.WorkItem
	timer := time.NewTimer(0)
	defer timer.Stop()
	for limit := dueLimit; ; {
		select {
		case <-ctx.Done():
			return
		case item, open := <-wakes:
			if !open {
				wakes = nil // until the next look
				continue
			}
			if item.Kind == sessions.WorkWho {
				b.people.forget(item.ID)
				continue
			}
			b.spawn(func() { b.takeUp(ctx, item) })
		case <-timer.C:
			if wakes == nil {
				wakes = b.subscribe(ctx)
			}
			var pause time.Duration
			pause, limit = b.takeUpDue(ctx, limit)
			timer.Reset(pause)
		}
	}
}

func (b *Bot) subscribe(ctx context.Context) <-chan sessions.WorkItem {
	wakes, err := b.store.Wakes(ctx)
	if err != nil && ctx.Err() == nil {
		b.log.Warn("no wake-up hints; work is found by looking every "+dueEvery.String(), "error", err)
	}
	return wakes
}

// takeUpDue takes up what is due, at most limit, and returns when to look
// again and at how much.
func (b *Bot) takeUpDue(ctx context.Context, limit int) (pause time.Duration, next int) {
	call, cancel := context.WithTimeout(ctx, storeTimeout)
	items, err := b.store.Due(call, limit)
	cancel()
	if err != nil {
		if ctx.Err() == nil {
			b.log.Error("the store does not answer; work goes on when it is back", "error", err)
		}
		return storePause, dueLimit
	}
	taken := b.takeUpAll(ctx, items)
	switch {
	case len(items) < limit:
		return dueEvery, dueLimit
	case taken > 0:
		return 0, limit
	default:
		return dueEvery, min(2*limit, sessions.ListMax)
	}
}

// takeUpAll takes up items, at most dueParallel at once, and returns how many
// it could take up until the next look is due. What takes longer goes on.
func (b *Bot) takeUpAll(ctx context.Context, items []sessions.WorkItem) (taken int) {
	look, end := context.WithTimeout(ctx, dueEvery)
	defer end()
	results := make(chan bool, len(items))
	begun := 0
all:
	for _, item := range items {
		if !b.hand.take(item) {
			continue
		}
		select {
		case b.hand.slots <- struct{}{}:
			begun++
			b.spawn(func() { results <- b.takeUpOne(ctx, item) })
		case <-look.Done():
			b.hand.release(item)
			break all
		}
	}
	for range begun {
		select {
		case ok := <-results:
			if ok {
				taken++
			}
		case <-look.Done():
			return taken
		}
	}
	return taken
}

// takeUpOne is takeUp for work in hand.
func (b *Bot) takeUpOne(ctx context.Context, item sessions.WorkItem) (taken bool) {
	defer func() {
		<-b.hand.slots
		b.hand.release(item)
	}()
	b.safely("due work", func() { taken = b.takeUp(ctx, item) })
	return taken
}

// takeUp claims one item, sets it going and reports whether it could. What it
// costs here is one call to the store, or for a timer a few; turns and sends run
// in goroutines of their own.
func (b *Bot) takeUp(ctx context.Context, item sessions.WorkItem) bool {
	if ctx.Err() != nil {
		return false
	}
	call, cancel := detached(ctx)
	defer cancel()
	var err error
	switch item.Kind {
	case sessions.WorkTurn:
		err = b.takeTurn(call, item.ID)
	case sessions.WorkLane:
		err = b.takeLane(call, item.ID)
	case sessions.WorkTimer:
		err = b.takeTimer(call, item.Home, item.ID)
	case sessions.WorkStop:
		b.leases.check(call, item.ID)
	default:
		err = sessions.ErrBusy
		b.log.Error("work of a kind this version does not know; it is left for one that does", "kind", item.Kind, "id", item.ID)
	}
	if err != nil && !errors.Is(err, sessions.ErrBusy) && !errors.Is(err, sessions.ErrNothing) && !errors.Is(err, sessions.ErrNotFound) && ctx.Err() == nil {
		b.log.Error("due work could not be taken up; it is tried again", "kind", item.Kind, "id", item.ID, "error", err)
	}
	return err == nil
}

// detached is for a call of the store by which this worker may come to hold
// something: it is not broken off when whoever asked has gone, since then
// nobody would know what was taken until it runs out.
func detached(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), storeTimeout)
}

func (b *Bot) takeTurn(ctx context.Context, session string) error {
	claimer := b.claimer()
	if claimer == nil || b.suspects.waits(session, time.Now()) {
		return sessions.ErrBusy
	}
	if b.leases.runs(session) {
		b.leases.check(ctx, session)
		return sessions.ErrBusy
	}
	turn, err := b.store.Claim(ctx, sessions.ClaimRequest{Session: session, Claimer: *claimer, Known: b.tails.known(session)})
	if err != nil {
		return err
	}
	b.startTurn(turn)
	return nil
}

func (b *Bot) takeLane(ctx context.Context, lane string) error {
	sender := b.sender()
	if sender == nil || b.leases.sends(lane) {
		return sessions.ErrBusy
	}
	asked := time.Now()
	delivery, err := b.store.Take(ctx, lane, *sender)
	if err != nil {
		return err
	}
	b.deliverAll([]sessions.Delivery{delivery}, asked)
	return nil
}
