package clienttest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"parley/adapters"
	"parley/api"
	"parley/sessions"
)

// Token is the one the fake accepts.
const Token = "canary-token-1f9e"

// Gateway is the fake. Its keywords, as a message's text: "fail" ends in an
// error, "break" too after the beginning of an answer, "tool" calls a tool first, "silent" says nothing, "wait" is answered
// by [Gateway.Finish] only, "refuse" is answered 503; a text that begins with
// a slash gets a reply at once. All else is echoed.
type Gateway struct {
	URL string

	server  *httptest.Server
	mu      sync.Mutex
	session string // the present one
	logs    map[string][]api.EntryView
	status  sessions.Status
	keys    map[string]bool
	stopped int
	cut     int // event streams to be cut after their first entry
	streams int
	mute    bool          // streams that stand tell of no move
	changed chan struct{} // closed and replaced at every change
}

// New starts a fake. End it with Close.
func New() *Gateway {
	g := &Gateway{session: "cli:main", logs: map[string][]api.EntryView{}, status: sessions.StatusIdle,
		keys: map[string]bool{}, changed: make(chan struct{})}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1/sessions/{id}", g.get)
	mux.HandleFunc("GET /v1/sessions/{id}/entries", g.entries)
	mux.HandleFunc("GET /v1/sessions/{id}/events", g.events)
	mux.HandleFunc("POST /v1/sessions/{id}/messages", g.post)
	mux.HandleFunc("POST /v1/sessions/{id}/stop", g.stop)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer "+Token {
			problem(w, http.StatusUnauthorized, "The token is wrong.")
			return
		}
		mux.ServeHTTP(w, r)
	}))
	g.URL, g.server = server.URL, server
	return g
}

// Close cuts every connection and ends the fake.
func (g *Gateway) Close() {
	g.server.CloseClientConnections()
	g.server.Close()
}

// Cut makes the next n event streams break after one entry.
func (g *Gateway) Cut(n int) { g.locked(func() { g.cut = n }) }

// Mute keeps event streams from telling that the place has moved: they are told
// so by their next heartbeat, which never comes.
func (g *Gateway) Mute() { g.locked(func() { g.mute = true }) }

// Streams is how many event streams were opened.
func (g *Gateway) Streams() (n int) {
	g.locked(func() { n = g.streams })
	return n
}

// Stopped is how often a stop was asked for.
func (g *Gateway) Stopped() (n int) {
	g.locked(func() { n = g.stopped })
	return n
}

// Say adds an answer to the log, as a turn does.
func (g *Gateway) Say(text string) {
	g.locked(func() { g.add(sessions.Message{Role: sessions.RoleAssistant, Text: text}) })
}

// Finish answers a message that waits.
func (g *Gateway) Finish(text string) {
	g.locked(func() {
		g.status = sessions.StatusIdle
		g.add(sessions.Message{Role: sessions.RoleAssistant, Text: text, Stopped: true})
	})
}

func (g *Gateway) locked(f func()) {
	g.mu.Lock()
	defer g.mu.Unlock()
	f()
	close(g.changed)
	g.changed = make(chan struct{})
}

func (g *Gateway) add(m sessions.Message) int64 {
	payload, _ := json.Marshal(m)
	return g.append(api.EntryView{Type: sessions.EntryMessage, Payload: payload})
}

func (g *Gateway) append(entry api.EntryView) int64 {
	log := g.logs[g.session]
	entry.Seq = int64(len(log) + 1)
	entry.ID = sessions.EntryID(entry.Seq)
	entry.Timestamp = time.Unix(1700000000, 0).UTC()
	if entry.Seq > 1 {
		parent := sessions.EntryID(entry.Seq - 1)
		entry.ParentID = &parent
	}
	g.logs[g.session] = append(log, entry)
	return entry.Seq
}

func (g *Gateway) get(w http.ResponseWriter, r *http.Request) {
	g.mu.Lock()
	defer g.mu.Unlock()
	id := r.PathValue("id")
	if _, known := g.logs[id]; !known {
		problem(w, http.StatusNotFound, "There is no such session.")
		return
	}
	record := sessions.Record{ID: id, Seq: int64(len(g.logs[id]))}
	if id == g.session {
		record.Surfaces = []string{"cli:local:main"}
	}
	_ = json.NewEncoder(w).Encode(record)
}

func (g *Gateway) entries(w http.ResponseWriter, r *http.Request) {
	g.mu.Lock()
	defer g.mu.Unlock()
	log, known := g.logs[r.PathValue("id")]
	if !known {
		problem(w, http.StatusNotFound, "There is no such session.")
		return
	}
	limit, _ := strconv.Atoi(r.URL.Query().Get("limit"))
	_ = json.NewEncoder(w).Encode(map[string]any{"entries": log[max(len(log)-limit, 0):], "newest": len(log)})
}

func (g *Gateway) stop(w http.ResponseWriter, _ *http.Request) {
	running := false
	g.locked(func() { running = g.status == sessions.StatusRunning; g.stopped++ })
	_ = json.NewEncoder(w).Encode(map[string]bool{"stopping": running})
}

func (g *Gateway) post(w http.ResponseWriter, r *http.Request) {
	var message struct {
		Text    string `json:"text"`
		Surface string `json:"surface"`
		Sender  struct {
			ID   adapters.Identity `json:"id"`
			Name string            `json:"name"`
		} `json:"sender"`
	}
	decoder := json.NewDecoder(r.Body)
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&message); err != nil || r.Header.Get("Content-Type") != "application/json" {
		problem(w, http.StatusBadRequest, "Send JSON.")
		return
	}
	g.locked(func() {
		key := r.Header.Get("Idempotency-Key")
		if message.Text == "refuse" {
			problem(w, http.StatusServiceUnavailable, "The store does not answer now.")
			return
		}
		if g.keys[key] || r.PathValue("id") != g.session {
			problem(w, http.StatusConflict, "The same key, or another session: "+r.PathValue("id"))
			return
		}
		g.keys[key] = true
		w.WriteHeader(http.StatusAccepted)
		_ = json.NewEncoder(w).Encode(g.take(message.Text, sessions.Sender{ID: string(message.Sender.ID), Name: message.Sender.Name}))
	})
}

// take acts on a message and gives the body of the answer.
func (g *Gateway) take(text string, sender sessions.Sender) map[string]any {
	if text == "/new" {
		g.session = fmt.Sprintf("cli:main~%d", len(g.logs)+1)
		g.logs[g.session] = nil
	}
	if strings.HasPrefix(text, "/") {
		return map[string]any{"reason": "command", "reply": "You ran **" + text + "**.", "moved_to": g.session}
	}
	seq := g.add(sessions.Message{Role: sessions.RoleUser, Text: text, Sender: &sender})
	switch text {
	case "break":
		g.add(sessions.Message{Role: sessions.RoleAssistant, Text: "as far as", Partial: true})
		payload, _ := json.Marshal(sessions.ErrorEntry{Text: "My answer broke off.", Cause: "the line broke"})
		g.append(api.EntryView{Type: sessions.EntryError, Payload: payload})
	case "fail":
		payload, _ := json.Marshal(sessions.ErrorEntry{Text: "I cannot answer now.", Cause: "the model is away"})
		g.append(api.EntryView{Type: sessions.EntryError, Payload: payload})
	case "tool":
		g.add(sessions.Message{Role: sessions.RoleAssistant, ToolCalls: []sessions.ToolCall{{ID: "1", Name: "clock"}}})
		g.add(sessions.Message{Role: sessions.RoleTool, CallID: "1", ToolName: "clock", Text: "12:00"})
		g.add(sessions.Message{Role: sessions.RoleAssistant, Text: "It is noon."})
	case "silent":
		g.add(sessions.Message{Role: sessions.RoleAssistant, Silent: true})
	case "wait":
		g.status = sessions.StatusRunning
	default:
		g.add(sessions.Message{Role: sessions.RoleAssistant, Text: "You said: " + text})
	}
	return map[string]any{"session": g.session, "seq": seq, "reason": "direct", "turn": true}
}

// events follows the log of one session.
func (g *Gateway) events(w http.ResponseWriter, r *http.Request) {
	id := r.PathValue("id")
	after, _ := strconv.Atoi(r.Header.Get("Last-Event-ID"))
	named := r.URL.Query().Get("surface") == "cli:local:main"
	cutting := false
	g.locked(func() {
		g.streams++
		if cutting = g.cut > 0; cutting {
			g.cut--
		}
	})
	w.Header().Set("Content-Type", "text/event-stream")
	control := http.NewResponseController(w)
	fmt.Fprint(w, ": hello\n\n")
	for {
		g.mu.Lock()
		news := slices.Clone(g.logs[id][min(after, len(g.logs[id])):])
		status, present, changed, told := g.status, g.session, g.changed, !g.mute
		g.mu.Unlock()
		for _, entry := range news {
			after++
			body, _ := json.Marshal(entry)
			fmt.Fprintf(w, "event: %s\nid: %d\ndata: %s\n\n", eventOf(entry), entry.Seq, body)
			if cutting {
				_ = control.Flush()
				panic(http.ErrAbortHandler)
			}
		}
		fmt.Fprintf(w, "event: status\ndata: {\"status\":%q,\"queued\":0}\n\n", status)
		if told && id != present && (named || id == "cli:main") { // no other id says where its reader is
			fmt.Fprintf(w, "event: moved\ndata: {\"session\":%q}\n\n", present)
		}
		_ = control.Flush()
		select {
		case <-r.Context().Done():
			return
		case <-changed:
		}
	}
}

func eventOf(entry api.EntryView) string {
	var message sessions.Message
	if entry.Type != sessions.EntryMessage || json.Unmarshal(entry.Payload, &message) != nil {
		return "feed"
	}
	if message.Role == sessions.RoleUser {
		return "user_message"
	}
	return "message"
}

func problem(w http.ResponseWriter, status int, detail string) {
	w.Header().Set("Content-Type", "application/problem+json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]any{"status": status, "detail": detail})
}
