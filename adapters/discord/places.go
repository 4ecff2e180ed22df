package discord

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"sync"

	"github.com/bwmarrin/discordgo"
)

// placesMax bounds the channels and servers that are remembered; beyond it
// any of them is forgotten and looked up again when needed.
const placesMax = 20_000

// place is what has to be known of a channel. The zero value is a channel of
// which nothing is known.
type place struct {
	ID      string
	Guild   string
	Name    string
	Parent  string // of a thread: its channel; else empty
	HasBot  bool   // a thread that the bot began or has joined
	Unknown bool   // Discord does not tell us about it
}

// directory remembers channels and the names of servers. After a resume by
// another process it is empty, so it asks Discord for what it does not know.
type directory struct {
	fetch func(ctx context.Context, channel string) (place, error)

	mu       sync.Mutex
	channels map[string]place
	guilds   map[string]string
}

// find returns what is known of a channel, asking if necessary. An error is
// temporary. Threads never move, so the surface made of a place is stable.
func (d *directory) find(ctx context.Context, channel string) (place, error) {
	d.mu.Lock()
	known, found := d.channels[channel]
	d.mu.Unlock()
	if found {
		return known, nil
	}
	fetched, err := d.fetch(ctx, channel)
	if err != nil {
		return place{}, err
	}
	if !fetched.Unknown {
		d.put(fetched)
	}
	return fetched, nil
}

func (d *directory) put(p place) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.channels = remember(d.channels, p.ID, p)
}

func remember[V any](m map[string]V, key string, value V) map[string]V {
	if m == nil {
		m = map[string]V{}
	}
	if _, known := m[key]; !known && len(m) >= placesMax {
		for other := range m {
			delete(m, other)
			break
		}
	}
	m[key] = value
	return m
}

func (d *directory) guildName(guild string) string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.guilds[guild]
}

// channelData is what is read of a channel.
type channelData struct {
	ID       string                `json:"id"`
	GuildID  string                `json:"guild_id"`
	Name     string                `json:"name"`
	Type     discordgo.ChannelType `json:"type"`
	ParentID string                `json:"parent_id"`
	OwnerID  string                `json:"owner_id"` // of a thread
	Member   *struct{}             `json:"member"`   // of a thread: there if the bot has joined
}

func (c channelData) isThread() bool {
	return c.Type == discordgo.ChannelTypeGuildNewsThread || c.Type == discordgo.ChannelTypeGuildPublicThread ||
		c.Type == discordgo.ChannelTypeGuildPrivateThread
}

// guildCreate is what is read of a GUILD_CREATE event.
type guildCreate struct {
	ID       string        `json:"id"`
	Name     string        `json:"name"`
	Channels []channelData `json:"channels"`
	Threads  []channelData `json:"threads"`
}

// learn takes in an event about channels and servers; the error says that it
// could not be read.
func (d *directory) learn(kind string, data json.RawMessage, bot string) error {
	switch kind {
	case "GUILD_CREATE", "GUILD_UPDATE", "THREAD_LIST_SYNC":
		return d.learnGuild(kind, data, bot)
	}
	var channel channelData
	if err := json.Unmarshal(data, &channel); err != nil {
		return err
	}
	switch kind {
	case "CHANNEL_DELETE", "THREAD_DELETE":
		d.forget(channel.ID)
	case "THREAD_MEMBER_UPDATE":
		d.join(channel.ID)
	default:
		d.learnChannel(channel, channel.GuildID, bot)
	}
	return nil
}

func (d *directory) forget(channel string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.channels, channel)
}

// join notes that the bot is in a thread.
func (d *directory) join(thread string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if known, found := d.channels[thread]; found {
		known.HasBot = true
		d.channels[thread] = known
	}
}

func (d *directory) learnGuild(kind string, data json.RawMessage, bot string) error {
	var guild guildCreate
	if err := json.Unmarshal(data, &guild); err != nil {
		return err
	}
	if kind == "THREAD_LIST_SYNC" {
		guild.ID = ""
	}
	if guild.ID != "" && guild.Name != "" {
		d.mu.Lock()
		d.guilds = remember(d.guilds, guild.ID, guild.Name)
		d.mu.Unlock()
	}
	for _, list := range [][]channelData{guild.Channels, guild.Threads} {
		for _, channel := range list {
			d.learnChannel(channel, guild.ID, bot)
		}
	}
	return nil
}

func (d *directory) learnChannel(channel channelData, guild, bot string) {
	if channel.ID == "" {
		return
	}
	if channel.GuildID == "" {
		channel.GuildID = guild
	}
	d.put(placeOf(channel, bot))
}

func placeOf(channel channelData, bot string) place {
	p := place{ID: channel.ID, Guild: channel.GuildID, Name: channel.Name}
	if channel.isThread() {
		p.Parent = channel.ParentID
		p.HasBot = channel.Member != nil || channel.OwnerID != "" && channel.OwnerID == bot
	}
	return p
}

// fetchPlace asks Discord for a channel. One that is gone or forbidden is a
// channel of which nothing is known, not an error.
func (a *Adapter) fetchPlace(ctx context.Context, channel string) (place, error) {
	ctx, cancel := context.WithTimeout(ctx, a.times.call)
	defer cancel()
	var found channelData
	_, err := a.rest.call(ctx, http.MethodGet, "/channels/"+url.PathEscape(channel), nil, &found)
	if failed, ok := errors.AsType[*apiError](err); ok && failed.gone() {
		return place{ID: channel, Unknown: true}, nil
	}
	if err != nil {
		return place{}, err
	}
	found.ID = channel
	return placeOf(found, a.self().user), nil
}
