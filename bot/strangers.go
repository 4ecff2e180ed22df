package bot

import (
	"context"
	"errors"
	"sync"
	"time"

	"parley/adapters"
	"parley/bot/texts"
	"parley/people"
	"parley/sessions"
)

// People is where people are let in.
func (b *Bot) People() *people.Room { return b.announcer.door }

// knock keeps a stranger's wish to be let in and tells the owners of it, once.
// What a stranger writes meanwhile costs the store nothing for a while.
func (a *announcer) knock(ctx context.Context, event adapters.Event) (texts.Knocked, error) {
	identity, now := string(event.Sender.ID), time.Now()
	if before, found := a.knocks.lately(identity, now); found {
		return before, nil
	}
	request, err := a.door.Knock(ctx, people.Request{Identity: identity, Name: event.Sender.Name, Surface: event.Surface.Key()})
	switch {
	case errors.Is(err, people.ErrFull):
		return a.knocks.keep(identity, texts.Knocked{Full: true}, now), nil
	case errors.Is(err, sessions.ErrBusy), isInvalid(err):
		return texts.Knocked{}, nil // the next message asks again
	case err != nil:
		return texts.Knocked{}, err
	}
	a.log.Info("somebody asks to be let in", "identity", identity, "code", request.Code)
	told, err := a.tellOwners(ctx, "people:asks:"+request.Code+":"+identity, texts.AsksToComeIn(request))
	if err != nil {
		return texts.Knocked{}, err
	}
	return a.knocks.keep(identity, texts.Knocked{Code: request.Code, Told: told > 0}, now), nil
}

// tellOwners says something to each owner in their newest direct chat, once per
// key, and counts whom it reached.
func (a *announcer) tellOwners(ctx context.Context, key, text string) (told int, err error) {
	surfaces, err := a.owners(ctx)
	if err != nil {
		return 0, err
	}
	for _, surface := range surfaces {
		if err := a.tell(ctx, key+":"+surface.Key(), surface, text); err != nil {
			return told, err
		}
		told++
	}
	return told, nil
}

// knocks remembers for a while what strangers were told, by identity.
type knocks struct {
	mu   sync.Mutex
	told map[string]knocked
}

type knocked struct {
	texts.Knocked

	until time.Time
}

// Bounds of knocks.
const (
	knockFor  = time.Minute
	knocksMax = 10_000
)

func newKnocks() *knocks { return &knocks{told: map[string]knocked{}} }

func (k *knocks) lately(identity string, now time.Time) (texts.Knocked, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	before, found := k.told[identity]
	return before.Knocked, found && now.Before(before.until)
}

func (k *knocks) keep(identity string, what texts.Knocked, now time.Time) texts.Knocked {
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.told) >= knocksMax {
		clear(k.told)
	}
	k.told[identity] = knocked{what, now.Add(knockFor)}
	return what
}
