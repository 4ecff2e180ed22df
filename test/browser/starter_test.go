//go:build external

package browser

import (
	"context"
	"log/slog"
	"net/http/httptest"
	"testing"

	"parley/api"
	"parley/api/apitest"
	"parley/drafts"
	"parley/internal/secret"
	"parley/sessions"
	"parley/sqlitestore"
)

// starter starts a gateway for a visitor on this machine, whose model the test
// plays, and gives its address. It ends with the test.
type starter func(t *testing.T, model apitest.Model) (url string)

// starters are what the tests run against.
func starters() map[string]starter {
	return map[string]starter{"api": startAPI, "whole": startWhole}
}

// everywhere runs a test against each starter.
func everywhere(t *testing.T, test func(t *testing.T, start starter)) {
	t.Helper()
	for name, start := range starters() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, start)
		})
	}
}

// startAPI starts the HTTP server over a small gateway and a store in memory.
func startAPI(t *testing.T, model apitest.Model) string {
	t.Helper()
	return serve(t, openStore(t), model, "a token")
}

func openStore(t *testing.T) sessions.Store {
	t.Helper()
	store, err := sqlitestore.Open(t.Context(), sqlitestore.Config{Path: sqlitestore.Memory})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	return store
}

func serve(t *testing.T, store sessions.Store, model apitest.Model, token string) string {
	t.Helper()
	written := drafts.Over(store, 0)
	gateway := apitest.NewGateway(written, model)
	server, err := api.New(api.Config{
		Store: written, Drafts: written, Operations: gateway, Token: secret.New(token), Local: true, Open: true, Shown: apitest.Shown,
		Page: api.Page{Model: "demo", Demo: true, Commands: apitest.Commands()}, Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	listener := httptest.NewServer(server)
	t.Cleanup(func() { server.Close(); gateway.Close(); listener.Close() })
	return listener.URL
}

// played is a model whose answers the test gives piece by piece.
type played struct {
	pieces chan string // one is shown at a time
	finish chan struct{}
}

func newPlayed() *played {
	return &played{pieces: make(chan string), finish: make(chan struct{})}
}

// answer is an apitest.Model. "echo …" is answered at once.
func (p *played) answer(ctx context.Context, question string, write func(string)) (string, error) {
	if len(question) > 5 && question[:5] == "echo " {
		return question[5:], nil
	}
	whole := ""
	for {
		select {
		case piece := <-p.pieces:
			whole += piece
			write(piece)
		case <-p.finish:
			return whole, nil
		case <-ctx.Done():
			return "", ctx.Err()
		}
	}
}
