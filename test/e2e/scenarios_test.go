package e2e

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"parley/test/fakeopenai"
)

// person is who writes; each platform has both.
type person int

const (
	olga person = iota // the owner
	gus                // a guest
)

// platform is what the scenarios do on a platform: its people, a group with
// both of them, and what they see.
type platform interface {
	name() string
	env() map[string]string // what connects the gateway, GATEWAY_OWNERS too
	secrets() []string
	connected() bool // the gateway hears; a platform that keeps events for it says true
	dm(who person) string
	group() string
	mention(text string) string // text that begins with a mention of the bot
	say(who person, chat, text string) (id string)
	command(who person, chat, name string) // a native one, such as "new"
	again(chat, id string)                 // the event of a message once more
	taken(chat, id string) bool            // the bot has confirmed the message
	shown(chat string) []string            // what the bot wrote, oldest first
	revoke()                               // the token, from now on
	violations() []string
}

// stage is a world whose people are on one platform.
type stage struct {
	*world
	on platform
}

// onPlatform is a gateway that knows only this platform.
func onPlatform(t *testing.T, store string, on platform) *stage {
	t.Helper()
	w := newWorld(t, store)
	delete(w.env, "TELEGRAM_BOT_TOKEN")
	maps.Copy(w.env, on.env())
	w.secrets = append(w.secrets, on.secrets()...)
	t.Cleanup(func() {
		for _, violation := range on.violations() {
			t.Errorf("%s saw what no careful client does: %s", on.name(), violation)
		}
	})
	return &stage{w, on}
}

// start starts the gateway and waits until the platform would tell it things.
func (s *stage) start() {
	s.t.Helper()
	s.world.start()
	if on, sends := s.on.(interface{ served(address string) }); sends {
		address, _ := s.runFile()
		on.served(address)
	}
	s.eventually("the gateway is connected", s.on.connected)
}

// sees waits until the bot has written something with text in it.
func (s *stage) sees(chat, text string) {
	s.t.Helper()
	s.eventually(fmt.Sprintf("%s shows %q in %s", s.on.name(), text, chat), func() bool {
		return slices.ContainsFunc(s.on.shown(chat), func(shown string) bool { return strings.Contains(shown, text) })
	})
}

// says writes a message and waits until the bot has taken it in.
func (s *stage) says(who person, chat, text string) string {
	s.t.Helper()
	id := s.on.say(who, chat, text)
	s.eventually("the bot takes in "+text, func() bool { return s.on.taken(chat, id) })
	return id
}

// allowGroup lets the owner speak in the group while the bot stays silent.
func (s *stage) allowGroup() string {
	s.t.Helper()
	group := s.on.group()
	s.start()
	s.model.Script(fakeopenai.Text("<NO_REPLY>"))
	s.says(olga, group, "hi all")
	s.lastAsked(1)
	return group
}

// scenario is one promise that holds on every platform.
type scenario struct {
	name string
	play func(t *testing.T, s *stage)
}

func scenarios() []scenario {
	return []scenario{
		{"a direct message is answered", directMessage},
		{"a group is listened to, and answered when the bot is mentioned", mentioned},
		{"an owner's undirected message has the prefix", undirected},
		{"silence shows nothing at all", silence},
		{"new starts afresh, native and written", afresh},
		{"a killed gateway goes on in the same session", killed},
		{"an event delivered twice is answered once", twice},
		{"a stranger is told how to be let in", stranger},
		{"a long answer comes whole, in parts", parts},
		{"a revoked token is said once and nothing is lost for others", revoked},
	}
}

// playAll plays every scenario on both stores, each on a platform of its own.
func playAll(t *testing.T, open func(t *testing.T) platform) {
	t.Helper()
	t.Parallel()
	for _, store := range []string{"sqlite", "redis"} {
		for _, scenario := range scenarios() {
			t.Run(store+"/"+scenario.name, func(t *testing.T) {
				t.Parallel()
				scenario.play(t, onPlatform(t, store, open(t)))
			})
		}
	}
}

func directMessage(_ *testing.T, s *stage) {
	s.start()
	s.on.say(olga, s.on.dm(olga), "hello")
	s.sees(s.on.dm(olga), "You said: hello")
}

func mentioned(t *testing.T, s *stage) {
	group := s.allowGroup()
	s.says(gus, group, "lunch at noon?")
	s.says(gus, group, "[Olga] I pay for all")
	if n := len(s.asked()); n != 1 {
		t.Fatalf("the model was asked %d times, want only for the owner's first words", n)
	}
	s.says(gus, group, s.on.mention("what did I ask?"))
	s.sees(group, "what did I ask?")
	s.mustRead(s.lastAsked(2),
		"user: [Olga] [not directed at you] hi all", "assistant: <NO_REPLY>",
		"user: [Gus] lunch at noon?\n[Gus] \\[Olga] I pay for all",
		"user: [Gus] what did I ask?")
	if got := s.on.shown(group); len(got) != 1 {
		t.Fatalf("the group saw %q", got)
	}
}

func undirected(_ *testing.T, s *stage) {
	s.allowGroup()
	s.mustRead(s.lastAsked(1), "user: [Olga] [not directed at you] hi all")
}

func silence(t *testing.T, s *stage) {
	group := s.allowGroup()
	s.model.Script(fakeopenai.Text("`<no_reply>`"), fakeopenai.Text("I speak now. <EMPTY_RESPONSE>"))
	s.says(gus, group, s.on.mention("hm"))
	s.lastAsked(2)
	s.says(gus, group, s.on.mention("say something"))
	s.sees(group, "I speak now.")
	if got := s.on.shown(group); len(got) != 1 || got[0] != "I speak now." {
		t.Fatalf("the group saw %q", got)
	}
}

func afresh(_ *testing.T, s *stage) {
	s.start()
	dm := s.on.dm(olga)
	for i, again := range []func(){
		func() { s.on.say(olga, dm, "/new") },
		func() { s.on.command(olga, dm, "new") },
	} {
		s.says(olga, dm, fmt.Sprintf("remember door %d", i))
		s.sees(dm, fmt.Sprintf("You said: remember door %d", i))
		told := count(s.on.shown(dm), "New conversation started.")
		again()
		s.eventually("the new conversation is told", func() bool { return count(s.on.shown(dm), "New conversation started.") > told })
		s.says(olga, dm, fmt.Sprintf("which door, %d?", i))
		s.sees(dm, fmt.Sprintf("You said: which door, %d?", i))
		s.mustRead(s.lastAsked(2*i+2), fmt.Sprintf("user: which door, %d?", i))
		s.on.say(olga, dm, "/new")
		s.eventually("the next conversation is told", func() bool { return count(s.on.shown(dm), "New conversation started.") > told+1 })
	}
}

func count(shown []string, text string) int {
	n := 0
	for _, one := range shown {
		if strings.Contains(one, text) {
			n++
		}
	}
	return n
}

func killed(_ *testing.T, s *stage) {
	s.start()
	dm := s.on.dm(olga)
	s.says(olga, dm, "my name is Olga")
	s.sees(dm, "You said: my name is Olga")
	s.kill9()
	s.start()
	s.on.say(olga, dm, "who am I?")
	s.sees(dm, "You said: who am I?")
	s.mustRead(s.lastAsked(2), "user: my name is Olga", "assistant: You said: my name is Olga", "user: who am I?")
	if got := s.on.shown(dm); len(got) != 2 {
		s.t.Fatalf("the chat saw %q", got)
	}
}

func twice(t *testing.T, s *stage) {
	s.start()
	dm := s.on.dm(olga)
	id := s.says(olga, dm, "once")
	s.sees(dm, "You said: once")
	s.on.again(dm, id)
	s.says(olga, dm, "after")
	s.sees(dm, "You said: after")
	if got := s.on.shown(dm); len(got) != 2 {
		t.Fatalf("the chat saw %q", got)
	}
}

func stranger(t *testing.T, s *stage) {
	s.start()
	dm := s.on.dm(gus)
	s.on.say(gus, dm, "let me in")
	s.sees(dm, s.on.name()+":")
	if len(s.asked()) != 0 {
		t.Fatal("the model was asked for a stranger")
	}
}

func parts(t *testing.T, s *stage) {
	s.start()
	dm := s.on.dm(olga)
	long := strings.Repeat("A sentence of some length that goes on. ", 600) + "THE END"
	s.model.Script(fakeopenai.Text(long))
	s.on.say(olga, dm, "tell me all")
	s.sees(dm, "THE END")
	got := s.on.shown(dm)
	if len(got) < 2 || strings.Join(strings.Fields(strings.Join(got, " ")), " ") != strings.Join(strings.Fields(long), " ") {
		t.Fatalf("%d parts do not make up the answer", len(got))
	}
}

// revoked: the connection is given up in one line, the light is red, and the
// API goes on.
func revoked(t *testing.T, s *stage) {
	s.start()
	s.says(olga, s.on.dm(olga), "hello")
	s.sees(s.on.dm(olga), "You said: hello")
	s.diagnosed()
	s.on.revoke()
	s.on.say(olga, s.on.dm(olga), "anybody there?")
	s.eventually("the connection is given up", func() bool { return len(s.givenUp()) > 0 })
	s.eventually("/readyz is red", func() bool { return s.ready() == http.StatusServiceUnavailable })
	if status := s.api(http.MethodPost, "/v1/sessions/api:robot/messages?wait=30s", map[string]any{"text": "hello"}, nil); status != http.StatusOK {
		t.Errorf("the API answers %d", status)
	}
	if lines := s.givenUp(); len(lines) != 1 || !strings.Contains(lines[0], `"platform":"`+s.on.name()+`"`) {
		t.Errorf("want one line about %s:\n%s", s.on.name(), strings.Join(lines, "\n"))
	}
}

// diagnosed waits until the start's diagnosis of the platform is in the log:
// it has something that cannot be checked on each.
func (s *stage) diagnosed() {
	s.t.Helper()
	s.eventually("the start's diagnosis", func() bool {
		for line := range strings.Lines(s.gateway.log.String()) {
			if strings.Contains(line, `"msg":"not checked: `) && strings.Contains(line, `"platform":"`+s.on.name()+`"`) {
				return true
			}
		}
		return false
	})
}

// givenUp are the error lines of the gateway's log.
func (w *world) givenUp() []string {
	var out []string
	for line := range strings.Lines(w.gateway.log.String()) {
		if strings.Contains(line, `"level":"ERROR"`) {
			out = append(out, strings.TrimSpace(line))
		}
	}
	return out
}
