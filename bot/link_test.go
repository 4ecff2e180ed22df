package bot

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"log/slog"
	"regexp"
	"strings"
	"sync"
	"testing"

	"parley/adapters"
	"parley/api"
	"parley/bot/texts"
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
		expect(t, s.ask("other", "/link "+code), texts.LinkWrong)
		code = codeIn(t, s.ask("member", "/link"))
		expect(t, s.ask("stranger", "/link "+code), texts.LinkSame)
	})
}

func TestWhoMayLink(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	if got := s.ask("stranger", "/link"); got != texts.LinkStranger {
		t.Fatalf("a stranger was given a code: %q", got)
	}
	if got := s.answers(s.event("owner", "/link", true)); got != texts.LinkAlone {
		t.Fatalf("a group was told %q", got)
	}
	code := codeIn(t, s.ask("member", "/link"))
	if got := s.answers(s.event("owner", "/link "+code, true)); got != texts.LinkAlone {
		t.Fatalf("a group was told %q", got)
	}
}

// A word that somebody else may have put into an owner's mouth makes nobody an
// owner: only the bot's own question does, which nobody else has seen.
func TestAnOwnerConfirmsALinkByTheBotsQuestion(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, on option) {
		s := newStage(t, on)
		code := codeIn(t, s.ask("member", "/link"))
		for _, guess := range []string{" yes", " confirm", " 123456"} {
			expect(t, s.ask("owner", "/link "+code+guess), texts.LinkWrong)
		}
		asked := s.event("owner", "/link "+code, false)
		question := s.answers(asked)
		expect(t, question, "You are an owner", "`/link "+code+" ")
		s.takeIn(asked) // delivered again: the question that was read stays good
		expect(t, s.ask("member", "/whoami"), "(member)")
		confirm := codeIn(t, question)
		if at := s.answers(s.event("owner", "/link "+confirm, true)); at != texts.LinkAlone {
			t.Fatalf("a group was told %q", at)
		}
		other := codeIn(t, s.ask("member", "/link"))
		expect(t, s.ask("owner", "/link "+other+strings.TrimPrefix(confirm, code)), texts.LinkWrong)
		question = s.ask("owner", "/link "+other)
		expect(t, s.ask("owner", "/link "+codeIn(t, question)), "you are one person")
		expect(t, s.ask("member", "/whoami"), "(owner)")
	})
}

func TestGuessingCodesIsSlow(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	code := codeIn(t, s.ask("member", "/link"))
	for range 5 {
		expect(t, s.ask("stranger", "/link guess"), texts.LinkWrong)
	}
	expect(t, s.ask("stranger", "/link "+code), texts.LinkSlow)
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
	if err != nil || said.Seq != 0 || said.Reply != texts.LinkNotSaid {
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
	lock, err := s.store.Lock(context.Background(), memoryName(s.event("stranger", "", false)), sessions.Claimer{Owner: "test", For: sessions.LeaseFor})
	if err != nil || lock.Data == "" || strings.Contains(lock.Data, code) {
		t.Fatalf("%+v, %v", lock, err)
	}
}

// memoryName is the lock with what the commands of an event's chat remember.
func memoryName(event adapters.Event) string {
	chat := sha256.Sum256([]byte(event.Surface.Key()))
	return "commands:" + hex.EncodeToString(chat[:16])
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
