package bot

import (
	"bytes"
	"context"
	"log/slog"
	"regexp"
	"strings"
	"sync"
	"testing"

	"parley/adapters"
	"parley/api"
	"parley/sessions"
)

func codeIn(t *testing.T, text string) string {
	t.Helper()
	found := regexp.MustCompile("`/link ([^`]+)`").FindStringSubmatch(text)
	if found == nil {
		t.Fatalf("no code in %q", text)
	}
	return found[1]
}

func TestTwoAccountsBecomeOnePerson(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, on option) {
		s := newStage(t, on)
		mine := s.talks("member", "mine")
		link := s.event("member", "/link", false)
		code := codeIn(t, s.answers(link))
		s.takeIn(link) // delivered again: the code that people hold stays good
		expect(t, s.ask("stranger", "/link "+code), "`telegram:member` and `telegram:stranger`", "same conversations")
		expect(t, s.ask("stranger", "/whoami"), "`telegram:stranger` (member)", "Your accounts: `telegram:member` and `telegram:stranger`")
		expect(t, s.ask("stranger", "/sessions"), "**mine**")
		expect(t, s.ask("stranger", "/resume "+mine.ID), "“mine”")
		record := s.talks("stranger", "from there")
		if record.ID != mine.ID || len(record.Participants) != 1 || record.Participants[0] != "telegram:member" {
			t.Fatalf("%+v", record)
		}
		if got := s.answers(s.event("owner", "/whoami", true)); strings.Contains(got, "accounts") {
			t.Fatalf("a group is told %q", got)
		}
		expect(t, s.ask("other", "/link "+code), textLinkWrong)
		code = codeIn(t, s.ask("member", "/link"))
		expect(t, s.ask("stranger", "/link "+code), textLinkSame)
	})
}

func TestWhoMayLink(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	if got := s.ask("stranger", "/link"); got != textLinkStranger {
		t.Fatalf("a stranger was given a code: %q", got)
	}
	if got := s.answers(s.event("owner", "/link", true)); got != textLinkAlone {
		t.Fatalf("a group was told %q", got)
	}
	code := codeIn(t, s.ask("member", "/link"))
	if got := s.answers(s.event("owner", "/link "+code, true)); got != textLinkAlone {
		t.Fatalf("a group was told %q", got)
	}
	expect(t, s.ask("owner", "/link "+code), "You are an owner", "`yes`")
	expect(t, s.ask("member", "/whoami"), "(member)")
	expect(t, s.ask("owner", "/link "+code+" yes"), "you are one person")
	expect(t, s.ask("member", "/whoami"), "(owner)")
}

func TestGuessingCodesIsSlow(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	code := codeIn(t, s.ask("member", "/link"))
	for range linkTries {
		expect(t, s.ask("stranger", "/link guess"), textLinkWrong)
	}
	expect(t, s.ask("stranger", "/link "+code), textLinkSlow)
	expect(t, s.ask("other", "/link "+code), "you are one person")
}

// The code is in no log, even one with the texts of messages, and in no entry.
func TestACodeIsKeptNowhere(t *testing.T) {
	t.Parallel()
	var logged lockedBuffer
	s := newStage(t, func(c *Config) {
		c.LogText, c.Log = true, slog.New(slog.NewTextHandler(&logged, &slog.HandlerOptions{Level: slog.LevelDebug}))
	})
	s.talks("member", "hello")
	code := codeIn(t, s.ask("member", "/link"))
	page := adapters.Surface{Platform: adapters.Web, Account: adapters.Local, Chat: "phone"}
	said, err := s.bot.Say(t.Context(), api.Say{Surface: page, Text: "/link " + code, Append: true})
	if err != nil || said.Seq != 0 || said.Reply != textLinkNotSaid {
		t.Fatalf("%+v, %v", said, err)
	}
	s.saysInGroup("owner", "@bot hello")
	s.hears("echo: [OWNER] @bot hello")
	s.answers(s.event("member", "/link "+code, true))
	expect(t, s.ask("stranger", "/link "+code), "you are one person")
	if text := logged.String(); strings.Contains(text, code) || !strings.Contains(text, "hello") {
		t.Fatalf("the log has the code:\n%s", text)
	}
	for _, record := range []sessions.Record{s.idle("member"), s.idle("group")} {
		for _, entry := range s.entries(record) {
			if strings.Contains(string(entry.Payload), code) {
				t.Fatalf("%s has the code: %s", record.ID, entry.Payload)
			}
		}
	}
	lock, err := s.store.Lock(context.Background(), memoryOf(s.event("stranger", "", false).Surface.Key()), sessions.Claimer{Owner: "test", For: sessions.LeaseFor})
	if err != nil || strings.Contains(lock.Data, code) {
		t.Fatalf("%+v, %v", lock, err)
	}
}

type lockedBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}
