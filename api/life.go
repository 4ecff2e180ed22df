package api

import (
	"context"
	"net/http"
	"time"

	"parley/conversations"
)

// seen is the answer of a verb that leaves a record.
func seen(result conversations.Result, err error) (any, error) {
	return sessionView(result.Record), err
}

// touchSession counts as activity: a suspended session is active again.
func (s *Server) touchSession(ctx context.Context, a asked) (any, error) {
	return seen(s.room.Touch(ctx, a.by, a.id))
}

// expireSession ends a session for good.
func (s *Server) expireSession(ctx context.Context, a asked) (any, error) {
	return seen(s.room.Expire(ctx, a.by, a.id))
}

type clearedAnswer struct {
	sessionJSON
	Duplicate bool `json:"duplicate,omitempty"`
}

// clearSession erases the log for good and keeps the record.
func (s *Server) clearSession(ctx context.Context, a asked) (any, error) {
	result, err := s.room.Clear(ctx, a.by, a.id, a.key)
	return clearedAnswer{sessionView(result.Record), result.Duplicate}, err
}

type stopAnswer struct {
	Stopping  bool `json:"stopping"` // false: no turn ran
	Duplicate bool `json:"duplicate,omitempty"`
}

// postStop asks the running turn to stop.
func (s *Server) postStop(ctx context.Context, a asked) (any, error) {
	result, err := s.room.Stop(ctx, a.by, a.id, a.key)
	return stopAnswer{result.Stopping, result.Duplicate}, err
}

type deletedAnswer struct {
	Deleted bool `json:"deleted"`
}

// deleteSession removes a session for good. With ?unused=1 it removes only one
// that was opened by hand and in which no turn ever ended; deleted says
// whether it did.
func (s *Server) deleteSession(ctx context.Context, a asked) (any, error) {
	values, err := queryOf(a.r, "unused")
	if err != nil {
		return nil, err
	}
	unused, err := flag(values, "unused")
	if err != nil {
		return nil, err
	}
	answer := deletedAnswer{Deleted: true}
	if unused {
		answer.Deleted, err = s.room.Discard(ctx, a.by, a.id)
	} else {
		_, err = s.room.Delete(ctx, a.by, a.id)
	}
	return answer, err
}

type checkpointAnswer struct {
	Made    bool        `json:"made"` // false: nothing was said since the last one
	Session sessionJSON `json:"session"`
	Entries []EntryView `json:"entries"` // the checkpoint's own
}

// checkpointSession brings the notes on a session up to date, now. It takes as
// long as the model does.
func (s *Server) checkpointSession(_ context.Context, a asked) (any, error) {
	// Only a connection knows deadlines; a recorder in a test does not.
	_ = http.NewResponseController(a.w).SetWriteDeadline(time.Now().Add(CheckpointMax + writeTimeout))
	ctx, cancel := context.WithTimeout(a.r.Context(), CheckpointMax+storeTimeout)
	defer cancel()
	result, err := s.room.Checkpoint(ctx, a.by, a.id) //nolint:contextcheck // longer than the handler's own time: the request's
	return checkpointAnswer{Made: result.Made, Session: sessionView(result.Record), Entries: s.views(result.Entries, false)}, err
}
