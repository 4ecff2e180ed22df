package e2e

import (
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"parley/test/fakeslack"
)

// page is a chat page with a name of its own.
type page struct {
	*stage
	surface, session string
}

type saidOnPage struct {
	Session, Reply string
	Turn           bool
	Entries        []apiEntry
}

// say writes on the page, and waits for an answer where one comes.
func (p *page) say(text string) saidOnPage {
	p.t.Helper()
	var said saidOnPage
	path := "/v1/sessions/" + url.PathEscape(p.session) + "/messages?wait=60s"
	if code := p.api(http.MethodPost, path, map[string]any{"text": text, "surface": p.surface}, &said); code != http.StatusOK {
		p.t.Fatalf("%s: %d %+v", text, code, said)
	}
	if said.Session != "" {
		p.session = said.Session
	}
	return said
}

// reads is what the page shows: the log, oldest first.
func (p *page) reads() []string {
	p.t.Helper()
	var log struct{ Entries []apiEntry }
	if code := p.api(http.MethodGet, "/v1/sessions/"+url.PathEscape(p.session)+"/entries", nil, &log); code != http.StatusOK {
		p.t.Fatal(code)
	}
	var out []string
	for _, entry := range log.Entries {
		if entry.Type == "message" {
			out = append(out, entry.Payload.Role+": "+entry.Payload.Text)
		}
	}
	return out
}

// groupSessions are the ids of the groups' conversations.
func (s *stage) groupSessions() (ids []string) {
	s.t.Helper()
	var found struct{ Sessions []struct{ ID string } }
	if code := s.api(http.MethodGet, "/v1/sessions?type=group", nil, &found); code != http.StatusOK {
		s.t.Fatal(code)
	}
	for _, session := range found.Sessions {
		ids = append(ids, session.ID)
	}
	return ids
}

// settings gives the gateway a configuration file.
func (w *world) settings(text string) {
	w.t.Helper()
	file := filepath.Join(w.t.TempDir(), "gateway.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		w.t.Fatal(err)
	}
	w.flags = append(w.flags, "--config", file)
}

// One conversation is held in a Slack thread and on the page at once: both see
// all of it, and answers go where they were asked; with fanout to both.
func TestOneConversationOnSlackAndOnThePage(t *testing.T) {
	t.Parallel()
	for _, store := range []string{"sqlite", "redis"} {
		for _, fanout := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, fanout %t", store, fanout), func(t *testing.T) {
				t.Parallel()
				slack := openSlack(t).(*onSlack)
				s := onPlatform(t, store, slack)
				s.settings(fmt.Sprintf("sessions: {fanout: %t}\n", fanout))
				heldOnBoth(t, s, slack, fanout)
			})
		}
	}
}

func heldOnBoth(t *testing.T, s *stage, slack *onSlack, fanout bool) {
	t.Helper()
	s.start()
	root := slack.people[olga].Say(slack.channel, slack.mention("where do we go?"))
	s.sees(slack.channel, "You said: [Olga] where do we go?")
	thread := func(text string) {
		slack.people[olga].Say(slack.channel, slack.mention(text), fakeslack.With("thread_ts", root))
	}
	thread("to Oslo?")
	s.sees(slack.channel, "You said: [Olga] to Oslo?")

	browser := &page{stage: s, surface: "web:local:phone", session: "web:phone"}
	own := browser.say("my own first words")
	if len(own.Entries) == 0 || browser.session != "web:phone" {
		t.Fatalf("%+v", own)
	}
	ids := s.groupSessions()
	at := slices.IndexFunc(ids, func(id string) bool {
		return strings.Contains(strings.Join((&page{stage: s, session: id}).reads(), "\n"), "to Oslo?")
	})
	if at < 0 {
		t.Fatalf("the thread has no conversation; there are %q", ids)
	}
	threadSession := ids[at]
	resumed := browser.say("/resume " + threadSession)
	if resumed.Session != threadSession || !strings.Contains(resumed.Reply, "`/resume web:phone` goes back") {
		t.Fatalf("%+v", resumed)
	}
	answered := browser.say("or to Bergen?")
	if !answered.Turn || len(answered.Entries) == 0 {
		t.Fatalf("%+v", answered)
	}
	thread("then by boat")
	s.sees(slack.channel, "You said: [Olga] then by boat")

	asked := s.asked()
	got := strings.Join(read(asked[len(asked)-1]), "\n")
	for _, part := range []string{"[Olga] to Oslo?", "or to Bergen?", "[Olga] then by boat"} {
		if !strings.Contains(got, part) {
			t.Fatalf("the model does not read %q:\n%s", part, got)
		}
	}
	if strings.Contains(got, "my own first words") {
		t.Fatalf("the page's own conversation came along:\n%s", got)
	}
	s.eventually("the page shows all of it", func() bool {
		shown := strings.Join(browser.reads(), "\n")
		return strings.Contains(shown, "to Oslo?") && strings.Contains(shown, "or to Bergen?") && strings.Contains(shown, "You said: [Olga] then by boat")
	})
	copied := func() bool {
		return slices.ContainsFunc(slack.shown(slack.channel), func(text string) bool { return strings.Contains(text, "or to Bergen?") })
	}
	if fanout {
		s.eventually("Slack shows the answer to the page", copied)
	} else if copied() {
		t.Fatalf("Slack shows the page's answer: %q", slack.shown(slack.channel))
	}
	if back := browser.say("/resume web:phone"); back.Session != "web:phone" {
		t.Fatalf("%+v", back)
	}
	browser.say("home again")
	if shown := strings.Join(browser.reads(), "\n"); !strings.Contains(shown, "my own first words") || strings.Contains(shown, "Oslo") {
		t.Fatalf("the page shows %q", shown)
	}
}
