package bot

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"parley/routing"
	"parley/sessions"
)

// commandLink makes identities on several platforms one person: without a code
// it gives one, with one it redeems it. A code goes to nobody but the person
// alone with the bot, and into no log.
//
// Who redeems a code becomes one with whoever asked for it, rights and all. So
// only known people may ask for one, and an owner is asked whether he means it
// before he makes somebody else one too.
func (b *Bot) commandLink(ctx context.Context, a arrival) error {
	args := strings.Fields(a.decision.Command.Args)
	switch {
	case !a.direct():
		return b.answer(ctx, a, a.key, sessions.DedupeFor, textLinkAlone)
	case len(args) > 0:
		text, err := b.redeem(ctx, a, args[0], len(args) == 2 && args[1] == linkMeant)
		if err != nil {
			return err
		}
		return b.answer(ctx, a, a.key, sessions.DedupeFor, text)
	case a.role.Rank() < routing.Member.Rank():
		return b.answer(ctx, a, a.key, sessions.DedupeFor, textLinkStranger)
	}
	code, err := b.offer(ctx, a)
	if err != nil {
		return err
	}
	// Its key has the code in it: a second code makes the first one void, so
	// people must hear of it.
	return b.answer(ctx, a, a.key+":"+ending(code), sessions.DedupeFor, linkText(code))
}

// offer gives a code, for an event that comes again the same.
func (b *Bot) offer(ctx context.Context, a arrival) (string, error) {
	if code, found := b.links.offered(a.key, time.Now()); found {
		return code, nil
	}
	code, err := b.store.OfferLink(ctx, string(a.event.Sender.ID))
	if err == nil {
		b.links.keep(a.key, code, time.Now())
	}
	return code, err
}

// redeem makes the sender one with whoever was given the code. meant: he has
// said that he means it.
func (b *Bot) redeem(ctx context.Context, a arrival, code string, meant bool) (string, error) {
	identity := string(a.event.Sender.ID)
	if b.links.slow(identity, time.Now()) {
		return textLinkSlow, nil
	}
	if a.role == routing.Owner && !meant {
		return fmt.Sprintf(textLinkOwner, linkMeant), nil
	}
	result, err := b.once(ctx, a, func(*memory) (done, error) {
		if sessions.CheckCode(code) != nil {
			return b.wrongCode(identity)
		}
		user, _, err := b.store.TakeLink(ctx, code, identity)
		switch {
		case errors.Is(err, sessions.ErrNotFound), isInvalid(err):
			return b.wrongCode(identity)
		case errors.Is(err, sessions.ErrConflict):
			return tell(textLinkSame)
		case err != nil:
			return done{}, err
		}
		b.people.forget(append(user.Identities, identity, user.ID)...)
		b.log.Info("two people turned out to be one", "user", user.ID, "identities", len(user.Identities))
		return tell("Done: you are one person to me now, " + identitiesText(user) + ", with the same conversations and rights everywhere.")
	})
	return result.Answer, err
}

func (b *Bot) wrongCode(identity string) (done, error) {
	b.links.wrong(identity, time.Now())
	return tell(textLinkWrong)
}

// Bounds on guessing codes, and of what is kept in memory for it.
const (
	linkTries   = 5
	linkTriesIn = sessions.LinkFor
	linksMax    = 10_000
	linkMeant   = "yes"
)

// links remembers wrong codes, by identity, and codes that were given, by event.
type links struct {
	mu    sync.Mutex
	tries map[string][]time.Time
	codes map[string]linkOffer
}

type linkOffer struct {
	code string
	at   time.Time
}

func newLinks() *links { return &links{tries: map[string][]time.Time{}, codes: map[string]linkOffer{}} }

// slow reports whether an identity has tried too many wrong codes lately.
func (l *links) slow(identity string, now time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	tries := l.tries[identity]
	for len(tries) > 0 && now.Sub(tries[0]) > linkTriesIn {
		tries = tries[1:]
	}
	if len(tries) == 0 {
		delete(l.tries, identity)
		return false
	}
	l.tries[identity] = tries
	return len(tries) >= linkTries
}

func (l *links) wrong(identity string, now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.tries) >= linksMax {
		clear(l.tries)
	}
	l.tries[identity] = append(l.tries[identity], now)
}

func (l *links) offered(key string, now time.Time) (string, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	given, found := l.codes[key]
	return given.code, found && key != "" && now.Sub(given.at) < sessions.LinkFor
}

func (l *links) keep(key, code string, now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for other, given := range l.codes {
		if now.Sub(given.at) >= sessions.LinkFor {
			delete(l.codes, other)
		}
	}
	if len(l.codes) < linksMax {
		l.codes[key] = linkOffer{code: code, at: now}
	}
}
