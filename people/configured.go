package people

import (
	"parley/adapters"
	"parley/routing"
	"parley/sessions"
)

// Role is what somebody may do.
type Role = routing.Role

// Configured is what the configuration says of identities.
type Configured map[adapters.Identity]routing.Role

// NewConfigured reads the lists of the configuration. Blocked wins over the
// others, owners over members. Whoever holds the gateway's token, or sits at its
// terminal, is an owner, unless the lists say otherwise.
func NewConfigured(owners, members, blocked []adapters.Identity) Configured {
	c := Configured{}
	for _, platform := range []adapters.Platform{adapters.Web, adapters.CLI, adapters.API} {
		c[platform.Owner()] = routing.Owner
	}
	for _, list := range []struct {
		role routing.Role
		ids  []adapters.Identity
	}{{routing.Member, members}, {routing.Owner, owners}, {routing.Blocked, blocked}} {
		for _, id := range list.ids {
			c[id] = list.role
		}
	}
	return c
}

// Role is what a user may do: nothing if they, or any of their identities, are
// blocked, else the most that the configuration gives to any of them or the
// store to the user.
func (c Configured) Role(user sessions.User) routing.Role {
	role := routing.Guest
	if user.Role != "" {
		role = routing.Role(user.Role)
	}
	configured, found := c.of(user)
	switch {
	case role.Rank() == 0, found && configured.Rank() == 0: // a word of another version too
		return routing.Blocked
	case found && configured.Rank() > role.Rank():
		return configured
	}
	return role
}

// of is what the configuration says of a user, by any of their identities.
func (c Configured) of(user sessions.User) (role routing.Role, found bool) {
	for _, identity := range append([]string{user.ID}, user.Identities...) {
		configured, named := c[adapters.Identity(identity)]
		switch {
		case !named:
		case configured.Rank() == 0:
			return routing.Blocked, true
		case !found || configured.Rank() > role.Rank():
			role, found = configured, true
		}
	}
	return role, found
}
