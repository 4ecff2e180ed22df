package e2e

import (
	"testing"

	"parley/test/fakediscord"
)

// onDiscord is a server with a channel, a bot and two people.
type onDiscord struct {
	fake    *fakediscord.Server
	people  [2]fakediscord.User
	channel string
}

func openDiscord(t *testing.T) platform {
	t.Helper()
	d := &onDiscord{fake: fakediscord.Start(t, fakediscord.Config{CallbackFor: patience})}
	d.people = [2]fakediscord.User{d.fake.NewUser("Olga"), d.fake.NewUser("Gus")}
	d.channel = d.fake.NewChannel(d.fake.NewGuild("Lunch club"), "lunch")
	return d
}

func (d *onDiscord) name() string { return "discord" }

func (d *onDiscord) env() map[string]string {
	return map[string]string{
		"DISCORD_BOT_TOKEN": d.fake.Token(), "DISCORD_API_URL": d.fake.URL(),
		"GATEWAY_OWNERS": "discord:" + d.people[olga].ID,
	}
}

func (d *onDiscord) secrets() []string          { return []string{d.fake.Token()} }
func (d *onDiscord) connected() bool            { return d.fake.Connected() > 0 }
func (d *onDiscord) dm(who person) string       { return d.fake.DM(d.people[who]) }
func (d *onDiscord) group() string              { return d.channel }
func (d *onDiscord) mention(text string) string { return "<@" + d.fake.Bot().ID + "> " + text }

func (d *onDiscord) say(who person, chat, text string) string {
	return d.fake.Post(chat, d.people[who], text)
}

func (d *onDiscord) command(who person, chat, name string) {
	d.fake.Command(chat, d.people[who], name, "")
}

func (d *onDiscord) again(chat, id string)      { d.fake.Redeliver(chat, id) }
func (d *onDiscord) revoke()                    { d.fake.Revoke() }
func (d *onDiscord) violations() []string       { return d.fake.Violations() }
func (d *onDiscord) shown(chat string) []string { return texts(d.fake.Messages(chat)) }

// taken asks for a heartbeat, which is what confirms.
func (d *onDiscord) taken(_, id string) bool {
	d.fake.AskHeartbeat()
	return d.fake.Confirmed(id)
}

func texts(messages []fakediscord.Message) []string {
	out := make([]string, len(messages))
	for i, message := range messages {
		out[i] = message.Text
	}
	return out
}

func TestDiscord(t *testing.T) { playAll(t, openDiscord) }
