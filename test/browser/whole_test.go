//go:build external

package browser

import (
	"context"
	"log/slog"
	"net/http/httptest"
	"sync"
	"testing"

	"parley/agent"
	"parley/api"
	"parley/api/apitest"
	"parley/bot"
	"parley/drafts"
	"parley/internal/secret"
	"parley/routing"
	"parley/sessions"
)

// startWhole starts the whole gateway, as `gateway run` wires it, on a store in
// memory: routing, sessions, turns and drafts are the real ones.
func startWhole(t *testing.T, model apitest.Model) string {
	t.Helper()
	url, _ := wholeOn(t, openStore(t), model)
	return url
}

// wholeOn is startWhole on a store that is there. Kill ends the gateway as
// little gently as a test can; the end of the test does it too.
func wholeOn(t *testing.T, store sessions.Store, model apitest.Model) (url string, kill func()) {
	t.Helper()
	written := drafts.Over(store, 0)
	whole, err := bot.New(bot.Config{
		Store: written, Model: playing{model}, Policy: routing.Policy{OwnerAlways: true}, Retry: agent.RunOptions{Attempts: 1}, Grace: 1,
	})
	if err != nil {
		t.Fatal(err)
	}
	server, err := api.New(api.Config{
		Store: written, Drafts: written, Operations: whole, Token: secret.New("a token"), Local: true, Open: true, Shown: shown,
		Page: api.Page{Model: "demo", Demo: true, Commands: apitest.Commands()}, Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- whole.Run(ctx) }()
	listener := httptest.NewServer(server)
	kill = sync.OnceFunc(func() {
		listener.CloseClientConnections()
		server.Close()
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
		listener.Close()
	})
	t.Cleanup(kill)
	return listener.URL, kill
}

func shown(text string) (string, bool) {
	visible, silent, _ := routing.StripReply(text, false)
	return visible, silent
}

// playing makes a model that the test plays into one that the gateway asks.
type playing struct{ model apitest.Model }

func (playing) Name() string { return "played" }

func (p playing) Complete(ctx context.Context, request agent.Request, onText func(string)) (agent.Answer, error) {
	whole := ""
	answer, err := p.model(ctx, request.Messages[len(request.Messages)-1].Text, func(piece string) {
		whole += piece
		onText(piece)
	})
	if err != nil {
		return agent.Answer{Text: whole}, err
	}
	return agent.Answer{Text: answer, Model: "played"}, nil
}
