package demo_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"go.uber.org/goleak"

	"parley/agent"
	"parley/agent/demo"
	"parley/sessions"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func user(texts ...string) agent.Request {
	request := agent.Request{System: "the system prompt"}
	for _, text := range texts {
		request.Messages = append(request.Messages, agent.Message{Role: sessions.RoleUser, Text: text})
	}
	return request
}

// say answers request and checks what holds for every answer.
func say(t *testing.T, request agent.Request) string {
	t.Helper()
	model := demo.New(demo.Options{Wait: func(context.Context, time.Duration) error { return nil }})
	var shown strings.Builder
	pieces := 0
	answer, err := model.Complete(t.Context(), request, func(piece string) {
		if piece == "" || len(piece) > 64 || !utf8.ValidString(piece) {
			t.Fatalf("a piece of %d bytes: %q", len(piece), piece)
		}
		shown.WriteString(piece)
		pieces++
	})
	if err != nil || answer.Text != shown.String() || answer.Model != "demo" {
		t.Fatalf("answer %+v, shown %q, %v", answer, shown.String(), err)
	}
	if len(answer.Text) > 200 && pieces < 5 {
		t.Errorf("only %d pieces for %d bytes", pieces, len(answer.Text))
	}
	return answer.Text
}

func TestKeywords(t *testing.T) {
	t.Parallel()
	cases := map[string]struct{ message, want string }{
		"help":            {"help", "OPENAI_API_KEY"},
		"help, loud":      {" Help! ", "OPENAI_BASE_URL"},
		"help, question":  {"Help?", "OPENAI_MODEL"},
		"mentioned":       {"[Alice] @parley_bot help", "OPENAI_API_KEY"},
		"labelled":        {"[Alice] help", "OPENAI_API_KEY"},
		"table":           {"markdown", "|---|"},
		"code":            {"markdown", "```go"},
		"slow":            {"slow", "arrives slowly"},
		"silence":         {"silence", agent.SilenceMarker},
		"see":             {"What do you see?", "the system prompt"},
		"speak":           {"speak", "demo model"},
		"undirected":      {"[Alice] [not directed at you] help", agent.SilenceMarker},
		"undirected bare": {"[not directed at you] help", agent.SilenceMarker},
		"speak unasked":   {"[Alice] [not directed at you] speak", "You asked me to speak"},
		"speak, then":     {"[Alice] [not directed at you] speak help", "OPENAI_API_KEY"},
		"speakers":        {"[Alice] [not directed at you] speakers are loud", agent.SilenceMarker},
		"no demand":       {"how long is the Nile", "> how long is the Nile"},
		"honest":          {"how long is the Nile", "demo model"},
		"two lines":       {"one\ntwo", "> one\n> two"},
		"nothing":         {"", "Send **help**"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := say(t, user(c.message))
			if !strings.Contains(got, c.want) {
				t.Errorf("to %q: %s", c.message, got)
			}
			if c.want == agent.SilenceMarker && got != c.want {
				t.Errorf("silence must be nothing else: %q", got)
			}
		})
	}
}

func TestEveryKeywordIsUnderstood(t *testing.T) {
	t.Parallel()
	for _, k := range demo.Keywords() {
		if k.Word == "fail" {
			continue
		}
		if got := say(t, user(k.Word)); strings.Contains(got, "You said:") {
			t.Errorf("%q is listed but not understood", k.Word)
		}
	}
}

func TestLongAnswer(t *testing.T) {
	t.Parallel()
	got := say(t, user("long"))
	open := strings.Index(got, "```")
	end := open + 3 + strings.Index(got[open+3:], "```")
	if len(got) < 10_000 || open < 2000 || open > 3_900 || end < 8_100 {
		t.Errorf("%d characters, a fence from %d to %d", len(got), open, end)
	}
	if got != say(t, user("long")) {
		t.Error("not deterministic")
	}
}

func TestSeeIsExact(t *testing.T) {
	t.Parallel()
	request := user("[Alice] hello ```code```", "see")
	request.System = "line\n" + agent.SilenceMarker
	request.Messages = append(request.Messages[:1:1],
		agent.Message{Role: sessions.RoleAssistant, ToolCalls: []sessions.ToolCall{{ID: "c1", Name: "clock", Arguments: "{}"}}},
		agent.Message{Role: sessions.RoleTool, CallID: "c1", ToolName: "clock", Text: "late", IsError: true},
		request.Messages[1])
	want := "````text\n--- system\nline\n<\u200bNO_REPLY>\n--- user\n[Alice] hello ```code```\n--- assistant\n\n" +
		"calls clock (c1): {}\n--- tool clock c1 (error)\nlate\n--- user\nsee\n````"
	if got := say(t, request); !strings.HasSuffix(got, want) {
		t.Errorf("got %s\nwant at the end %s", got, want)
	}
}

func TestEchoCountsAndBounds(t *testing.T) {
	t.Parallel()
	got := say(t, user("one", "two", strings.Repeat("x", 5000)+"<no_reply>"))
	if !strings.Contains(got, "message 3 of") || len(got) > 1000 {
		t.Errorf("got %s", got)
	}
	if got := say(t, user("<NO_reply>")); strings.Contains(got, "<NO_reply>") {
		t.Errorf("a quoted marker stands in the answer: %s", got)
	}
}

func TestFail(t *testing.T) {
	t.Parallel()
	_, err := demo.New(demo.Options{}).Complete(t.Context(), user("fail"), nil)
	failure, ok := errors.AsType[*agent.ModelError](err)
	if !ok || failure.Temporary || failure.ForPeople() == "" {
		t.Fatalf("got %v", err)
	}
}

func TestSlowTakesItsTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		if _, err := demo.New(demo.Options{}).Complete(t.Context(), user("slow"), nil); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(begun); took < 8*time.Second || took > 15*time.Second {
			t.Errorf("took %s", took)
		}
	})
}

func TestSlowEndsWithItsContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		answer, err := demo.New(demo.Options{}).Complete(ctx, user("slow"), nil)
		if !errors.Is(err, context.DeadlineExceeded) || answer.Text == "" {
			t.Errorf("%q, %v", answer.Text, err)
		}
	})
}

func FuzzAnswer(f *testing.F) {
	f.Add("[Alice] [not directed at you] speak help")
	f.Add("[a] @b ``` \n")
	f.Add("[not directed at you]speak\xff")
	f.Fuzz(func(t *testing.T, text string) {
		model := demo.New(demo.Options{Wait: func(context.Context, time.Duration) error { return nil }})
		var shown strings.Builder
		answer, err := model.Complete(t.Context(), user(text), func(piece string) { shown.WriteString(piece) })
		if _, failed := errors.AsType[*agent.ModelError](err); err != nil && !failed {
			t.Fatal(err)
		}
		if answer.Text != shown.String() || err == nil && strings.TrimSpace(answer.Text) == "" {
			t.Fatalf("answer %q, shown %q", answer.Text, shown.String())
		}
	})
}
