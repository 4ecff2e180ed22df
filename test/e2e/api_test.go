package e2e

import (
	"net/http"
	"strings"
	"testing"
)

type apiEntry struct {
	Type    string `json:"type"`
	Payload struct{ Role, Text string }
}

func TestTheAPIAnswersAndItsSessionSurvivesAKill(t *testing.T) {
	eachStore(t, func(t *testing.T, w *world) {
		w.start()
		var said struct{ Session, Reason string }
		if code := w.api(http.MethodPost, "/v1/sessions/api:robot/messages?wait=30s", map[string]any{"text": "hello"}, &said); code != http.StatusOK || said.Session != "api:robot" {
			t.Fatalf("%d, %+v", code, said)
		}
		w.kill9()
		w.start()
		var page struct{ Entries []apiEntry }
		if code := w.api(http.MethodGet, "/v1/sessions/api:robot/entries", nil, &page); code != http.StatusOK {
			t.Fatal(code)
		}
		var texts []string
		for _, entry := range page.Entries {
			if entry.Type == "message" {
				texts = append(texts, entry.Payload.Role+": "+entry.Payload.Text)
			}
		}
		if got := strings.Join(texts, "\n"); got != "user: hello\nassistant: You said: hello" {
			t.Fatalf("the log reads:\n%s", got)
		}
		if code := w.api(http.MethodGet, "/v1/sessions/api:nobody", nil, nil); code != http.StatusNotFound {
			t.Fatalf("a session that does not exist answers %d", code)
		}
	})
}
