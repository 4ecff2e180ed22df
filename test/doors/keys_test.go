package doors_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"testing"

	"parley/adapters"
	"parley/api"
	"parley/conversations"
	"parley/internal/secret"
	"parley/sessions"
)

// A key is one request: sent again it changes nothing, and with another text it
// is refused, in the chat and over HTTP.
func TestAKeyIsOneCommand(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct{ text, other string }{
		"name":             {"/name Rome", "/name Paris"},
		"label":            {"/label e1 first", "/label e1 second"},
		"branch":           {"/branch e1", "/branch e2"},
		"fork":             {"/fork e1", "/fork e2"},
		"refused":          {"/fork e99", "/fork e1"},
		"resume":           {"/resume " + other, "/resume " + here},
		"another command":  {"/clear", "/name Rome"},
		"new with a text":  {"/new the first", "/new the second"},
		"schedule":         {`/schedule add "every 1h" Say tick`, `/schedule add "every 1h" Say tock`},
		"people":           {"/people block telegram:9", "/people allow telegram:9"},
		"a list":           {"/sessions", "/sessions all"},
		"an allowed group": {"/allow telegram:1:-5", "/allow telegram:1:-6"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for door, say := range map[string]func(*world, string) error{"chat": keyedSay, "http": keyedPost(nil), "page": keyedPost(map[string]string{"surface": "web:local:a"})} {
				w := newWorld(t)
				if err := say(w, row.text); err != nil {
					t.Fatalf("%s: %s: %v", door, row.text, err)
				}
				left := w.everything()
				if err := say(w, row.text); err != nil {
					t.Errorf("%s: %s again: %v", door, row.text, err)
				}
				if code := conversations.CodeOf(say(w, row.other)); code != conversations.KeyReused {
					t.Errorf("%s: %s under the key of %s: %q, want %q", door, row.other, row.text, code, conversations.KeyReused)
				}
				if now := w.everything(); now != left {
					t.Errorf("%s: changed\nfrom %s\n  to %s", door, left, now)
				}
			}
		})
	}
}

// keyedSay says something at the place of a page, always under one key.
func keyedSay(w *world, text string) error {
	place := adapters.Surface{Platform: adapters.Web, Account: adapters.Local, Chat: "a"}
	_, err := w.bot().Say(w.Context(), api.Say{Key: "k", Surface: place, Text: text})
	return err
}

// keyedPost is keyedSay over HTTP, with what else the body shall have.
func keyedPost(body map[string]string) func(*world, string) error {
	return func(w *world, text string) error {
		said := map[string]string{"text": text}
		maps.Copy(said, body)
		return posted(w, said)
	}
}

func posted(w *world, said map[string]string) error {
	server, err := api.New(api.Config{Store: w.store, Operations: w.bot(), Token: secret.New("a token"), Logger: slog.New(slog.DiscardHandler),
		Shown: func(text string) (string, bool) { return text, false }})
	if err != nil {
		w.Fatal(err)
	}
	defer server.Close()
	body, err := json.Marshal(said)
	if err != nil {
		w.Fatal(err)
	}
	request := httptest.NewRequestWithContext(w.Context(), http.MethodPost, "/v1/sessions/"+here+"/messages", bytes.NewReader(body))
	for header, value := range map[string]string{"Authorization": "Bearer a token", "Content-Type": "application/json", "Idempotency-Key": "k"} {
		request.Header.Set(header, value)
	}
	answer := httptest.NewRecorder()
	server.ServeHTTP(answer, request)
	err = refusal(w.T, answer)
	if conversations.CodeOf(err) == conversations.KeyReused && answer.Code != http.StatusUnprocessableEntity {
		w.Errorf("a used key is %d over HTTP", answer.Code)
	}
	return err
}

// everything is what the conversations look like, but for the answers that are
// written meanwhile, and what else commands change.
func (w *world) everything() string {
	w.Helper()
	page, err := w.store.Find(w.Context(), sessions.Query{})
	if err != nil {
		w.Fatal(err)
	}
	out := w.left()
	for _, record := range page.Records {
		out += fmt.Sprintf("; %s %d %s %v", record.ID, record.MessageCount, record.Name, record.Surfaces)
	}
	user, err := w.store.Who(w.Context(), "telegram:9")
	if err != nil {
		w.Fatal(err)
	}
	list, _, err := w.store.ListSchedules(w.Context(), sessions.ScheduleList{Limit: 10})
	if err != nil {
		w.Fatal(err)
	}
	listed, err := w.store.ChatListed(w.Context(), "telegram:1:-6")
	return out + fmt.Sprint("; ", user.Role, len(list), listed, err)
}
