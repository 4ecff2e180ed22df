package telegram_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"parley/adapters"
	"parley/adapters/telegram"
	"parley/internal/secret"
)

// transport answers requests without a network.
type transport func(*http.Request) (*http.Response, error)

func (f transport) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func through(t *testing.T, carry transport, wait func(context.Context, time.Duration) error) *telegram.Adapter {
	t.Helper()
	adapter, err := telegram.New(telegram.Config{
		Token: secret.New("123:canary"), APIURL: "http://telegram.test/base%20path/", Logger: slog.New(slog.DiscardHandler), Transport: carry, Wait: wait,
	})
	if err != nil {
		t.Fatal(err)
	}
	return adapter
}

func says(status int, body string) *http.Response {
	return &http.Response{StatusCode: status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body))}
}

const getMeAnswer = `{"ok":true,"result":{"id":77,"is_bot":true,"first_name":"P","username":"parley_bot","can_read_all_group_messages":true}}`

// A proxy that does not hold long polls must not be asked in a hot loop.
func TestEmptyAnswersAtOncePause(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	var polls, pauses atomic.Int64
	adapter := through(t, func(r *http.Request) (*http.Response, error) {
		if strings.HasSuffix(r.URL.Path, "getMe") {
			return says(200, getMeAnswer), nil
		}
		polls.Add(1)
		return says(200, `{"ok":true,"result":[]}`), nil
	}, func(ctx context.Context, d time.Duration) error {
		if d < 500*time.Millisecond {
			t.Errorf("paused %v", d)
		}
		if pauses.Add(1) == 5 {
			cancel()
		}
		return ctx.Err()
	})
	if err := adapter.Run(ctx, func(context.Context, adapters.Event) error { return nil }); err != nil {
		t.Fatal(err)
	}
	if polls.Load() > 7 {
		t.Errorf("%d polls with 5 pauses", polls.Load())
	}
}

func TestPathAndTokenScrubbing(t *testing.T) {
	t.Parallel()
	var path string
	adapter := through(t, func(r *http.Request) (*http.Response, error) {
		path = r.URL.EscapedPath()
		return nil, errors.New("proxy says no to " + r.URL.String())
	}, nil)
	_, err := adapter.Send(t.Context(), adapters.Outgoing{Surface: to(5), Text: "x"})
	if path != "/base%20path/bot123:canary/sendMessage" {
		t.Error(path)
	}
	if text := fmt.Sprintf("%v %+v", err, errors.Unwrap(errors.Unwrap(err))); strings.Contains(text, "canary") || !strings.Contains(text, secret.Mask) {
		t.Error(text)
	}
}

func TestRedirectsAreNotFollowed(t *testing.T) {
	t.Parallel()
	asked := 0
	adapter := through(t, func(*http.Request) (*http.Response, error) {
		asked++
		response := says(307, "")
		response.Header.Set("Location", "http://elsewhere.test/")
		return response, nil
	}, nil)
	_, err := adapter.Send(t.Context(), adapters.Outgoing{Surface: to(5), Text: "x"})
	if asked != 1 || adapters.AsSendError(err).Kind != adapters.SendUnavailable {
		t.Errorf("%d requests, %v", asked, err)
	}
}

func TestSuccessWithoutAnIDIsSuccess(t *testing.T) {
	t.Parallel()
	adapter := through(t, func(*http.Request) (*http.Response, error) {
		return says(200, `{"ok":true,"result":"sure"}`), nil
	}, nil)
	receipt, err := adapter.Send(t.Context(), adapters.Outgoing{Surface: to(5), Text: "x"})
	if err != nil || len(receipt.MessageIDs) != 0 {
		t.Errorf("%+v, %v", receipt, err)
	}
}

func TestStrangeAnswersAreSurvived(t *testing.T) {
	t.Parallel()
	for _, body := range []string{"", "null", "[]", `{"ok":true}`, `{"ok":true,"result":null}`, `{"ok":true,"result":{}}`, `{"ok":true,"result":[1,"a",null,{}]}`, `{"ok":false}`, `{"ok":"yes"}`} {
		ctx, cancel := context.WithCancel(t.Context())
		var pauses atomic.Int64
		adapter := through(t, func(r *http.Request) (*http.Response, error) {
			if strings.HasSuffix(r.URL.Path, "getMe") {
				return says(200, getMeAnswer), nil
			}
			return says(200, body), nil
		}, func(ctx context.Context, _ time.Duration) error {
			if pauses.Add(1) == 3 {
				cancel()
			}
			return ctx.Err()
		})
		if err := adapter.Run(ctx, func(context.Context, adapters.Event) error { return nil }); err != nil {
			t.Errorf("%s: %v", body, err)
		}
		adapter.Diagnose(t.Context())
	}
}
