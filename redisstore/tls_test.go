package redisstore

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"parley/internal/secret"
	"parley/sessions"
	"parley/test/redistest"
)

// Over TLS with a private authority everything works, subscriptions too.
func TestTLSWithAPrivateAuthority(t *testing.T) {
	t.Parallel()
	server, authority := redistest.StartTLS(t, "--appendfsync", "no")
	client := server.Client()
	defer client.Close()
	if err := client.ConfigSet(t.Context(), "requirepass", "hush").Err(); err != nil {
		t.Fatal(err)
	}
	url := strings.Replace(server.URL(), "://", "://:hush@", 1) + "?ca=" + authority
	s := openStore(t, Config{URL: secret.New(url), Prefix: freshPrefix()})
	ctx, cancel := context.WithTimeout(t.Context(), within)
	defer cancel()
	posted, err := s.Post(ctx, benchPost(1, false))
	if err != nil {
		t.Fatal(err)
	}
	events, err := s.Watch(ctx, posted.Session)
	if err != nil {
		t.Fatal(err)
	}
	again, err := s.Post(ctx, benchPost(1, false))
	if err != nil {
		t.Fatal(err)
	}
	expect(t, ctx, events, func(e sessions.LiveEvent) bool { return e.Kind == sessions.LiveEntries && e.Seq == again.Seq })
}

// A server that cannot be trusted, or an authority that is none: the store does not open, and the error says what to do.
func TestTLSThatCannotBeTrusted(t *testing.T) {
	t.Parallel()
	server, authority := redistest.StartTLS(t)
	_, stranger := redistest.StartTLS(t)
	folder := t.TempDir()
	bare := filepath.Join(folder, "bare.pem")
	if err := os.WriteFile(bare, []byte("no certificate"), 0o600); err != nil {
		t.Fatal(err)
	}
	secured := strings.Replace(server.URL(), "://", "://:canary@", 1)
	named := strings.Replace(secured, "127.0.0.1", "localhost", 1)
	for name, c := range map[string]struct {
		url, says string
		temporary bool
	}{
		"the system does not know the authority": {secured, "?ca=FILE", true},
		"another authority":                      {secured + "?ca=" + stranger, "?ca=FILE", true},
		"another name":                           {named + "?ca=" + authority, "a name that the certificate has", true},
		"no certificate":                         {secured + "?ca=" + bare, "holds no certificate", false},
		"no file":                                {secured + "?ca=" + filepath.Join(folder, "none"), "cannot be read", false},
	} {
		s, err := Open(t.Context(), Config{URL: secret.New(c.url), Prefix: freshPrefix()})
		if err == nil {
			s.Close()
			t.Errorf("%s: it opens", name)
			continue
		}
		if !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), "canary") || errors.Is(err, sessions.ErrUnavailable) != c.temporary {
			t.Errorf("%s: %v", name, err)
		}
	}
}
