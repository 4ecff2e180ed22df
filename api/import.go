package api

import (
	"context"
	"errors"
	"io"
	"mime"
	"net/http"
	"slices"
	"time"

	"parley/sessions"
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
	in := &transcriptIn{body: http.MaxBytesReader(w, r.Body, importMax), control: http.NewResponseController(w)}
	transcript, err := sessions.ReadTranscript(in)
	if err != nil {
		return in.cause(err)
	}
	who := callerOf(r)
	if newID {
		transcript.Record.ID = s.copyID(who, transcript.Record, key)
	}
	record, created, err := s.importOnce(ctx, transcript, who.digest("import", key), newID)
	if errors.Is(err, sessions.ErrConflict) {
		return &problemError{Status: http.StatusConflict, Code: "conflict",
			Detail: "There is a session " + shorten(transcript.Record.ID) + " already. Import it under another id with ?new_id=1, or delete that one first."}
	}
	if err != nil {
		return in.cause(err)
	}
	return writeSession(w, record, created)
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
	err     error
}

// Read reads one piece.
func (t *transcriptIn) Read(into []byte) (int, error) {
	// Only a connection knows deadlines; a recorder in a test does not.
	_ = t.control.SetReadDeadline(time.Now().Add(bodyTimeout))
	_ = t.control.SetWriteDeadline(time.Now().Add(bodyTimeout + copyTimeout))
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
