package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"slices"
	"time"
	"unicode/utf8"
)

func writeJSON(w http.ResponseWriter, status int, value any) error {
	body, err := json.Marshal(value)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(append(body, '\n')) // the caller may have gone
	return nil
}

// readJSON reads one JSON value of at most limit bytes, strictly: the right
// content type, valid UTF-8, no unknown members, nothing behind it.
func readJSON(w http.ResponseWriter, r *http.Request, limit int64, into any) error {
	return readAs(w, r, limit, into, "application/json")
}

// readPatch is readJSON for a JSON merge patch.
func readPatch(w http.ResponseWriter, r *http.Request, limit int64, into any) error {
	return readAs(w, r, limit, into, "application/json", "application/merge-patch+json")
}

func readAs(w http.ResponseWriter, r *http.Request, limit int64, into any, kinds ...string) error {
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || !slices.Contains(kinds, kind) {
		return mediaProblem("JSON", kinds[0])
	}
	body, err := readBody(w, r, limit)
	if err != nil {
		return err
	}
	return decodeStrict(body, into)
}

// readOptionalJSON is readJSON for a body that may be missing.
func readOptionalJSON(w http.ResponseWriter, r *http.Request, limit int64, into any) error {
	if r.ContentLength == 0 {
		return nil
	}
	return readJSON(w, r, limit, into)
}

func readBody(w http.ResponseWriter, r *http.Request, limit int64) ([]byte, error) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, limit))
	var size *http.MaxBytesError
	switch {
	case errors.As(err, &size):
		return nil, err
	case err != nil:
		return nil, badRequest("The body did not arrive whole. Send the request again.")
	}
	// The deadline was the body's: what is answered after it may take longer.
	_ = http.NewResponseController(w).SetReadDeadline(time.Time{})
	return body, nil
}

func decodeStrict(body []byte, into any) error {
	if !utf8.Valid(body) {
		return badRequest("The body is not valid UTF-8. Encode it as UTF-8 and send it again.")
	}
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(into); err != nil {
		return badRequest("The body is not the JSON that is expected (" + err.Error() + "). GET /v1/openapi.json describes it.")
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return badRequest("There is something behind the JSON value. Send one value only.")
	}
	return nil
}
