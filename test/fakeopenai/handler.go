package fakeopenai

import (
	"crypto/subtle"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"

	"parley/test/fakemodel"
)

const (
	chatPath   = "/v1/chat/completions"
	modelsPath = "/v1/models"

	requestMax = 10 << 20 // bytes of one request
)

func (s *Server) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc(chatPath, s.chat)
	mux.HandleFunc(modelsPath, s.models)
	mux.HandleFunc("/", s.unknown)
	return mux
}

func (s *Server) unknown(w http.ResponseWriter, r *http.Request) {
	p := problem{http.StatusNotFound, "Invalid URL (" + r.Method + " " + r.URL.Path + ")", "invalid_request_error", ""}
	s.refuse(w, Call{Path: r.URL.Path}, &p)
}

func (s *Server) models(w http.ResponseWriter, r *http.Request) {
	call := Call{Path: r.URL.Path, Status: http.StatusOK, Ended: true}
	if p := s.authorize(r, http.MethodGet); p != nil {
		s.refuse(w, call, p)
		return
	}
	if s.config.NoModelList {
		s.unknown(w, r)
		return
	}
	s.Add(call)
	type model struct {
		ID      string `json:"id"`
		Object  string `json:"object"`
		Created int64  `json:"created"`
		OwnedBy string `json:"owned_by"`
	}
	list := []model{}
	for _, id := range s.config.Models {
		list = append(list, model{id, "model", created, "fake"})
	}
	fakemodel.WriteJSON(w, http.StatusOK, map[string]any{"object": "list", "data": list})
}

func (s *Server) chat(w http.ResponseWriter, r *http.Request) {
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

// authorize checks method and key.
func (s *Server) authorize(r *http.Request, method string) *problem {
	if r.Method != method {
		return &problem{http.StatusMethodNotAllowed, "Not allowed to " + r.Method + " on " + r.URL.Path + ".", "invalid_request_error", "method_not_supported"}
	}
	key, found := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if !found {
		return &problem{http.StatusUnauthorized, "You didn't provide an API key.", "invalid_request_error", ""}
	}
	if subtle.ConstantTimeCompare([]byte(key), []byte(s.config.Key)) != 1 {
		return &problem{http.StatusUnauthorized, "Incorrect API key provided: " + key + ".", "invalid_request_error", "invalid_api_key"}
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
		return request, raw, &problem{http.StatusUnsupportedMediaType, err.Error(), "invalid_request_error", "unsupported_content_type"}
	case errors.Is(err, fakemodel.ErrTooLarge):
		return request, raw, &problem{http.StatusRequestEntityTooLarge, err.Error(), "invalid_request_error", "request_too_large"}
	}
	return request, raw, invalid("We could not parse the JSON body of your request: %v", err)
}

func (s *Server) refuse(w http.ResponseWriter, call Call, p *problem) {
	call.Status, call.Refused, call.Ended = p.status, p.message, true
	s.Add(call)
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(p.status)
	_, _ = io.WriteString(w, errorBody(*p))
}

func errorBody(p problem) string {
	type inner struct {
		Message string  `json:"message"`
		Type    string  `json:"type"`
		Param   *string `json:"param"`
		Code    *string `json:"code"`
	}
	e := inner{Message: p.message, Type: p.kind}
	if p.code != "" {
		e.Code = &p.code
	}
	encoded, _ := json.Marshal(map[string]inner{"error": e})
	return string(encoded)
}
