package secret_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"parley/internal/secret"
)

func TestSecretNeverShows(t *testing.T) {
	t.Parallel()
	const canary = "canary-7f3a"
	s := secret.New(canary)
	holder := struct{ Token secret.String }{s}
	var out strings.Builder
	fmt.Fprintf(&out, "%v %+v %#v %s %q %v %+v %#v", s, s, s, s, s, holder, holder, holder)
	hidden := struct{ token secret.String }{s}
	fmt.Fprintf(&out, "%v %+v %#v", hidden, hidden, hidden)
	encoded, err := json.Marshal(holder)
	if err != nil {
		t.Fatal(err)
	}
	out.Write(encoded)
	var logged bytes.Buffer
	slog.New(slog.NewTextHandler(&logged, nil)).Info("x", "token", s, "holder", holder)
	slog.New(slog.NewJSONHandler(&logged, nil)).Info("x", "token", s, "holder", holder)
	out.Write(logged.Bytes())
	out.WriteString(fmt.Errorf("dial: %w", fmt.Errorf("%s", s.Scrub("url/bot"+canary+"/x"))).Error())
	if strings.Contains(out.String(), canary) {
		t.Fatalf("the secret shows:\n%s", out.String())
	}
	if s.Reveal() != canary {
		t.Fatal("Reveal must give the plain value")
	}
}
