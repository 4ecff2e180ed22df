package api

import (
	"net/http"
	"time"
)

// transcriptType is the media type of JSON Lines.
const transcriptType = "application/jsonl"

// exportSession streams a session as a transcript. What goes wrong after the
// first byte can only cut the connection, so that nobody takes what came for
// the whole.
func (s *Server) exportSession(w http.ResponseWriter, r *http.Request) error {
	a, err := askedOf(w, r)
	if err != nil {
		return err
	}
	out := &transcriptOut{w: w, control: http.NewResponseController(w)}
	if r.Method == http.MethodHead {
		if _, err := s.room.Get(r.Context(), a.by, a.id); err != nil {
			return err
		}
		out.begin()
		return nil
	}
	err = s.room.Export(r.Context(), a.by, a.id, out)
	if err == nil || !out.begun {
		return err
	}
	if r.Context().Err() == nil {
		s.config.Logger.Warn("an export was cut", "session", a.id, "error", err)
	}
	panic(http.ErrAbortHandler)
}

// transcriptOut begins the answer with its first byte, and gives each piece
// time of its own.
type transcriptOut struct {
	w       http.ResponseWriter
	control *http.ResponseController
	begun   bool
}

func (t *transcriptOut) begin() {
	if !t.begun {
		t.begun = true
		t.w.Header().Set("Content-Type", transcriptType)
		t.w.Header().Set("Content-Disposition", `attachment; filename="session.jsonl"`)
	}
}

// Write sends one piece.
func (t *transcriptOut) Write(piece []byte) (int, error) {
	t.begin()
	// Only a connection knows deadlines; a recorder in a test does not.
	_ = t.control.SetWriteDeadline(time.Now().Add(writeTimeout))
	return t.w.Write(piece)
}
