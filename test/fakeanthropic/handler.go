package fakeanthropic

import (
	"crypto/subtle"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"parley/test/fakemodel"
)

const (
	messagesPath = "/v1/messages"
	modelsPath   = "/v1/models"

	requestMax = 32 << 20 // bytes of one request
	requestID  = "req_fake"
)

var versionForm = regexp.MustCompile(`^\d{4}-\d{2}-\d{2}$`)

func (s *Server) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc(messagesPath, s.messages)
	mux.HandleFunc(modelsPath, s.models)
	mux.HandleFunc(modelsPath+"/{id}", s.models)
	mux.HandleFunc("/", s.unknown)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Request-Id", requestID)
		mux.ServeHTTP(w, r)
	})
}

func (s *Server) unknown(w http.ResponseWriter, r *http.Request) {
	s.refuse(w, Call{Path: r.URL.Path}, &problem{http.StatusNotFound, "not_found_error", "Not found"})
}

// model is a model's description.
type model struct {
	Type        string `json:"type"`
	ID          string `json:"id"`
	DisplayName string `json:"display_name"`
	CreatedAt   string `json:"created_at"`
}

func describe(id string) model { return model{"model", id, "Fake", "2026-01-01T00:00:00Z"} }

// models lists the models, or describes one.
func (s *Server) models(w http.ResponseWriter, r *http.Request) {
	call := Call{Path: r.URL.Path, Status: http.StatusOK, Ended: true}
	id := r.PathValue("id")
	switch p := s.authorize(r, http.MethodGet); {
	case p != nil:
		s.refuse(w, call, p)
	case s.config.NoModelList:
		s.unknown(w, r)
	case id != "" && !slices.Contains(s.config.Models, id):
		s.refuse(w, call, &problem{http.StatusNotFound, "not_found_error", "model: " + id})
	case id != "":
		s.Add(call)
		fakemodel.WriteJSON(w, http.StatusOK, describe(id))
	default:
		s.Add(call)
		list := []model{}
		for _, id := range s.config.Models {
			list = append(list, describe(id))
		}
		fakemodel.WriteJSON(w, http.StatusOK, map[string]any{"data": list, "has_more": false, "first_id": list[0].ID, "last_id": list[len(list)-1].ID})
	}
}

func (s *Server) messages(w http.ResponseWriter, r *http.Request) {
	call := Call{Path: r.URL.Path}
	p := s.authorize(r, http.MethodPost)
	if p == nil {
		call.Request, call.Raw, p = readRequest(w, r)
	}
	if p == nil {
		p = s.validate(call.Request)
	}
	if p != nil {
		s.refuse(w, call, p)
		return
	}
	change := s.Add(call)
	out := exchange{Answer: s.Answer(w, r), request: call.Request, reply: s.NextReply(call.Request), change: change}
	out.run()
}

// authorize checks method, version and key, which comes as a bearer token
// (newer clients) or in X-Api-Key.
func (s *Server) authorize(r *http.Request, method string) *problem {
	if r.Method != method {
		return &problem{http.StatusMethodNotAllowed, "invalid_request_error", "Method Not Allowed"}
	}
	if !versionForm.MatchString(r.Header.Get("Anthropic-Version")) {
		return invalid("anthropic-version: header is required")
	}
	key, found := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if !found {
		key = r.Header.Get("X-Api-Key")
	}
	if key == "" {
		return &problem{http.StatusUnauthorized, "authentication_error", "x-api-key or authorization header is required"}
	}
	if subtle.ConstantTimeCompare([]byte(key), []byte(s.config.Key)) != 1 {
		return &problem{http.StatusUnauthorized, "authentication_error", "invalid API key"}
	}
	return nil
}

// readRequest reads one JSON object and nothing after it.
func readRequest(w http.ResponseWriter, r *http.Request) (Request, string, *problem) {
	request, raw, err := fakemodel.ReadRequest[Request](w, r, requestMax)
	switch {
	case err == nil:
		return request, raw, nil
	case errors.Is(err, fakemodel.ErrContentType):
		return request, raw, invalid("content-type: %v", err)
	case errors.Is(err, fakemodel.ErrTooLarge):
		return request, raw, &problem{http.StatusRequestEntityTooLarge, "request_too_large", "Request exceeds the maximum size"}
	case errors.Is(err, fakemodel.ErrTrailing):
		return request, raw, invalid("The request body is not valid JSON: %v", err)
	}
	return request, raw, invalid("%s: Extra inputs are not permitted, or not what is expected", strings.TrimPrefix(err.Error(), "json: "))
}

func (s *Server) refuse(w http.ResponseWriter, call Call, p *problem) {
	call.Status, call.Refused, call.Ended = p.status, p.message, true
	s.Add(call)
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(p.status)
	_, _ = io.WriteString(w, errorBody(*p))
}

func errorBody(p problem) string {
	encoded, _ := json.Marshal(map[string]any{
		"type": "error", "request_id": requestID,
		"error": map[string]string{"type": p.kind, "message": p.message},
	})
	return string(encoded)
}
