package logging_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"parley/cmd/gateway/logging"
)

// record is a logger without colours whose clock is taken out by the tests.
func logged(options logging.Options, write func(*slog.Logger)) string {
	var out bytes.Buffer
	write(logging.New(&out, options))
	return out.String()
}

func TestLineIsAligned(t *testing.T) {
	t.Parallel()
	got := logged(logging.Options{}, func(l *slog.Logger) {
		l.With("session", "cli:main").WithGroup("http").Warn("slow", "after", 2*time.Second, slog.Group("in", "a", 1))
	})
	want := "WARN  slow" + strings.Repeat(" ", logging.MessageWidth-4) + " session=cli:main http.after=2s http.in.a=1\n"
	if _, line, _ := strings.Cut(got, " "); line != want {
		t.Errorf("got  %q\nwant %q", line, want)
	}
}

func TestLineQuotesAndSkips(t *testing.T) {
	t.Parallel()
	got := logged(logging.Options{}, func(l *slog.Logger) {
		l.Debug("not this")
		l.Info("x", "a", "two words", "b", "", "c", errors.New(`say "no"`))
	})
	if strings.Contains(got, "not this") || !strings.HasSuffix(got, ` a="two words" b="" c="say \"no\""`+"\n") {
		t.Errorf("got %q", got)
	}
}

func TestColorOnlyWhenAsked(t *testing.T) {
	t.Parallel()
	write := func(l *slog.Logger) { l.Error("x", "error", errors.New("broken")) }
	if plain := logged(logging.Options{}, write); strings.Contains(plain, "\x1b") {
		t.Errorf("escape sequences without colour: %q", plain)
	}
	if colored := logged(logging.Options{Color: true}, write); !strings.Contains(colored, "\x1b[31m") {
		t.Errorf("no colour: %q", colored)
	}
}

type holder struct{ Token string }

func (h holder) String() string { return h.Token }

func TestCredentialsAreMasked(t *testing.T) {
	t.Parallel()
	for _, token := range []string{
		"123456789:AAEhBOweik6ad9r_QXMENQjcrGbqCr4K-bc",
		"xoxb-1234567890-abcdefghijk", "xapp-1-A0123-456-abcdef",
		"MTk4NjIyNDgzNDcxOTI1MjQ4.Cl2FMQ.ZnCjm1XVW7vRze4b7Cq4se7kKWs",
		"sk-proj-abcdefghijklmnop1234", "Bearer abcdefgh12345678",
		"redis://u:hunter22@host:1/0",
	} {
		for _, asJSON := range []bool{false, true} {
			got := logged(logging.Options{JSON: asJSON}, func(l *slog.Logger) {
				l.With("w", token).Info("m "+token, "s", token, "e", errors.New("GET /bot"+token+"/x"),
					"h", holder{token}, "m", map[string]string{"k": token}, slog.Group("g", "k", token), "b", []byte(token))
			})
			secret := strings.TrimPrefix(token, "Bearer ")
			if strings.HasPrefix(token, "redis") {
				secret = "hunter22"
			}
			if strings.Contains(got, secret) {
				t.Errorf("json %v: %q shows in %s", asJSON, token, got)
			}
		}
	}
}

func TestOrdinaryValuesStay(t *testing.T) {
	t.Parallel()
	const text = "telegram:123456789:-100200300 sk-short http://127.0.0.1:8080/a@b 10:20:30"
	if got := logging.Redact(text); got != text {
		t.Errorf("got %q", got)
	}
}

func TestMessageTextOnlyWhenAsked(t *testing.T) {
	t.Parallel()
	for _, asJSON := range []bool{false, true} {
		write := func(l *slog.Logger) { l.Info("in", logging.TextKey, "private words", "a", 1) }
		if got := logged(logging.Options{JSON: asJSON}, write); strings.Contains(got, "private") {
			t.Errorf("json %v: %q", asJSON, got)
		}
		if got := logged(logging.Options{JSON: asJSON, Text: true}, write); !strings.Contains(got, "private words") {
			t.Errorf("json %v: %q", asJSON, got)
		}
	}
}

func TestJSONIsJSON(t *testing.T) {
	t.Parallel()
	got := logged(logging.Options{JSON: true}, func(l *slog.Logger) {
		l.Info("m", "d", time.Second, "n", 5, "list", []string{"a"}, "err", errors.New("x\x1b[2J"))
	})
	var record map[string]any
	if err := json.Unmarshal([]byte(got), &record); err != nil {
		t.Fatal(err)
	}
	if record["n"] != 5.0 || record["level"] != "INFO" || record["msg"] != "m" || record["err"] != `x\u001b[2J` {
		t.Errorf("got %v", record)
	}
}

func FuzzNothingSteersTheTerminal(f *testing.F) {
	f.Add("plain", "x\x1b[31mred")
	f.Add("a\nb\r", "\u202eabc\u0085\x7f")
	f.Add("\xff\xfe", "\x9b31m")
	f.Fuzz(func(t *testing.T, message, value string) {
		got := logged(logging.Options{}, func(l *slog.Logger) { l.Info(message, value, value, "e", errors.New(value)) })
		if strings.Count(got, "\n") != 1 || strings.ContainsAny(got, "\x1b\r\u0085\u009b\x7f\u202e") {
			t.Errorf("%q", got)
		}
	})
}
