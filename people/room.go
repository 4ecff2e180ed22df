package people

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"parley/routing"
	"parley/sessions"
)

// Store is what the verbs need of a store.
type Store interface {
	sessions.Users
	sessions.Locks
}

// Room is where people are let in. Its methods may be called from any
// goroutine. It holds nothing between two calls.
type Room struct {
	Store      Store
	Configured Configured
	Now        func() time.Time // nil: time.Now
	// Tell says to somebody who asked to be let in that they are; once per key.
	// Nil, as on a store at rest: they are not told.
	Tell func(ctx context.Context, key string, to Request) error
}

// Person is somebody as owners see them.
type Person struct {
	ID         string       `json:"id"`
	Identities []string     `json:"identities"`
	Role       routing.Role `json:"role"`                 // in force
	Stored     routing.Role `json:"stored,omitempty"`     // as given by an owner; empty: none was
	Configured routing.Role `json:"configured,omitempty"` // as in the configuration; empty: nothing
}

// Conditions of a Room, besides those of its store. sessions.ErrNotFound:
// nobody waits with that code.
var (
	ErrNoRole = errors.New("a role is owner, member, guest or blocked, or empty to take it back")
	ErrSelf   = errors.New("you would shut yourself out; another owner can do that")
)

// ConfiguredError is returned when the configuration says something else of somebody, and is
// stronger.
type ConfiguredError struct {
	Identity string
	Role     routing.Role
}

// Error says where to change it.
func (e *ConfiguredError) Error() string {
	return fmt.Sprintf("the configuration makes %s %s, which is stronger; change it there", e.Identity, roleSaid(e.Role))
}

func roleSaid(role routing.Role) string {
	switch role {
	case routing.Owner:
		return "an owner"
	case routing.Member, routing.Guest:
		return "a " + string(role)
	default:
		return string(role)
	}
}

// ListMax bounds how many people are listed.
const ListMax = 1000

func (r *Room) now() time.Time {
	if r.Now == nil {
		return time.Now()
	}
	return r.Now()
}

// Give gives somebody a role: who waits with a code, or who has an identity. An
// empty role takes back what was given. Whoever waited waits no more, and is
// told when they are let in. The same answer to the same code again changes
// nothing more. by is the identity of who does it; empty: nobody that could
// shut themselves out. ErrNoRole, ErrSelf, *ConfiguredError.
func (r *Room) Give(ctx context.Context, by, who string, role routing.Role) (Person, error) {
	if role != "" && role != routing.Blocked && role.Rank() == 0 {
		return Person{}, ErrNoRole
	}
	asked, before, err := r.resolve(ctx, who)
	switch {
	case err != nil:
		return Person{}, err
	case before == nil:
	case before.Role == role:
		return r.Get(ctx, before.Identity)
	default:
		return Person{}, sessions.ErrNotFound
	}
	user, err := r.Store.Who(ctx, asked.Identity)
	if err != nil {
		return Person{}, err
	}
	if by != "" && user.Is(by) && role != routing.Owner {
		return Person{}, ErrSelf
	}
	if err := r.mayGive(user, asked.Identity, role); err != nil {
		return Person{}, err
	}
	if user, err = r.Store.SetRole(ctx, asked.Identity, string(role)); err != nil {
		return Person{}, err
	}
	if asked.Code != "" && r.Tell != nil && r.Configured.Role(user).Rank() >= routing.Member.Rank() {
		if err := r.Tell(ctx, "people:in:"+asked.Code+":"+asked.Identity, asked); err != nil {
			return Person{}, err
		}
	}
	return r.person(user), r.answer(ctx, user, role)
}

// mayGive refuses what would have no effect, or one that the configuration does
// not mean.
func (r *Room) mayGive(user sessions.User, identity string, role routing.Role) error {
	configured, found := r.Configured.of(user)
	if !found || role == "" || role.Rank() > configured.Rank() && configured.Rank() > 0 || role == configured {
		return nil
	}
	return &ConfiguredError{Identity: identity, Role: configured}
}

// resolve is the request with a code, or the one of an identity, which needs
// none. before is what was said to a code that waits no more; nil: it waits.
func (r *Room) resolve(ctx context.Context, who string) (asked Request, before *answered, err error) {
	who = strings.Trim(who, "` ")
	isIdentity := strings.Contains(who, ":")
	if isIdentity {
		if err := sessions.CheckIdentity(who); err != nil {
			return Request{}, nil, err
		}
	}
	kept, err := r.requests(ctx)
	if err != nil {
		return Request{}, nil, err
	}
	if isIdentity {
		asked = Request{Identity: who}
		if at := slices.IndexFunc(kept.Waiting, func(r Request) bool { return r.Identity == who }); at >= 0 {
			asked = kept.Waiting[at]
		}
		return asked, nil, nil
	}
	if asked, found := find(kept.Waiting, who); found {
		return asked, nil, nil
	}
	if at := slices.IndexFunc(kept.Answered, func(a answered) bool { return strings.EqualFold(a.Code, who) }); at >= 0 {
		return Request{}, &kept.Answered[at], nil
	}
	return Request{}, nil, sessions.ErrNotFound
}

// Get is one person.
func (r *Room) Get(ctx context.Context, identity string) (Person, error) {
	user, err := r.Store.Who(ctx, identity)
	return r.person(user), err
}

func (r *Room) person(user sessions.User) Person {
	configured, _ := r.Configured.of(user)
	return Person{
		ID: user.ID, Identities: user.Identities, Role: r.Configured.Role(user),
		Stored: routing.Role(user.Role), Configured: configured,
	}
}

// List are the people that the configuration or the store knows something of,
// by id, at most ListMax; more tells that there are others.
func (r *Room) List(ctx context.Context) (list []Person, more bool, err error) {
	users, err := r.Store.ListUsers(ctx, "", ListMax)
	if err != nil {
		return nil, false, err
	}
	more = len(users) == ListMax
	for identity := range r.Configured {
		if slices.ContainsFunc(users, func(user sessions.User) bool { return user.Is(string(identity)) }) {
			continue
		}
		user, err := r.Store.Who(ctx, string(identity))
		if err != nil {
			return nil, false, err
		}
		if !slices.ContainsFunc(users, func(other sessions.User) bool { return other.ID == user.ID }) {
			users = append(users, user)
		}
	}
	slices.SortFunc(users, func(a, b sessions.User) int { return strings.Compare(a.ID, b.ID) })
	for _, user := range users[:min(len(users), ListMax)] {
		list = append(list, r.person(user))
	}
	return list, more, nil
}

// Everybody is whom the configuration or the store knows, and who asks to be let
// in.
type Everybody struct {
	People   []Person  `json:"people"`         // by id, at most ListMax; never nil
	More     bool      `json:"more,omitempty"` // there are others
	Requests []Request `json:"requests"`       // the oldest first; never nil
}

// Everybody reads both at once.
func (r *Room) Everybody(ctx context.Context) (Everybody, error) {
	list, more, err := r.List(ctx)
	if err != nil {
		return Everybody{}, err
	}
	waiting, err := r.Waiting(ctx)
	return Everybody{append([]Person{}, list...), more, append([]Request{}, waiting...)}, err
}

// Owners are the users who may do everything.
func (r *Room) Owners(ctx context.Context) ([]Person, error) {
	list, _, err := r.List(ctx)
	return slices.DeleteFunc(list, func(p Person) bool { return p.Role != routing.Owner }), err
}
