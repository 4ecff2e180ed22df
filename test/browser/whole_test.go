//go:build external

package browser

import (
	"context"
	"log/slog"
	"net/http/httptest"
	"testing"

	"parley/agent"
	"parley/api"
	"parley/api/apitest"
	"parley/bot"
	"parley/internal/secret"
	"parley/routing"
)

// startWhole starts the whole gateway, as `gateway run` wires it, on a store in
// memory: routing, sessions, turns and drafts are the real ones.
func startWhole(t *testing.T, model apitest.Model) string {
	t.Helper()
	store := openStore(t)
	whole, err := bot.New(bot.Config{
		Store: store, Model: playing{model}, Policy: routing.Policy{OwnerAlways: true}, Retry: agent.RunOptions{Attempts: 1}, Grace: 1,
	})
	if err != nil {
		t.Fatal(err)
	}
	server, err := api.New(api.Config{
		Store: store, Operations: whole, Token: secret.New("a token"), LoopbackOwner: true, Shown: shown,
		Page: api.Page{Model: "demo", Demo: true, Commands: apitest.Commands()}, Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- whole.Run(ctx) }()
	listener := httptest.NewServer(server)
	t.Cleanup(func() {
		server.Close()
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
		listener.Close()
	})
	return listener.URL
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
