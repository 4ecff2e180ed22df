package budget

import (
	"sync"
	"time"

	"parley/routing"
)

const (
	// kept is how many people and chats are known apart. Those beyond share
	// what one has, until others have been quiet for a minute.
	kept = 20_000
	// first is how soon a turn that waits asks again, apart how far behind the
	// one before, and last the latest.
	first = 3 * time.Second
	apart = 250 * time.Millisecond
	last  = time.Minute
	// tellEvery is how often a person is told that something waits.
	tellEvery = 10 * time.Minute
	// sweepEvery bounds how often those who are quiet are looked for.
	sweepEvery = time.Second
)

// Budget keeps count. Its methods may be called from any goroutine.
type Budget struct {
	limits Limits
	now    func() time.Time

	mu     sync.Mutex
	uses   map[string]*use
	others int // turns that run and are no owner's
	swept  time.Time
}

// use is what somebody has, as of a time.
type use struct {
	Use
	at   time.Time
	told time.Time // that something waits
	asks time.Time // when the last of those that wait asks again
}

// New makes a Budget of which nothing is used.
func New(limits Limits) *Budget {
	return &Budget{limits: limits, now: time.Now, uses: map[string]*use{}}
}

// Verdict is whether a turn may run now.
type Verdict struct {
	End    func()        // gives the turn's place back, called once; nil: it may not run
	Reason Reason        // why not
	Wait   time.Duration // until it asks again
	Tell   bool          // the person has not been told lately
}

// Begin counts a turn, if it may run now.
func (b *Budget) Begin(ask Ask) Verdict {
	if ask.Role == routing.Owner {
		return Verdict{End: func() {}}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	person, chat := b.used(personKey(ask), b.limits.rate(ask).AMinute), &use{}
	if !ask.Schedule {
		chat = b.used("chat "+ask.Chat, b.limits.Chats.AMinute)
	}
	if reason, wait := b.limits.Decide(ask, person.Use, chat.Use, b.others); reason != "" {
		now := b.now()
		person.asks = latest(now.Add(max(first, wait)), person.asks.Add(apart))
		tell := now.Sub(person.told) >= tellEvery
		if tell {
			person.told = now
		}
		return Verdict{Reason: reason, Wait: min(person.asks.Sub(now), last), Tell: tell}
	}
	for _, u := range []*use{person, chat} {
		u.Running++
		u.Spent++
	}
	b.others++
	return Verdict{End: func() { b.end(person, chat) }}
}

func (b *Budget) end(uses ...*use) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, u := range uses {
		u.Running--
	}
	b.others--
}

func personKey(ask Ask) string {
	if ask.Schedule {
		return "maker " + ask.Person
	}
	return "person " + ask.Person
}

// used is what a key has now.
func (b *Budget) used(key string, aMinute int) *use {
	now := b.now()
	u, known := b.uses[key]
	if !known {
		if len(b.uses) >= kept && now.Sub(b.swept) >= sweepEvery {
			b.sweep(now)
		}
		if len(b.uses) >= kept {
			key = "all others"
		}
		if u = b.uses[key]; u == nil {
			u = &use{at: now}
			b.uses[key] = u
		}
	}
	u.Spent = max(0, u.Spent-now.Sub(u.at).Minutes()*float64(aMinute))
	u.at = now
	return u
}

// sweep forgets who has nothing and was quiet for a minute.
func (b *Budget) sweep(now time.Time) {
	b.swept = now
	for key, u := range b.uses {
		if u.Running == 0 && now.Sub(u.at) >= time.Minute && now.Sub(u.told) >= tellEvery {
			delete(b.uses, key)
		}
	}
}

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
