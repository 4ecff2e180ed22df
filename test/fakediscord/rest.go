package fakediscord

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"time"
)

const apiPath = "/api/v10"

// apiError is Discord's form of a refusal.
type apiError struct {
	status  int
	Code    int    `json:"code"`
	Message string `json:"message"`
	Errors  any    `json:"errors,omitempty"`
}

func unknown(code int, what string) *apiError {
	return &apiError{status: http.StatusNotFound, Code: code, Message: "Unknown " + what}
}

func invalidForm(field, code, text string) *apiError {
	return &apiError{
		status: http.StatusBadRequest, Code: 50035, Message: "Invalid Form Body",
		Errors: map[string]any{field: map[string]any{"_errors": []any{map[string]any{"code": code, "message": text}}}},
	}
}

// handler answers one route; a nil value is 204.
type handler func(r *http.Request, body []byte) (any, *apiError)

func (s *Server) routes() http.Handler {
	mux := http.NewServeMux()
	for route, serve := range map[string]handler{
		"GET /gateway/bot":                                    s.getGateway,
		"GET /users/@me":                                      s.getUser,
		"GET /users/@me/guilds":                               s.getGuilds,
		"GET /applications/@me":                               s.getApplication,
		"PUT /applications/{app}/commands":                    s.putCommands,
		"GET /channels/{channel}":                             s.getChannel,
		"GET /guilds/{guild}/members/{user}":                  s.getMember,
		"POST /channels/{channel}/messages":                   s.postMessage,
		"POST /channels/{channel}/typing":                     s.postTyping,
		"POST /interactions/{interaction}/{token}/callback":   s.postCallback,
		"PATCH /webhooks/{app}/{token}/messages/{message...}": s.patchOriginal,
	} {
		method, path, _ := strings.Cut(route, " ")
		mux.HandleFunc(method+" "+apiPath+path, func(w http.ResponseWriter, r *http.Request) { s.serve(w, r, method, path, serve) })
	}
	mux.HandleFunc("GET "+socketPath, s.serveSocket)
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		s.violation("%s %s is not a route", r.Method, r.URL.Path)
		reply(w, http.StatusNotFound, &apiError{Message: "404: Not Found"})
	})
	return mux
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request, method, route string, serve handler) {
	s.active.Add(1)
	defer s.active.Done()
	body, err := io.ReadAll(io.LimitReader(r.Body, 1<<20))
	if err != nil {
		return
	}
	call := Call{Method: method, Route: route, Path: strings.TrimPrefix(r.URL.Path, apiPath), Body: string(body)}
	defer func() { s.log.add(call) }()
	if f := s.fault(call.Name()); f != nil {
		if f.After {
			s.answer(httptest.NewRecorder(), r, body, serve)
		}
		call.Status = f.Status
		s.happen(w, r, f)
		return
	}
	if s.limited(w, r) {
		call.Status = http.StatusTooManyRequests
		return
	}
	call.Status = s.answer(w, r, body, serve)
}

func (s *Server) answer(w http.ResponseWriter, r *http.Request, body []byte, serve handler) int {
	if refused := s.admit(r); refused != nil {
		return reply(w, refused.status, refused)
	}
	value, refused := serve(r, body)
	switch {
	case refused != nil:
		return reply(w, refused.status, refused)
	case value == nil:
		w.WriteHeader(http.StatusNoContent)
		return http.StatusNoContent
	}
	return reply(w, http.StatusOK, value)
}

// admit checks what every request needs. Interactions carry a token of their
// own.
func (s *Server) admit(r *http.Request) *apiError {
	if !strings.HasPrefix(r.Header.Get("User-Agent"), "DiscordBot (") {
		s.violation("%s %s has the user agent %q, which Discord blocks", r.Method, r.URL.Path, r.Header.Get("User-Agent"))
	}
	path := strings.TrimPrefix(r.URL.Path, apiPath)
	if strings.HasPrefix(path, "/interactions/") || strings.HasPrefix(path, "/webhooks/") {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.revoked || r.Header.Get("Authorization") != "Bot "+s.config.Token {
		return &apiError{status: http.StatusUnauthorized, Message: "401: Unauthorized"}
	}
	return nil
}

func reply(w http.ResponseWriter, status int, value any) int {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(encode(value))
	return status
}

// decode reads a body strictly: a field that the fake does not know is one
// that a client should not send, or that the fake should learn.
func (s *Server) decode(body []byte, into any) *apiError {
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(into); err != nil {
		s.violation("a body cannot be read: %v: %s", err, body)
		return &apiError{status: http.StatusBadRequest, Code: 50109, Message: "The request body contains invalid JSON."}
	}
	return nil
}

func (s *Server) getUser(*http.Request, []byte) (any, *apiError) { return userJSON(s.bot), nil }

func (s *Server) getApplication(*http.Request, []byte) (any, *apiError) {
	flags := FlagMessageContentLimited
	if s.config.NoContentIntent {
		flags = 0
	}
	return map[string]any{"id": s.app, "name": s.config.BotName, "flags": flags, "bot": userJSON(s.bot)}, nil
}

func (s *Server) getGuilds(*http.Request, []byte) (any, *apiError) {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := []any{}
	for _, g := range s.world.guilds {
		out = append(out, map[string]any{"id": g.ID, "name": g.Name})
	}
	return out, nil
}

func (s *Server) getGateway(*http.Request, []byte) (any, *apiError) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return map[string]any{
		"url": "ws://" + s.host + socketPath, "shards": s.config.Shards,
		"session_start_limit": map[string]any{
			"total": identifiesPerDay, "remaining": s.identifies, "max_concurrency": 1,
			"reset_after": s.config.ResetAfter / time.Millisecond,
		},
	}, nil
}

func (s *Server) getChannel(r *http.Request, _ []byte) (any, *apiError) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.world.channels[r.PathValue("channel")]
	if c == nil {
		return nil, unknown(10003, "Channel")
	}
	return channelJSON(c), nil
}

func (s *Server) postTyping(r *http.Request, _ []byte) (any, *apiError) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.world.channels[r.PathValue("channel")] == nil {
		return nil, unknown(10003, "Channel")
	}
	return nil, nil
}
