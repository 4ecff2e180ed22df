package discord

import (
	"context"
	"io"
	"net/http"
	"testing"

	"parley/internal/secret"
	"parley/test/halfopen"
)

func TestAHalfOpenConnectionIsGivenUp(t *testing.T) {
	t.Parallel()
	c := newRESTClient("", secret.New("a.b.c"))
	halfopen.GivenUp(t, c.http, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"id":"1"}`)
	}), func(ctx context.Context, base string) error {
		c.base = base
		_, err := c.call(ctx, http.MethodGet, "/users/@me", nil, nil)
		return err
	})
}
