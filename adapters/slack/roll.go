package slack

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strconv"

	"parley/adapters"
)

// Bounds of asking for somebody's channels.
const (
	rollPage  = 999 // channels an answer names; Slack asks for fewer than 1,000
	rollPages = 10
)

// channelList is an answer of users.conversations.
type channelList struct {
	Channels []listedChannel `json:"channels"`
	Metadata struct {
		Next string `json:"next_cursor"`
	} `json:"response_metadata"`
}

type listedChannel struct {
	ID string `json:"id"`
}

// InChat implements [adapters.Roll]: among the channels that somebody is in, and
// that the bot may know of, is the surface's.
func (a *Adapter) InChat(ctx context.Context, surface adapters.Surface, who adapters.Identity) (bool, error) {
	id := who.User(adapters.Slack)
	if id == "" {
		return false, fmt.Errorf("slack: %s is nobody's id there", who)
	}
	values := url.Values{"user": {id}, "types": {"public_channel,private_channel,mpim"}, "limit": {strconv.Itoa(rollPage)}}
	for range rollPages {
		var answer channelList
		_, err := a.call(ctx, "users.conversations", values, &answer)
		if refusal(err) == "user_not_found" {
			return false, nil
		}
		if err != nil {
			return false, err
		}
		if slices.Contains(answer.Channels, listedChannel{ID: surface.Chat}) {
			return true, nil
		}
		if answer.Metadata.Next == "" {
			return false, nil
		}
		values.Set("cursor", answer.Metadata.Next)
	}
	return false, fmt.Errorf("slack: %s is in more than %d channels", who, rollPages*rollPage)
}
