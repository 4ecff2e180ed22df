package api

import (
	"context"
	"errors"
	"io"
	"mime"
	"net/http"
	"slices"
	"time"
)

// importMax bounds a transcript that is sent, in bytes.
const importMax = 8 << 30

// importSession makes a session of a transcript, while it arrives: all of it or
// nothing.
func (s *Server) importSession(w http.ResponseWriter, r *http.Request) error {
	key, newID, err := importQuery(r)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	in := &transcriptIn{body: http.MaxBytesReader(w, r.Body, importMax), control: http.NewResponseController(w), patience: s.config.Limits.Body}
	result, err := s.room.Import(ctx, callerOf(r).Caller, in, newID, key)
	if err != nil {
		return in.cause(err)
	}
	return writeMade(w, result.Record.ID, result.Made, sessionView(result.Record))
}

func importQuery(r *http.Request) (key string, newID bool, err error) {
	values, err := queryOf(r, "new_id")
	if err != nil {
		return "", false, err
	}
	if newID, err = flag(values, "new_id"); err != nil {
		return "", false, err
	}
	kinds := []string{transcriptType, "application/x-ndjson", "application/x-jsonlines"}
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || !slices.Contains(kinds, kind) {
		return "", false, mediaProblem("JSON Lines", transcriptType)
	}
	key, err = idempotencyKey(r)
	return key, newID, err
}

// transcriptIn reads a body of any length, as long as it keeps coming, and
// remembers why it ended too soon.
type transcriptIn struct {
	body    io.Reader
	control *http.ResponseController
	// patience is how long one piece may take.
	patience time.Duration
	err      error
}

// Read reads one piece.
func (t *transcriptIn) Read(into []byte) (int, error) {
	// Only a connection knows deadlines; a recorder in a test does not.
	_ = t.control.SetReadDeadline(time.Now().Add(t.patience))
	_ = t.control.SetWriteDeadline(time.Now().Add(t.patience + copyTimeout))
	n, err := t.body.Read(into)
	if err != nil && !errors.Is(err, io.EOF) {
		t.err = err
	}
	return n, err
}

// cause is why an import failed: what ended the body, rather than that it
// ended.
func (t *transcriptIn) cause(err error) error {
	var size *http.MaxBytesError
	switch {
	case t.err == nil:
		return err
	case errors.As(t.err, &size):
		return t.err
	}
	return badRequest("The transcript did not arrive whole. Send it again.")
}
