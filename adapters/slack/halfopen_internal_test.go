package slack

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
	a, err := New(Config{BotToken: secret.New("xoxb-1"), AppToken: secret.New("xapp-1")})
	if err != nil {
		t.Fatal(err)
	}
	own, _ := a.http.Transport.(*http.Transport)
	halfopen.GivenUp(t, own, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"ok":true}`)
	}), func(ctx context.Context, base string) error {
		a.base = base + "/"
		_, err := a.call(ctx, "auth.test", nil, nil)
		return err
	})
}
