package terminal_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"parley/api"
	"parley/cmd/gateway/client"
	"parley/cmd/gateway/client/clienttest"
	"parley/cmd/gateway/terminal"
	"parley/internal/secret"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func fake(t *testing.T) *clienttest.Gateway {
	t.Helper()
	gateway := clienttest.New()
	t.Cleanup(gateway.Close)
	return gateway
}

func chatWith(t *testing.T, gateway *clienttest.Gateway) terminal.Chat {
	t.Helper()
	c, err := client.New(gateway.URL, secret.New(clienttest.Token))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return terminal.Chat{Client: c, Name: "main", Sender: client.Sender{ID: "cli:owner", Name: "ada"}}
}

func plain(t *testing.T, gateway *clienttest.Gateway, in string, asJSON bool) (string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var out strings.Builder
	err := terminal.Plain(ctx, chatWith(t, gateway), strings.NewReader(in), &out, asJSON)
	return out.String(), err
}

func TestPlainAnswersEachLine(t *testing.T) {
	t.Parallel()
	got, err := plain(t, fake(t), "one\r\n\n  \ntool\nsilent\n/help\n/new\nafter\nlast", false)
	want := "You said: one\nIt is noon.\nYou ran **/help**.\nYou ran **/new**.\nYou said: after\nYou said: last\n"
	if err != nil || got != want {
		t.Errorf("got %q (%v)\nwant %q", got, err, want)
	}
}

func TestPlainEndsAtAFailure(t *testing.T) {
	t.Parallel()
	if got, err := plain(t, fake(t), "break\nthree\n", false); err == nil || err.Error() != "My answer broke off. (the line broke)" || got != "as far as\n" {
		t.Errorf("broken off: got %q, %v", got, err)
	}
	for text, want := range map[string]string{"fail": "I cannot answer now. (the model is away)", "refuse": "The store does not answer now."} {
		got, err := plain(t, fake(t), "one\n"+text+"\nthree\n", false)
		if err == nil || err.Error() != want || got != "You said: one\n" {
			t.Errorf("%s: got %q, %v", text, got, err)
		}
	}
}

func TestPlainRefusesLinesThatAreTooLong(t *testing.T) {
	t.Parallel()
	if _, err := plain(t, fake(t), strings.Repeat("x", api.TextMax+10)+"\n", false); err == nil || !strings.Contains(err.Error(), "send it in parts") {
		t.Errorf("got %v", err)
	}
}

func TestPlainKeepsEscapesOut(t *testing.T) {
	t.Parallel()
	const hostile = "\x1b[2J\u009b31m\u202e\x07tab\there"
	got, err := plain(t, fake(t), hostile+"\n", false)
	if err != nil || strings.ContainsAny(got, "\x1b\u009b\u202e\x07") || !strings.Contains(got, "tab\there") {
		t.Errorf("got %q, %v", got, err)
	}
	got, err = plain(t, fake(t), hostile+"\n", true)
	if err != nil || strings.ContainsAny(got, "\x1b\u009b\u202e\x07") {
		t.Fatalf("got %q, %v", got, err)
	}
	var entry api.EntryView
	if err := json.Unmarshal([]byte(got), &entry); err != nil || !strings.Contains(got, `\u009b`) {
		t.Errorf("not the same JSON any more: %q, %v", got, err)
	}
}

func TestPlainJSONPrintsEntries(t *testing.T) {
	t.Parallel()
	got, err := plain(t, fake(t), "tool\n/help\nfail\n", true)
	if err == nil {
		t.Error("a failure must be one")
	}
	var kinds []string
	for line := range strings.Lines(got) {
		var value struct{ Type, Reply string }
		if err := json.Unmarshal([]byte(line), &value); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		kinds = append(kinds, value.Type+value.Reply)
	}
	if want := "message,message,message,You ran **/help**.,error"; strings.Join(kinds, ",") != want {
		t.Errorf("got %v", kinds)
	}
}
