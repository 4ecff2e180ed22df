package api

import (
	"context"
	"net/http"
	"time"
)

type checkpointAnswer struct {
	Made    bool        `json:"made"` // false: nothing was said since the last one
	Session sessionJSON `json:"session"`
	Entries []EntryView `json:"entries"` // the checkpoint's own
}

// checkpointSession brings the notes on a session up to date, now. Sent again
// it finds nothing new.
func (s *Server) checkpointSession(w http.ResponseWriter, r *http.Request) error {
	read, cancel := context.WithTimeout(r.Context(), storeTimeout)
	defer cancel()
	record, err := s.reach(read, r)
	if err != nil {
		return err
	}
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(CheckpointMax + writeTimeout))
	made, err := s.config.Operations.Checkpoint(r.Context(), record.ID)
	if err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, checkpointAnswer{Made: made.Made, Session: sessionView(made.Record), Entries: s.views(made.Entries, false)})
}
