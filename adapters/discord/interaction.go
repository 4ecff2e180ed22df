package discord

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/bwmarrin/discordgo"

	"parley/adapters"
)

// isDirect reports whether an interaction happened between one person and the
// bot. Commands can also be used in other people's direct messages.
func (i interaction) isDirect() bool {
	if i.GuildID != "" {
		return false
	}
	if i.Context != nil {
		return *i.Context == uint(discordgo.InteractionContextBotDM)
	}
	return i.Channel != nil && i.Channel.Type == discordgo.ChannelTypeDM
}

func normalizeInteraction(in dispatched, around scene) ([]adapters.Event, error) {
	var i interaction
	if err := json.Unmarshal(in.data, &i); err != nil {
		return nil, err
	}
	user := i.User
	if i.Member != nil && i.Member.User != nil {
		user = i.Member.User
	}
	if !isSnowflake(i.ID) || !isSnowflake(i.ChannelID) || user == nil || !isSnowflake(user.ID) {
		return nil, errMalformed
	}
	event := around.base(adapters.EventMessage, i.ChannelID, i.GuildID)
	event.Direct = i.isDirect()
	event.ID, event.MessageID = "i:"+i.ID, around.reference
	event.Sequence, event.Time = sequenceOf(i.ID), timeOf(i.ID)
	event.Sender = senderOf(user, i.Member, around.me)
	return i.fill(event)
}

// fill sets what the kind of interaction brings.
func (i interaction) fill(event adapters.Event) ([]adapters.Event, error) {
	switch {
	case i.Type == discordgo.InteractionApplicationCommand && i.Data.Type <= 1 && i.Data.Name != "":
		event.Command = &adapters.NativeCommand{Name: strings.ToLower(i.Data.Name), Args: arguments(i.Data.Options, 0)}
		event.Text = strings.TrimSpace("/" + event.Command.Name + " " + event.Command.Args)
	case i.Type == discordgo.InteractionMessageComponent && i.Message != nil:
		event.Kind, event.MessageID = adapters.EventButton, i.Message.ID
		event.Text = strings.TrimSpace(i.Data.CustomID + " " + strings.Join(i.Data.Values, " "))
	default:
		return nil, fmt.Errorf("%w: interaction of type %d", errUnknownKind, i.Type)
	}
	return []adapters.Event{event}, nil
}

const optionDepthMax = 3 // groups, sub-commands, options

// arguments are the values of a command's options, in order.
func arguments(options []json.RawMessage, depth int) string {
	var words []string
	for _, raw := range options {
		var option struct {
			Name    string            `json:"name"`
			Value   any               `json:"value"`
			Options []json.RawMessage `json:"options"`
		}
		if json.Unmarshal(raw, &option) != nil || depth >= optionDepthMax {
			continue
		}
		if option.Value != nil {
			words = append(words, fmt.Sprint(option.Value))
			continue
		}
		words = append(words, option.Name, arguments(option.Options, depth+1))
	}
	return strings.TrimSpace(strings.Join(words, " "))
}

// acknowledge gives an interaction the answer that Discord wants within three
// seconds: that the real one follows. It returns the reference under which the
// real one is delivered, or nothing when Discord did not take the answer (most
// often because the event is a late one); then the answer is an ordinary
// message.
func (a *Adapter) acknowledge(ctx context.Context, data json.RawMessage) string {
	var i interaction
	if json.Unmarshal(data, &i) != nil || !isSnowflake(i.ID) || i.Token == "" {
		return ""
	}
	kind := discordgo.InteractionResponseDeferredChannelMessageWithSource
	switch i.Type {
	case discordgo.InteractionApplicationCommand:
	case discordgo.InteractionMessageComponent:
		kind = discordgo.InteractionResponseDeferredMessageUpdate
	default:
		return ""
	}
	ctx, cancel := context.WithTimeout(ctx, a.times.callback)
	defer cancel()
	path := "/interactions/" + i.ID + "/" + url.PathEscape(i.Token) + "/callback"
	_, err := a.rest.call(ctx, http.MethodPost, path, &discordgo.InteractionResponse{Type: kind}, nil)
	failed, _ := errors.AsType[*apiError](err)
	if failed != nil && failed.code != discordgo.ErrCodeInteractionHasAlreadyBeenAcknowledged {
		a.log.Warn("an interaction could not be acknowledged; it is answered by an ordinary message", "interaction", i.ID, "error", scrubbed(failed, i.Token))
		return ""
	}
	return a.seals.seal(i.ID, i.Token)
}

// scrubbed is an error's text without the token of an interaction.
func scrubbed(err error, token string) string {
	return strings.ReplaceAll(err.Error(), token, "***")
}
