package fakemodel

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
)

// Errors of ReadRequest. Any other is the decoder's.
var (
	ErrContentType = errors.New("expected application/json")
	ErrTooLarge    = errors.New("the request body is too large")
	ErrTrailing    = errors.New("something follows the JSON")
)

// ReadRequest reads one JSON object of at most limit bytes without unknown
// fields, and nothing after it. It gives the body too, cut for the log.
func ReadRequest[Request any](w http.ResponseWriter, r *http.Request, limit int64) (Request, string, error) {
	var request, none Request
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		return none, "", ErrContentType
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, limit))
	if err != nil {
		return none, "", ErrTooLarge
	}
	raw := string(body[:min(len(body), rawMax)])
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&request); err != nil {
		return none, raw, err
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return none, raw, ErrTrailing
	}
	return request, raw, nil
}

// WriteJSON answers with a value.
func WriteJSON(w http.ResponseWriter, status int, value any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(value)
}
