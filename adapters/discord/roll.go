package discord

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"

	"github.com/bwmarrin/discordgo"

	"parley/adapters"
)

// InChat implements [adapters.Roll]: whether somebody is on the surface's
// server. Who may read one channel of it Discord does not tell simply.
func (a *Adapter) InChat(ctx context.Context, surface adapters.Surface, who adapters.Identity) (bool, error) {
	id := who.User(adapters.Discord)
	if id == "" {
		return false, fmt.Errorf("discord: %s is nobody's id there", who)
	}
	place, err := a.places.find(ctx, surface.Chat)
	if err != nil {
		return false, err
	}
	if place.Guild == "" {
		return false, fmt.Errorf("discord: the bot does not know the channel %s any more", surface.Chat)
	}
	ctx, cancel := context.WithTimeout(ctx, a.times.call)
	defer cancel()
	_, err = a.rest.call(ctx, http.MethodGet, "/guilds/"+url.PathEscape(place.Guild)+"/members/"+url.PathEscape(id), nil, nil)
	failed, refused := errors.AsType[*apiError](err)
	if refused && failed.json && (failed.code == discordgo.ErrCodeUnknownMember || failed.code == discordgo.ErrCodeUnknownUser) {
		return false, nil
	}
	return err == nil, err
}
