package main

import (
	"context"
	"fmt"
	"regexp"

	"parley/adapters"
	"parley/cmd/gateway/client"
	"parley/sessions"
)

// The name that a conversation has unless told, and how long one may be: a
// bound in the expression would take 100 KB.
const (
	sessionDefault = "main"
	sessionNameMax = 100
)

var sessionName = regexp.MustCompile(`^[A-Za-z0-9._-]+$`)

func checkName(name string) error {
	if len(name) > sessionNameMax || !sessionName.MatchString(name) {
		return fmt.Errorf("%q cannot be the name of a conversation; use up to %d letters, digits and ._-", name, sessionNameMax)
	}
	return nil
}

// lastHere is the name of the terminal conversation of this directory in which
// something was said last; where there is none, the usual name.
func (p *program) lastHere(ctx context.Context, c *client.Client) (string, error) {
	query := sessions.Query{WorkspaceID: p.Workspace(), Type: sessions.Direct, Limit: sessions.FindDefault,
		States: []sessions.State{sessions.StateCreated, sessions.StateActive, sessions.StateSuspended}}
	for query.WorkspaceID != "" {
		found, err := c.Find(ctx, query)
		if err != nil {
			return "", fmt.Errorf("cannot find out which conversation was held here last: %w; --session names one", err)
		}
		for _, session := range found.Sessions {
			if name := nameOf(session.Surfaces); name != "" && session.MessageCount > 0 {
				return name, nil
			}
		}
		if query.Cursor = found.Next; query.Cursor == "" {
			break
		}
	}
	return sessionDefault, nil
}

// nameOf is the name of the first terminal among surfaces; empty: none is one.
func nameOf(surfaces []string) string {
	for _, key := range surfaces {
		surface, err := adapters.ParseSurface(key)
		if err == nil && surface.Platform == adapters.CLI && checkName(surface.Chat) == nil {
			return surface.Chat
		}
	}
	return ""
}
