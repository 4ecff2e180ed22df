package bot

import (
	"context"
	"sync"
	"time"

	"parley/adapters"
	"parley/routing"
	"parley/sessions"
)

// Bounds of the cache of people.
const (
	personFor  = 5 * time.Second
	peopleMax  = 10_000
	localOwner = "owner" // the part of a local owner's identity behind its platform
)

// people says who is behind an identity and what he may do: from the
// configuration and from the store, whose word is kept for at most personFor.
type people struct {
	store      sessions.Users
	configured map[adapters.Identity]routing.Role

	mu      sync.Mutex
	known   map[string]personKnown // by identity
	changes int                    // grows when something known is forgotten
}

type personKnown struct {
	user  sessions.User
	until time.Time
}

func newPeople(config Config) *people {
	p := &people{store: config.Store, configured: map[adapters.Identity]routing.Role{}, known: map[string]personKnown{}}
	for _, platform := range []adapters.Platform{adapters.Web, adapters.CLI, adapters.API} {
		p.configured[LocalOwner(platform)] = routing.Owner
	}
	for _, group := range []struct {
		role routing.Role
		ids  []adapters.Identity
	}{{routing.Member, config.Members}, {routing.Owner, config.Owners}, {routing.Blocked, config.Blocked}} {
		for _, id := range group.ids {
			p.configured[id] = group.role
		}
	}
	return p
}

// LocalOwner is the identity of whoever holds the gateway's token, or sits at
// its terminal: an owner, unless the configuration says otherwise. The API lets
// nobody else speak as it.
func LocalOwner(platform adapters.Platform) adapters.Identity {
	return adapters.NewIdentity(platform, localOwner)
}

// of is who sent an event, and his role. An error means that it is not known:
// the event must not be taken in. Of this very bot and of others nobody is
// asked, since what they say is never taken in.
func (p *people) of(ctx context.Context, sender adapters.Sender) (sessions.User, routing.Role, error) {
	identity := string(sender.ID)
	if !asked(sender) {
		user := alone(identity)
		return user, p.role(user), nil
	}
	user, err := p.ask(ctx, identity)
	if err != nil {
		return sessions.User{}, "", err
	}
	return user, p.role(user), nil
}

// asked: the store may know more of a sender than what he calls himself.
func asked(sender adapters.Sender) bool {
	return !sender.Self && !sender.Bot && sessions.CheckIdentity(string(sender.ID)) == nil
}

func alone(identity string) sessions.User {
	return sessions.User{ID: identity, Identities: []string{identity}}
}

// role is what a user may do: nothing if any of his identities is blocked, else
// the most that the configuration gives to any of them or the store to him.
func (p *people) role(user sessions.User) routing.Role {
	role := routing.Guest
	if user.Role != "" {
		role = routing.Role(user.Role)
	}
	for _, identity := range append([]string{user.ID}, user.Identities...) {
		configured, found := p.configured[adapters.Identity(identity)]
		if !found {
			continue
		}
		if configured.Rank() == 0 || role.Rank() == 0 {
			return routing.Blocked
		}
		if configured.Rank() > role.Rank() {
			role = configured
		}
	}
	if role.Rank() == 0 {
		return routing.Blocked // a word of another version too
	}
	return role
}

// ask answers from the cache or the store. What changed while the store was
// asked is not kept.
func (p *people) ask(ctx context.Context, identity string) (sessions.User, error) {
	p.mu.Lock()
	answer, found := p.known[identity]
	changes := p.changes
	p.mu.Unlock()
	if found && time.Now().Before(answer.until) {
		return answer.user, nil
	}
	user, err := p.store.Who(ctx, identity)
	if err != nil {
		return sessions.User{}, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.changes == changes {
		if len(p.known) >= peopleMax {
			clear(p.known)
		}
		p.known[identity] = personKnown{user: user, until: time.Now().Add(personFor)}
	}
	return user, nil
}

// forget drops what is known of identities: the store answers otherwise now.
func (p *people) forget(identities ...string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.changes++
	for _, identity := range identities {
		delete(p.known, identity)
	}
}
