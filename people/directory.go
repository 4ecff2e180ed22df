package people

import (
	"context"
	"sync"
	"time"

	"parley/adapters"
	"parley/routing"
	"parley/sessions"
)

// Bounds of what is remembered of people.
const (
	KnownFor = 5 * time.Second
	knownMax = 10_000
)

// Directory says who is behind an identity and what they may do: from the
// configuration and from the store, whose word is kept for at most KnownFor.
// Its methods may be called from any goroutine.
type Directory struct {
	store      sessions.Users
	configured Configured

	mu      sync.Mutex
	known   map[string]known // by identity
	changes int              // grows when something known is forgotten
}

type known struct {
	user  sessions.User
	until time.Time
}

// NewDirectory knows nobody yet.
func NewDirectory(store sessions.Users, configured Configured) *Directory {
	return &Directory{store: store, configured: configured, known: map[string]known{}}
}

// Of is who sent an event, and their role. An error means that it is not known:
// the event must not be taken in. Of this very bot and of others nobody is
// asked, since what they say is never taken in.
func (d *Directory) Of(ctx context.Context, sender adapters.Sender) (sessions.User, routing.Role, error) {
	identity := string(sender.ID)
	if known := sessions.CheckIdentity(identity) == nil; sender.Self || sender.Bot || !known {
		user := sessions.User{ID: identity, Identities: []string{identity}}
		return user, d.Role(user), nil
	}
	user, err := d.Ask(ctx, identity)
	if err != nil {
		return sessions.User{}, "", err
	}
	return user, d.Role(user), nil
}

// Role is what a user may do.
func (d *Directory) Role(user sessions.User) routing.Role { return d.configured.Role(user) }

// Ask is the user behind an identity, as known here or told by the store. What
// changes while the store is asked is not kept.
func (d *Directory) Ask(ctx context.Context, identity string) (sessions.User, error) {
	d.mu.Lock()
	answer, found := d.known[identity]
	changes := d.changes
	d.mu.Unlock()
	if found && time.Now().Before(answer.until) {
		return answer.user, nil
	}
	user, err := d.store.Who(ctx, identity)
	if err != nil {
		return sessions.User{}, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.changes == changes {
		if len(d.known) >= knownMax {
			clear(d.known)
		}
		d.known[identity] = known{user: user, until: time.Now().Add(KnownFor)}
	}
	return user, nil
}

// Knows reports whether the store need not be asked for an identity just now.
func (d *Directory) Knows(identity string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	answer, found := d.known[identity]
	return found && time.Now().Before(answer.until)
}

// Forget drops what is known of identities: the store answers otherwise now.
func (d *Directory) Forget(identities ...string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.changes++
	for _, identity := range identities {
		delete(d.known, identity)
	}
}
