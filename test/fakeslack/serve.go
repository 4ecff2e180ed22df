package fakeslack

import (
	"encoding/json"
	"io"
	"maps"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// answer is the JSON of an answer.
type answer map[string]any

func failure(code string) answer { return answer{"ok": false, "error": code} }

// method is one method of the Web API.
type method struct {
	handle func(s *Server, params url.Values) answer
	args   string // the arguments it knows, separated by spaces
	scope  string // one of these, separated by |; empty: none
	app    bool   // takes the app-level token
}

func methods() map[string]method {
	const anyHistory = "channels:history|groups:history|im:history|mpim:history"
	const anyRead = "channels:read|groups:read|im:read|mpim:read"
	return map[string]method{
		"auth.test":             {handle: (*Server).authTest},
		"apps.connections.open": {handle: (*Server).connectionsOpen, scope: "connections:write", app: true},
		"chat.postMessage": {
			handle: (*Server).postMessage, scope: "chat:write",
			args: "channel text blocks thread_ts metadata client_msg_id unfurl_links unfurl_media link_names mrkdwn parse reply_broadcast",
		},
		"chat.update":           {handle: (*Server).update, scope: "chat:write", args: "channel ts text blocks metadata link_names parse"},
		"chat.delete":           {handle: (*Server).delete, scope: "chat:write", args: "channel ts"},
		"users.info":            {handle: (*Server).usersInfo, scope: "users:read", args: "user include_locale"},
		"users.conversations":   {handle: (*Server).usersConversations, scope: anyRead, args: "user types limit cursor exclude_archived team_id"},
		"conversations.info":    {handle: (*Server).conversationsInfo, scope: anyRead, args: "channel include_locale include_num_members"},
		"conversations.history": {handle: (*Server).history, scope: anyHistory, args: "channel cursor inclusive latest limit oldest include_all_metadata"},
		"conversations.replies": {handle: (*Server).replies, scope: anyHistory, args: "channel ts cursor inclusive latest limit oldest include_all_metadata"},
	}
}

// allScopes are those that the methods and events here can need.
func allScopes() map[string]bool {
	scopes := map[string]bool{"app_mentions:read": true, "commands": true, "reactions:read": true}
	for _, m := range methods() {
		for scope := range strings.SplitSeq(m.scope, "|") {
			if scope != "" && !m.app {
				scopes[scope] = true
			}
		}
	}
	return scopes
}

const bodyMax = 1 << 20

func (s *Server) serve(w http.ResponseWriter, request *http.Request) {
	name := request.PathValue("method")
	params, token := s.readParams(request)
	seq := s.begin(name, params)
	fault, faulty := s.nextFault(name)
	if faulty && !fault.After {
		s.end(seq, fault.Status, fault.Error)
		fault.serve(w, request)
		return
	}
	result := s.run(name, params, token)
	if faulty {
		s.end(seq, fault.Status, fault.Error)
		fault.serve(w, request)
		return
	}
	code, _ := result["error"].(string)
	s.end(seq, http.StatusOK, code)
	s.mu.Lock()
	scopes := strings.Join(s.options.Scopes, ",")
	s.mu.Unlock()
	if token == s.options.AppToken {
		scopes = strings.Join(s.options.AppScopes, ",")
	}
	w.Header().Set("X-OAuth-Scopes", scopes)
	writeJSON(w, result)
}

func writeJSON(w http.ResponseWriter, value any) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	_ = json.NewEncoder(w).Encode(value)
}

// readParams reads form or JSON arguments and takes the token out of them.
func (s *Server) readParams(request *http.Request) (params url.Values, token string) {
	params = url.Values{}
	if body, err := io.ReadAll(io.LimitReader(request.Body, bodyMax)); err == nil {
		kind, _, _ := mime.ParseMediaType(request.Header.Get("Content-Type"))
		if kind == "application/json" {
			var object map[string]any
			_ = json.Unmarshal(body, &object)
			for key, value := range object {
				text, isText := value.(string)
				if !isText {
					encoded, _ := json.Marshal(value)
					text = string(encoded)
				}
				params.Set(key, text)
			}
		} else if form, err := url.ParseQuery(string(body)); err == nil {
			params = form
		}
	}
	token = params.Get("token")
	params.Del("token")
	if bearer, ok := strings.CutPrefix(request.Header.Get("Authorization"), "Bearer "); ok {
		token = bearer
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(request.URL.Query()) > 0 {
		s.violateLocked("%s has arguments in its address: %v", request.URL.Path, slices.Sorted(maps.Keys(request.URL.Query())))
	}
	if request.Method != http.MethodPost {
		s.violateLocked("%s is called with %s", request.URL.Path, request.Method)
	}
	return params, token
}

// run checks the call as Slack does and runs the method.
func (s *Server) run(name string, params url.Values, token string) answer {
	m, known := methods()[name]
	if !known {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.violateLocked("%s is called, which is not known", name)
		return failure("unknown_method")
	}
	s.mu.Lock()
	refused := s.authorizeLocked(m, token)
	for _, key := range slices.Sorted(maps.Keys(params)) {
		if !slices.Contains(strings.Fields(m.args), key) {
			s.violateLocked("%s has the argument %s, which is not known", name, key)
		}
	}
	s.mu.Unlock()
	if refused != nil {
		return refused
	}
	return m.handle(s, params)
}

func (s *Server) authorizeLocked(m method, token string) answer {
	wanted, other, scopes := s.options.BotToken, s.options.AppToken, s.options.Scopes
	if m.app {
		wanted, other, scopes = other, wanted, s.options.AppScopes
	}
	switch {
	case token == "":
		return failure("not_authed")
	case token == other:
		return failure("not_allowed_token_type")
	case token != wanted:
		return failure("invalid_auth")
	case s.revoked && !m.app, s.appRevoked && m.app:
		return failure("token_revoked")
	case m.scope != "" && !hasAny(scopes, m.scope):
		refused := failure("missing_scope")
		refused["needed"], refused["provided"] = strings.Split(m.scope, "|")[0], strings.Join(scopes, ",")
		return refused
	}
	return nil
}

// serve answers a call with the fault.
func (f Fault) serve(w http.ResponseWriter, request *http.Request) {
	switch {
	case f.Hang:
		<-request.Context().Done()
	case f.Drop:
		if connection, _, err := http.NewResponseController(w).Hijack(); err == nil {
			_ = connection.Close()
		}
	case f.Status != 0:
		if f.RetryAfter > 0 {
			w.Header().Set("Retry-After", strconv.Itoa(int(f.RetryAfter/time.Second)))
		}
		w.WriteHeader(f.Status)
		_, _ = io.WriteString(w, f.Body)
	case f.Body != "":
		_, _ = io.WriteString(w, f.Body)
	default:
		writeJSON(w, failure(f.Error))
	}
}

func (s *Server) authTest(url.Values) answer {
	return answer{
		"ok": true, "url": "https://fake.slack.com/", "team": "Fake", "user": s.options.BotName,
		"team_id": s.options.Team, "user_id": s.options.BotUser, "bot_id": s.options.BotID, "is_enterprise_install": false,
	}
}

func (s *Server) connectionsOpen(url.Values) answer {
	return answer{"ok": true, "url": "ws" + strings.TrimPrefix(s.http.URL, "http") + "/link/?ticket=" + s.sockets.ticket() + "&app_id=" + AppID}
}
