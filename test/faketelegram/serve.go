package faketelegram

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// bodyMax bounds a request's body, in bytes.
const bodyMax = 1 << 20

// method is one Bot API method: the parameters it knows and what it does.
type method struct {
	params []string
	run    func(s *Server, r request) (any, error)
}

// request is one call's parameters.
type request struct {
	http   *http.Request
	params map[string]string
}

func methods() map[string]method {
	return map[string]method{
		"getMe":            {nil, (*Server).getMe},
		"getUpdates":       {[]string{"offset", "limit", "timeout", "allowed_updates"}, (*Server).getUpdates},
		"setWebhook":       {[]string{"url", "secret_token", "allowed_updates", "max_connections", "drop_pending_updates"}, (*Server).setWebhook},
		"deleteWebhook":    {[]string{"drop_pending_updates"}, (*Server).deleteWebhook},
		"getWebhookInfo":   {nil, (*Server).getWebhookInfo},
		"sendMessage":      {[]string{"chat_id", "message_thread_id", "text", "parse_mode", "entities", "link_preview_options", "disable_notification", "protect_content", "reply_parameters", "reply_markup"}, (*Server).sendMessage},
		"editMessageText":  {[]string{"chat_id", "message_id", "text", "parse_mode", "entities", "link_preview_options", "reply_markup"}, (*Server).editMessageText},
		"deleteMessage":    {[]string{"chat_id", "message_id"}, (*Server).deleteMessage},
		"getChatMember":    {[]string{"chat_id", "user_id"}, (*Server).getChatMember},
		"sendChatAction":   {[]string{"chat_id", "message_thread_id", "action"}, (*Server).sendChatAction},
		"setMyCommands":    {[]string{"commands", "scope", "language_code"}, (*Server).setMyCommands},
		"deleteMyCommands": {[]string{"scope", "language_code"}, (*Server).deleteMyCommands},
		"getMyCommands":    {[]string{"scope", "language_code"}, (*Server).getMyCommands},
	}
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	name, ok := s.authorize(w, r)
	if !ok {
		return
	}
	params, err := readParams(r)
	if err != nil {
		writeError(w, badRequest(err.Error()))
		return
	}
	call := s.begin(name, params)
	code, description := 0, ""
	defer func() { s.end(call, code, description) }()
	fault, faulty := s.takeFault(name)
	if faulty && !fault.After {
		var over bool
		if code, over = s.fail(w, r, fault); over {
			return
		}
	}
	result, err := s.dispatch(name, request{http: r, params: params})
	if faulty && fault.After {
		code, _ = s.fail(w, r, fault)
		return
	}
	code, description = answer(w, result, err)
}

func answer(w http.ResponseWriter, result any, err error) (int, string) {
	if err == nil {
		writeJSON(w, http.StatusOK, map[string]any{"ok": true, "result": result})
		return http.StatusOK, ""
	}
	var refusal *apiError
	if !errors.As(err, &refusal) {
		refusal = badRequest(err.Error())
	}
	return writeError(w, refusal), refusal.Description
}

// authorize checks the token in the path and gives the method's name.
func (s *Server) authorize(w http.ResponseWriter, r *http.Request) (string, bool) {
	token, name, found := strings.Cut(strings.TrimPrefix(r.URL.Path, "/bot"), "/")
	switch {
	case !found || !strings.HasPrefix(r.URL.Path, "/bot") || !strings.Contains(token, ":"):
		writeError(w, &apiError{Code: 404, Description: "Not Found"})
	case token != s.options.Token:
		writeError(w, &apiError{Code: 401, Description: "Unauthorized"})
	default:
		return name, true
	}
	return "", false
}

func (s *Server) dispatch(name string, r request) (any, error) {
	m, known := s.methods[name]
	if !known {
		s.violate("method %q is not known", name)
		return nil, &apiError{Code: 404, Description: "Not Found: method not found"}
	}
	for param := range r.params {
		if !slices.Contains(m.params, param) {
			s.violate("%s has no parameter %q", name, param)
			return nil, badRequest("unknown parameter " + param)
		}
	}
	return m.run(s, r)
}

func (s *Server) violate(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.violations = append(s.violations, fmt.Sprintf(format, args...))
}

// readParams takes a method's parameters from query, form or JSON body.
func readParams(r *http.Request) (map[string]string, error) {
	r.Body = http.MaxBytesReader(nil, r.Body, bodyMax)
	params := map[string]string{}
	if strings.HasPrefix(r.Header.Get("Content-Type"), "application/json") {
		var body map[string]json.RawMessage
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
			return nil, err
		}
		for key, value := range body {
			params[key] = jsonParam(value)
		}
		return params, nil
	}
	if err := r.ParseForm(); err != nil {
		return nil, err
	}
	return merge(params, r.Form), nil
}

func merge(params map[string]string, form url.Values) map[string]string {
	for key := range form {
		params[key] = form.Get(key)
	}
	return params
}

func jsonParam(value json.RawMessage) string {
	var text string
	if json.Unmarshal(value, &text) == nil {
		return text
	}
	return string(value)
}

func (r request) integer(name string, standard int64) (int64, error) {
	text := r.params[name]
	if text == "" {
		return standard, nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0, badRequest(name + " must be an integer")
	}
	return n, nil
}

func writeError(w http.ResponseWriter, e *apiError) int {
	body := map[string]any{"ok": false, "error_code": e.Code, "description": e.Description}
	if e.Parameters != nil {
		body["parameters"] = e.Parameters
	}
	writeJSON(w, e.Code, body)
	return e.Code
}

func writeJSON(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(body)
}
