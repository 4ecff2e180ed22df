package delivery

import (
	"slices"

	"parley/adapters"
)

// Connections are the adapters of a gateway, one per account.
type Connections []adapters.Adapter

// Of finds the adapter of a surface's account, and the surface of a key. The
// adapter is nil where there is none.
func (c Connections) Of(key string) (adapters.Adapter, adapters.Surface) {
	surface, err := adapters.ParseSurface(key)
	if err != nil {
		return nil, surface
	}
	for _, adapter := range c {
		if adapter.Capabilities().Platform == surface.Platform && adapter.Account() == surface.Account {
			return adapter, surface
		}
	}
	return nil, surface
}

// Problem says why nothing can be delivered to a surface; empty: it can. An
// account that is still being learned counts as each of its platform's.
func (c Connections) Problem(key string) string {
	surface, err := adapters.ParseSurface(key)
	switch {
	case err != nil:
		return "not a surface key; /whoami prints the key of a chat"
	case surface.Platform == adapters.Schedule:
		return "a schedule is no place where people read"
	case surface.Platform.Own() && surface.Account == adapters.Local:
		return ""
	}
	for _, adapter := range c {
		if adapter.Capabilities().Platform == surface.Platform && (adapter.Account() == surface.Account || adapter.Account() == "") {
			return ""
		}
	}
	return "no connection to it is configured"
}

// split cuts text for a surface. Which bot an adapter is may not be known yet;
// the rules of its platform are. Without any, the text stays whole until there
// is a connection that takes or refuses it.
func (c Connections) split(surface adapters.Surface, text string, format adapters.Format) []string {
	for _, adapter := range c {
		if adapter.Capabilities().Platform == surface.Platform {
			return adapter.Split(text, format)
		}
	}
	return []string{text}
}

// learning reports whether an adapter of a platform does not know yet which
// bot it is.
func (c Connections) learning(platform adapters.Platform) bool {
	return slices.ContainsFunc(c, func(adapter adapters.Adapter) bool {
		return adapter.Capabilities().Platform == platform && adapter.Account() == ""
	})
}
