package fakeslack_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	slackapi "github.com/slack-go/slack"
	"github.com/slack-go/slack/socketmode"
	"go.uber.org/goleak"

	"parley/test/fakeslack"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func client(t *testing.T, fake *fakeslack.Server, token string) *slackapi.Client {
	t.Helper()
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	return slackapi.New(token, slackapi.OptionAPIURL(fake.URL()), slackapi.OptionAppLevelToken(fake.AppToken()),
		slackapi.OptionHTTPClient(&http.Client{Transport: transport}))
}

func background(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	t.Cleanup(cancel)
	return ctx
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	ctx := background(t)
	for want, try := range map[string]func(*fakeslack.Server) error{
		"invalid_auth": func(f *fakeslack.Server) error { _, err := client(t, f, "xoxb-wrong").AuthTestContext(ctx); return err },
		"not_authed":   func(f *fakeslack.Server) error { _, err := client(t, f, "").AuthTestContext(ctx); return err },
		"not_allowed_token_type": func(f *fakeslack.Server) error {
			_, err := client(t, f, f.AppToken()).AuthTestContext(ctx)
			return err
		},
		"token_revoked": func(f *fakeslack.Server) error {
			f.RevokeBotToken()
			_, err := client(t, f, f.BotToken()).AuthTestContext(ctx)
			return err
		},
		"missing_scope": func(f *fakeslack.Server) error {
			f.SetScopes("chat:write")
			_, err := client(t, f, f.BotToken()).GetUserInfoContext(ctx, "U1")
			return err
		},
		"channel_not_found": func(f *fakeslack.Server) error { return post(ctx, t, f, "C0NONE", "x") },
		"not_in_channel":    func(f *fakeslack.Server) error { f.Remove("C0GEN"); return post(ctx, t, f, "C0GEN", "x") },
		"is_archived":       func(f *fakeslack.Server) error { f.Archive("C0GEN"); return post(ctx, t, f, "C0GEN", "x") },
		"thread_not_found": func(f *fakeslack.Server) error {
			return post(ctx, t, f, "C0GEN", "x", slackapi.MsgOptionTS("1.000001"))
		},
		"no_text": func(f *fakeslack.Server) error {
			err := post(ctx, t, f, "C0GEN", "")
			f.AllowViolations()
			return err
		},
		"msg_too_long": func(f *fakeslack.Server) error {
			err := post(ctx, t, f, "C0GEN", "x", slackapi.MsgOptionBlocks(slackapi.NewMarkdownBlock("", strings.Repeat("x", 12_001))))
			f.AllowViolations()
			return err
		},
	} {
		t.Run(want, func(t *testing.T) {
			t.Parallel()
			fake := fakeslack.New(t, fakeslack.Options{})
			fake.Channel("C0GEN", "general")
			err := try(fake)
			if answer, ok := errors.AsType[slackapi.SlackErrorResponse](err); !ok || answer.Err != want {
				t.Errorf("refused with %v", err)
			}
		})
	}
}

func post(ctx context.Context, t *testing.T, fake *fakeslack.Server, channel, text string, options ...slackapi.MsgOption) error {
	t.Helper()
	_, _, err := client(t, fake, fake.BotToken()).PostMessageContext(ctx, channel, append(options, slackapi.MsgOptionText(text, false))...)
	return err
}

func TestViolations(t *testing.T) {
	t.Parallel()
	ctx := background(t)
	fake := fakeslack.New(t, fakeslack.Options{})
	fake.Channel("C0GEN", "general")
	api := client(t, fake, fake.BotToken())
	_, _, _ = api.PostMessageContext(ctx, "C0GEN", slackapi.MsgOptionText("x", false), slackapi.MsgOptionUsername("somebody"))
	_, _ = api.GetTeamInfoContext(ctx)
	violations := strings.Join(fake.Violations(), "\n")
	if !strings.Contains(violations, "username") || !strings.Contains(violations, "team.info") {
		t.Errorf("violations: %s", violations)
	}
	fake.AllowViolations()
}

func TestRateLimit(t *testing.T) {
	t.Parallel()
	fake := fakeslack.New(t, fakeslack.Options{})
	fake.Channel("C0GEN", "general")
	fake.Fail("chat.postMessage", fakeslack.Fault{Status: http.StatusTooManyRequests, RetryAfter: 7 * time.Second}, fakeslack.Fault{Error: "ratelimited"})
	err := post(background(t), t, fake, "C0GEN", "x")
	if limited, ok := errors.AsType[*slackapi.RateLimitedError](err); !ok || limited.RetryAfter != 7*time.Second {
		t.Errorf("%v", err)
	}
	if err := post(background(t), t, fake, "C0GEN", "x"); err == nil || err.Error() != "ratelimited" {
		t.Errorf("%v", err)
	}
}

// TestSocket: the library is greeted, gets each payload once, gets again what
// it does not acknowledge, and is sent away and comes back.
func TestSocket(t *testing.T) {
	t.Parallel()
	ctx := background(t)
	fake := fakeslack.New(t, fakeslack.Options{Redeliver: 50 * time.Millisecond, Ping: 50 * time.Millisecond})
	alice := fake.User("U0ALICE", "Alice")
	fake.Channel("C0GEN", "general", alice)
	socket := socketmode.New(client(t, fake, fake.BotToken()))
	within, stop := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = socket.RunContext(within)
	}()
	defer func() {
		stop()
		<-ended
	}()
	next := func() socketmode.Request {
		for {
			select {
			case event := <-socket.Events:
				if event.Request != nil && event.Request.EnvelopeID != "" {
					return *event.Request
				}
			case <-ctx.Done():
				t.Fatal("no envelope came")
			}
		}
	}
	alice.Say("C0GEN", "hello")
	first := next()
	again := next()
	if again.EnvelopeID != first.EnvelopeID || again.RetryAttempt != 1 {
		t.Errorf("%s, then %s (%d)", first.EnvelopeID, again.EnvelopeID, again.RetryAttempt)
	}
	if err := socket.Ack(again); err != nil {
		t.Fatal(err)
	}
	if err := fake.WaitAcknowledged(ctx); err != nil {
		t.Fatal(err)
	}
	fake.Sockets().Refresh("refresh_requested")
	alice.Say("C0GEN", "<@"+fake.BotUser()+"> twice")
	// It is told as message and as mention; a copy of the first may still come.
	for kinds := map[bool]bool{}; len(kinds) < 2; {
		request := next()
		_ = socket.Ack(request)
		if request.EnvelopeID != first.EnvelopeID {
			kinds[strings.Contains(string(request.Payload), `"app_mention"`)] = true
		}
	}
	if err := fake.WaitAcknowledged(ctx); err != nil {
		t.Fatal(err)
	}
}

// TestRequests: signed as the library verifies it, and again until it is
// answered with 200.
func TestRequests(t *testing.T) {
	t.Parallel()
	ctx := background(t)
	fake := fakeslack.New(t, fakeslack.Options{Retries: []time.Duration{0, time.Millisecond, time.Millisecond}})
	alice := fake.User("U0ALICE", "Alice")
	fake.Channel("C0GEN", "general", alice)
	var mu sync.Mutex
	var retries []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		verifier, err := slackapi.NewSecretsVerifier(request.Header, fake.SigningSecret())
		if err == nil {
			_, err = io.Copy(&verifier, request.Body)
			err = errors.Join(err, verifier.Ensure())
		}
		mu.Lock()
		defer mu.Unlock()
		retries = append(retries, request.Header.Get("X-Slack-Retry-Num"))
		if err != nil {
			t.Error(err)
		}
		if len(retries) < 3 {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	}))
	defer server.Close()
	fake.DeliverTo(server.URL)
	alice.Say("C0GEN", "hello")
	if err := fake.WaitAcknowledged(ctx); err != nil {
		t.Fatal(err)
	}
	mu.Lock()
	defer mu.Unlock()
	if strings.Join(retries, ",") != ",1,2" {
		t.Errorf("retries %q", retries)
	}
}
