package fakediscord_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"
	"go.uber.org/goleak"

	"parley/test/fakediscord"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// client is the least there is to talk to Discord.
type client struct {
	t    *testing.T
	fake *fakediscord.Server
	http http.Client
}

func newClient(t *testing.T, config fakediscord.Config) *client {
	t.Helper()
	c := &client{t: t, fake: fakediscord.Start(t, config)}
	c.http.Transport = &http.Transport{DisableKeepAlives: true}
	return c
}

func (c *client) call(method, path, body string) (int, string) {
	c.t.Helper()
	return c.as("Bot "+c.fake.Token(), method, path, body)
}

func (c *client) as(authorization, method, path, body string) (int, string) {
	c.t.Helper()
	request, err := http.NewRequestWithContext(c.t.Context(), method, c.fake.URL()+path, strings.NewReader(body))
	if err != nil {
		c.t.Fatal(err)
	}
	request.Header.Set("Authorization", authorization)
	request.Header.Set("User-Agent", "DiscordBot (https://example.org, 1)")
	response, err := c.http.Do(request)
	if err != nil {
		c.t.Fatal(err)
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		c.t.Fatal(err)
	}
	return response.StatusCode, string(answer)
}

func say(text, more string) string {
	return fmt.Sprintf(`{"content":%q,"allowed_mentions":{"parse":[],"replied_user":false}%s}`, text, more)
}

func TestRESTIsStrict(t *testing.T) {
	t.Parallel()
	c := newClient(t, fakediscord.Config{})
	guild := c.fake.NewGuild("g")
	path := "/channels/" + c.fake.NewChannel(guild, "general") + "/messages"
	for _, test := range []struct {
		body   string
		status int
		code   string
	}{
		{say("fine", ""), 200, `"id"`},
		{say(strings.Repeat("x", 2000), ""), 200, `"id"`},
		{say(strings.Repeat("x", 2001), ""), 400, "50035"},
		{say(strings.Repeat("🦊", 1001), ""), 400, "50035"},
		{say(" ", ""), 400, "50006"},
		{say("x", `,"nonce":"12345678901234567890123456"`), 400, "50035"},
		{say("x", `,"enforce_nonce":true`), 400, "50035"},
		{say("x", `,"message_reference":{"message_id":"1"}`), 400, "message_reference"},
		{say("x", `,"message_reference":{"message_id":"1","fail_if_not_exists":false}`), 200, `"id"`},
	} {
		status, answer := c.call("POST", path, test.body)
		if status != test.status || !strings.Contains(answer, test.code) {
			t.Errorf("%s: %d %s", test.body, status, answer)
		}
	}
	c.fake.AssertNoViolations(t)
	if status, _ := c.as("Bot wrong", "POST", path, say("x", "")); status != 401 {
		t.Errorf("a wrong token is %d", status)
	}
	if status, answer := c.call("POST", "/channels/1/messages", say("x", "")); status != 404 || !strings.Contains(answer, "10003") {
		t.Errorf("an unknown channel is %d %s", status, answer)
	}
}

func TestNonce(t *testing.T) {
	t.Parallel()
	c := newClient(t, fakediscord.Config{})
	channel := c.fake.NewChannel(c.fake.NewGuild("g"), "general")
	for range 2 {
		c.call("POST", "/channels/"+channel+"/messages", say("x", `,"nonce":"n","enforce_nonce":true`))
	}
	c.call("POST", "/channels/"+channel+"/messages", say("x", `,"nonce":"n"`))
	if n := len(c.fake.Messages(channel)); n != 2 {
		t.Errorf("%d messages", n)
	}
}

func TestViolations(t *testing.T) {
	t.Parallel()
	c := newClient(t, fakediscord.Config{})
	channel := "/channels/" + c.fake.NewChannel(c.fake.NewGuild("g"), "general") + "/messages"
	for i, do := range []func(){
		func() { c.call("GET", "/users/@me/relationships", "") },
		func() { c.call("POST", channel, `{"content":"x"}`) },
		func() { c.call("POST", channel, `{"content":"x","allowed_mentions":{"parse":null}}`) },
		func() { c.call("POST", channel, say("x", `,"surprise":1`)) },
	} {
		do()
		if n := len(c.fake.Violations()); n != i+1 {
			t.Errorf("after %d violations %d are recorded", i+1, n)
		}
	}
}

// gateway is one socket of a client.
type gateway struct {
	t  *testing.T
	ws *websocket.Conn
}

type frame struct {
	Op   int             `json:"op"`
	Data json.RawMessage `json:"d"`
	Seq  int64           `json:"s"`
	Type string          `json:"t"`
}

func (c *client) dial() *gateway {
	c.t.Helper()
	_, answer := c.call("GET", "/gateway/bot", "")
	var bot struct {
		URL string `json:"url"`
	}
	if err := json.Unmarshal([]byte(answer), &bot); err != nil {
		c.t.Fatal(err)
	}
	ws, response, err := websocket.DefaultDialer.DialContext(c.t.Context(), bot.URL+"?v=10&encoding=json", nil)
	if err != nil {
		c.t.Fatal(err)
	}
	response.Body.Close()
	g := &gateway{t: c.t, ws: ws}
	c.t.Cleanup(func() { ws.Close() })
	if hello := g.next(); hello.Op != 10 {
		c.t.Fatalf("hello is %+v", hello)
	}
	return g
}

func (g *gateway) send(text string) {
	g.t.Helper()
	if err := g.ws.WriteMessage(websocket.TextMessage, []byte(text)); err != nil {
		g.t.Fatal(err)
	}
}

func (g *gateway) next() frame {
	g.t.Helper()
	f, err := g.read()
	if err != nil {
		g.t.Fatal(err)
	}
	return f
}

func (g *gateway) read() (f frame, err error) {
	_ = g.ws.SetReadDeadline(time.Now().Add(time.Minute))
	err = g.ws.ReadJSON(&f)
	return f, err
}

func (g *gateway) until(kind string) frame {
	g.t.Helper()
	for {
		if f := g.next(); f.Type == kind {
			return f
		}
	}
}

func (c *client) identify(g *gateway, intents int) string {
	c.t.Helper()
	g.send(fmt.Sprintf(`{"op":2,"d":{"token":%q,"intents":%d,"properties":{"os":"linux"}}}`, c.fake.Token(), intents))
	var ready struct {
		SessionID string `json:"session_id"`
	}
	if err := json.Unmarshal(g.until("READY").Data, &ready); err != nil {
		c.t.Fatal(err)
	}
	return ready.SessionID
}

func (c *client) resume(g *gateway, session string, seq int64) {
	g.send(fmt.Sprintf(`{"op":6,"d":{"token":%q,"session_id":%q,"seq":%d}}`, c.fake.Token(), session, seq))
}

const allIntents = 1 | 1<<9 | 1<<12 | 1<<15

func TestIdentifyIsStrict(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		config fakediscord.Config
		frame  string
		code   int
	}{
		"token":        {frame: `{"op":2,"d":{"token":"x","intents":1,"properties":{}}}`, code: 4004},
		"no intents":   {frame: `{"op":2,"d":{"token":"TOKEN","properties":{}}}`, code: 4013},
		"unknown":      {frame: `{"op":2,"d":{"token":"TOKEN","intents":1073741824,"properties":{}}}`, code: 4013},
		"privileged":   {frame: `{"op":2,"d":{"token":"TOKEN","intents":2,"properties":{}}}`, code: 4014},
		"content":      {config: fakediscord.Config{NoContentIntent: true}, frame: `{"op":2,"d":{"token":"TOKEN","intents":32768,"properties":{}}}`, code: 4014},
		"shard":        {frame: `{"op":2,"d":{"token":"TOKEN","intents":1,"shard":[1,1],"properties":{}}}`, code: 4010},
		"needs shards": {config: fakediscord.Config{Shards: 2}, frame: `{"op":2,"d":{"token":"TOKEN","intents":1,"properties":{}}}`, code: 4011},
		"not JSON":     {frame: `hello`, code: 4002},
		"operation":    {frame: `{"op":99}`, code: 4001},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newClient(t, test.config)
			g := c.dial()
			g.send(strings.ReplaceAll(test.frame, "TOKEN", c.fake.Token()))
			if _, err := g.read(); !websocket.IsCloseError(err, test.code) {
				t.Errorf("%v, want %d", err, test.code)
			}
		})
	}
}

func TestContentIsHeldBack(t *testing.T) {
	t.Parallel()
	c := newClient(t, fakediscord.Config{})
	alice := c.fake.NewUser("alice")
	group := c.fake.NewChannel(c.fake.NewGuild("g"), "general")
	g := c.dial()
	c.identify(g, allIntents&^(1<<15))
	for _, test := range []struct{ channel, text, want string }{
		{group, "secret", ""},
		{group, "<@" + c.fake.Bot().ID + "> hello", "<@" + c.fake.Bot().ID + "> hello"},
		{c.fake.DM(alice), "direct", "direct"},
	} {
		c.fake.Post(test.channel, alice, test.text)
		var message struct {
			Content string `json:"content"`
		}
		if err := json.Unmarshal(g.until("MESSAGE_CREATE").Data, &message); err != nil || message.Content != test.want {
			t.Errorf("%q is seen as %q, %v", test.text, message.Content, err)
		}
	}
}

func TestResume(t *testing.T) {
	t.Parallel()
	c := newClient(t, fakediscord.Config{})
	alice := c.fake.NewUser("alice")
	direct := c.fake.DM(alice)
	first := c.dial()
	session := c.identify(first, allIntents)
	c.fake.Post(direct, alice, "one")
	seen := first.until("MESSAGE_CREATE").Seq
	c.fake.KillTCP()
	c.fake.Post(direct, alice, "two")
	second := c.dial()
	c.resume(second, session, seen)
	if f := second.until("MESSAGE_CREATE"); f.Seq != seen+1 || !strings.Contains(string(f.Data), "two") {
		t.Errorf("replayed: %+v", f)
	}
	last := second.until("RESUMED").Seq
	second.send(fmt.Sprintf(`{"op":1,"d":%d}`, last))
	if f := second.next(); f.Op != 11 {
		t.Errorf("a heartbeat is answered by %+v", f)
	}
	third := c.dial()
	c.resume(third, session, seen)
	if _, err := third.read(); !websocket.IsCloseError(err, 4007) {
		t.Errorf("what a heartbeat confirmed is replayed: %v", err)
	}
	fourth := c.dial()
	c.resume(fourth, "session-unknown", 1)
	if f := fourth.next(); f.Op != 9 || string(f.Data) != "false" {
		t.Errorf("an unknown session is %+v", f)
	}
}

func TestClosing1000EndsTheSession(t *testing.T) {
	t.Parallel()
	c := newClient(t, fakediscord.Config{})
	first := c.dial()
	session := c.identify(first, allIntents)
	_ = first.ws.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(1000, ""), time.Now().Add(time.Second))
	c.fake.Until(t, "a violation", func() bool { return len(c.fake.Violations()) == 1 })
	second := c.dial()
	c.fake.Until(t, "the end of the session", func() bool { return c.fake.Connected() == 0 })
	c.resume(second, session, 1)
	if f := second.next(); f.Op != 9 {
		t.Errorf("%+v", f)
	}
}
