package commands

import (
	"sync"
	"time"

	"parley/sessions"
)

// Bounds on guessing codes, and of what is kept in memory for it.
const (
	linkTries   = 5
	linkTriesIn = sessions.LinkFor
	linksMax    = 10_000
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
