package discord

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/bwmarrin/discordgo"
)

// roles remembers by which roles a server's people name the bot: the one that
// Discord made for it, which is offered beside its name, and by configuration
// every role it has.
type roles struct {
	fetch func(ctx context.Context, guild string) ([]string, error)

	mu    sync.Mutex
	known map[string][]string // by server
}

// of is asked of Discord once. An error is temporary.
func (r *roles) of(ctx context.Context, guild string) ([]string, error) {
	r.mu.Lock()
	list, found := r.known[guild]
	r.mu.Unlock()
	if found {
		return list, nil
	}
	list, err := r.fetch(ctx, guild)
	if err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.known = remember(r.known, guild, list)
	return list, nil
}

// forget makes the next question ask Discord again: the server's roles, or the
// bot's, have changed.
func (r *roles) forget(guild string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.known, guild)
}

// fetchRoles asks Discord. A server that does not tell has none.
func (a *Adapter) fetchRoles(ctx context.Context, guild string) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, a.times.call)
	defer cancel()
	me := a.self().user
	var all []struct {
		ID   string `json:"id"`
		Tags struct {
			BotID string `json:"bot_id"`
		} `json:"tags"`
	}
	path := "/guilds/" + url.PathEscape(guild)
	if err := a.told(ctx, path+"/roles", &all); err != nil {
		return nil, err
	}
	var names []string
	for _, role := range all {
		if me != "" && role.Tags.BotID == me {
			names = append(names, role.ID)
		}
	}
	if !a.anyRole {
		return names, nil
	}
	var own struct {
		Roles []string `json:"roles"`
	}
	err := a.told(ctx, path+"/members/"+url.PathEscape(me), &own)
	return append(names, own.Roles...), err
}

// told asks for something; that it is not there, or not for us, is no error.
func (a *Adapter) told(ctx context.Context, path string, out any) error {
	_, err := a.rest.call(ctx, http.MethodGet, path, nil, out)
	if failed, ok := errors.AsType[*apiError](err); ok && failed.gone() {
		return nil
	}
	return err
}

// nameBot makes a mention of a role that names the bot one of the bot itself.
func (m *message) nameBot(around scene) {
	for _, role := range m.MentionRoles {
		written := "<@&" + role + ">"
		if !slices.Contains(around.roles, role) || !strings.Contains(m.Content, written) {
			continue
		}
		m.Content = strings.ReplaceAll(m.Content, written, "<@"+around.me.user+">")
		m.Mentions = append(m.Mentions, &discordgo.User{ID: around.me.user, Username: around.me.name, Bot: true})
	}
}
