package discord_test

import (
	"net/http"
	"testing"
	"time"

	"go.uber.org/goleak"

	"parley/adapters"
	"parley/adapters/adaptertest"
	"parley/adapters/discord"
	"parley/internal/secret"
	"parley/test/fakediscord"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestConformance(t *testing.T) { adaptertest.Run(t, newWorld) }

const postRoute = "POST /channels/{channel}/messages"

type maker func(discord.Config) (*discord.Adapter, error)

func (m maker) on(t *testing.T, fake *fakediscord.Server, options adaptertest.Options) *discord.Adapter {
	t.Helper()
	adapter, err := m(discord.Config{
		Token: secret.New(fake.Token()), APIURL: fake.URL(), Locker: options.Locker, Logger: options.Log,
	})
	if err != nil {
		t.Fatal(err)
	}
	return adapter
}

func newWorld(t *testing.T) adaptertest.World {
	t.Helper()
	fake := fakediscord.Start(t, fakediscord.Config{Heartbeat: time.Hour, CallbackFor: waitMax})
	guild := fake.NewGuild("Workshop")
	group := fake.NewChannel(guild, "general")
	thread := fake.NewThread(group, "a side matter")
	alice := fake.NewUser("alice")
	direct := fake.DM(alice)
	as := func(user fakediscord.User, options ...fakediscord.Options) func(adaptertest.Place, string) string {
		return func(place adaptertest.Place, text string) string {
			return fake.Post(string(place), user, text, options...)
		}
	}
	robot := fake.NewUser("robot")
	robot.Bot = true
	return adaptertest.World{
		New: func(t *testing.T, options adaptertest.Options) adapters.Adapter {
			t.Helper()
			return maker(discord.NewQuick).on(t, fake, options)
		},
		LimitsAccount: true,
		Secrets:       []string{fake.Token()},
		Direct:        adaptertest.Place(direct), Group: adaptertest.Place(group), Thread: adaptertest.Place(thread),
		Post: as(alice),
		PostMention: func(place adaptertest.Place, text string) string {
			return fake.Post(string(place), alice, "<@"+fake.Bot().ID+"> "+text)
		},
		PostReply: func(place adaptertest.Place, to, text string) string {
			return fake.Post(string(place), alice, text, fakediscord.Options{ReplyTo: to})
		},
		PostBot:        as(robot),
		PostUnverified: as(fake.NewUser("hook"), fakediscord.Options{Webhook: true}),
		Edit:           func(place adaptertest.Place, id, text string) { fake.Edit(string(place), id, text) },
		Leave:          func(adaptertest.Place) { fake.Leave(guild, alice) },
		Redeliver:      func(place adaptertest.Place, id string) { fake.Redeliver(string(place), id) },
		Strange:        func() { strange(fake, group, guild) },
		Acknowledged:   func(id string) bool { return confirmed(fake, id) },
		Await:          func(t *testing.T, what string, done func() bool) { t.Helper(); awaitBoth(t, fake, what, done) },
		Shown:          func(place adaptertest.Place) []string { return shown(fake, string(place)) },
		Fail:           func(fault adaptertest.Fault, n int) { fake.Fail(postRoute, n, faultOf(fault)) },
		Disconnect:     fake.KillTCP,
		Deafen:         fake.RefuseSockets,
		Revoke:         fake.Revoke,
		Down:           fake.Close,
		Check:          func(t *testing.T) { t.Helper(); fake.AssertNoViolations(t) },
	}
}

// awaitBoth asks on every change of the fake, and, since health changes after
// it, every now and then.
func awaitBoth(t *testing.T, fake *fakediscord.Server, what string, done func() bool) {
	t.Helper()
	ticker, timeout := time.NewTicker(2*time.Millisecond), time.NewTimer(waitMax)
	defer ticker.Stop()
	defer timeout.Stop()
	for !done() {
		select {
		case <-ticker.C:
		case <-timeout.C:
			t.Fatalf("waited in vain for %s; calls: %+v", what, fake.Calls())
		}
	}
}

// confirmed reports what the client's last heartbeat said, and asks for one more.
func confirmed(fake *fakediscord.Server, id string) bool {
	fake.AskHeartbeat()
	return fake.Confirmed(id)
}

func shown(fake *fakediscord.Server, place string) []string {
	var out []string
	for _, m := range fake.Messages(place) {
		out = append(out, m.Text)
	}
	return out
}

func faultOf(fault adaptertest.Fault) fakediscord.Fault {
	switch fault {
	case adaptertest.RateLimited:
		return fakediscord.RateLimited(adaptertest.RetryAfter, false)
	case adaptertest.GlobalLimit:
		return fakediscord.RateLimited(adaptertest.RetryAfter, true)
	case adaptertest.Gone:
		return fakediscord.Fault{Status: http.StatusForbidden, Body: `{"code":50001,"message":"Missing Access"}`}
	case adaptertest.ServerError:
		return fakediscord.Fault{Status: http.StatusBadGateway, Body: "<html>bad gateway</html>"}
	case adaptertest.Hang:
		return fakediscord.Fault{Hang: true, After: true}
	case adaptertest.Broken:
		return fakediscord.Fault{Drop: true, After: true}
	}
	return fakediscord.Fault{Status: http.StatusTeapot}
}

func strange(fake *fakediscord.Server, channel, guild string) {
	fake.Emit("SOMETHING_NEW", map[string]any{"channel_id": channel, "guild_id": guild, "novelty": true})
	fake.Emit("MESSAGE_CREATE", map[string]any{"channel_id": channel, "guild_id": guild, "id": 17, "content": []string{"no"}})
	fake.Emit("MESSAGE_CREATE", map[string]any{"guild_id": guild})
	fake.Emit("GUILD_UPDATE", map[string]any{"id": guild, "name": 12})
	fake.Emit("INTERACTION_CREATE", map[string]any{"id": "1", "type": 99, "token": "interaction-of-no-kind", "channel_id": channel, "guild_id": guild})
	fake.SendRaw(`{"op":77,"d":null}`)
}
