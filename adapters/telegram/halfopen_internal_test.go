package telegram

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
	c := newClient(secret.New("77:abc"), "", nil)
	own, _ := c.http.Transport.(*http.Transport)
	halfopen.GivenUp(t, own, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"ok":true,"result":{}}`)
	}), func(ctx context.Context, base string) error {
		c.endpoint = base + "/bot%s/%s"
		return c.call(ctx, callTimeout, "getMe", nil, nil)
	})
}
