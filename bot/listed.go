package bot

import (
	"context"
	"sync"
	"time"

	"parley/sessions"
)

// Bounds of the cache of allowed chats.
const (
	listedFor = 5 * time.Second
	listedMax = 10_000
)

// listed caches which chats are allowed, for at most listedFor.
type listed struct {
	store sessions.Chats
	mu    sync.Mutex
	known map[string]listedAnswer
}

type listedAnswer struct {
	listed bool
	until  time.Time
}

func newListed(store sessions.Chats) *listed {
	return &listed{store: store, known: map[string]listedAnswer{}}
}

// ask answers from the cache or the store. An error means that it is not known:
// the event must not be taken in.
func (l *listed) ask(ctx context.Context, chat string) (bool, error) {
	l.mu.Lock()
	answer, found := l.known[chat]
	l.mu.Unlock()
	if found && time.Now().Before(answer.until) {
		return answer.listed, nil
	}
	yes, err := l.store.ChatListed(ctx, chat)
	if err == nil {
		l.remember(chat, yes)
	}
	return yes, err
}

func (l *listed) remember(chat string, yes bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.known) >= listedMax {
		clear(l.known)
	}
	l.known[chat] = listedAnswer{listed: yes, until: time.Now().Add(listedFor)}
}

func (l *listed) forget(chat string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.known, chat)
}
