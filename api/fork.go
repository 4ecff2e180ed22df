package api

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"time"

	"parley/adapters"
	"parley/sessions"
)

// copyTimeout bounds the copying of a session, which may be long.
const copyTimeout = 10 * time.Minute

type forkRequest struct {
	Entry   leafID `json:"entry"` // where the copy ends; null: before the first entry; missing: the leaf
	ID      string `json:"id"`    // empty: one is drawn
	Surface string `json:"surface"`
	Name    string `json:"name"` // empty: the source's
}

// forkSession copies a branch into a new session.
func (s *Server) forkSession(w http.ResponseWriter, r *http.Request) error {
	var request forkRequest
	if err := readOptionalJSON(w, r, noteBodyMax, &request); err != nil {
		return err
	}
	return s.answerFork(w, r, request)
}

type resumeRequest struct {
	Surface string `json:"surface"` // attach it as well
}

// resumeSession takes a session up again, on a surface where one is named. An
// expired one is forked.
func (s *Server) resumeSession(w http.ResponseWriter, r *http.Request) error {
	var request resumeRequest
	if err := readOptionalJSON(w, r, noteBodyMax, &request); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(r.Context(), storeTimeout)
	defer cancel()
	record, err := s.reach(ctx, r)
	if err != nil {
		return err
	}
	if record.State == sessions.StateExpired {
		return s.answerFork(w, r, forkRequest{Surface: request.Surface})
	}
	answer, err := s.revive(ctx, callerOf(r), record, request.Surface)
	if err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, answer)
}

func (s *Server) revive(ctx context.Context, who caller, record sessions.Record, key string) (attachedAnswer, error) {
	if key == "" {
		record, err := s.config.Store.Touch(ctx, record.ID)
		return attachedAnswer{Session: sessionView(record)}, err
	}
	surface, err := surfaceOf(key)
	if err == nil {
		err = who.mayBind(surface)
	}
	if err != nil {
		return attachedAnswer{}, err
	}
	return s.attach(ctx, who, record, surface, true)
}

func (s *Server) answerFork(w http.ResponseWriter, r *http.Request, request forkRequest) error {
	key, err := idempotencyKey(r)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(r.Context(), copyTimeout)
	defer cancel()
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(copyTimeout + writeTimeout))
	record, err := s.reach(ctx, r)
	if err != nil {
		return err
	}
	answer, created, err := s.fork(ctx, callerOf(r), record, request, key)
	if err != nil {
		return err
	}
	status := http.StatusOK
	if created {
		status = http.StatusCreated
		w.Header().Set("Location", "/v1/sessions/"+url.PathEscape(answer.Session.ID))
	}
	return writeJSON(w, status, answer)
}

// fork makes the new session, and attaches it where that is asked for. What
// forbids the attachment forbids the fork.
func (s *Server) fork(ctx context.Context, who caller, from sessions.Record, request forkRequest, key string) (answer attachedAnswer, created bool, err error) {
	transcript, err := s.forked(ctx, who, from, request, key)
	if err != nil {
		return answer, false, err
	}
	var surface adapters.Surface
	if request.Surface != "" {
		if surface, err = s.mayAttach(ctx, who, transcript.Record, request.Surface); err != nil {
			return answer, false, err
		}
	}
	record, created, err := s.importOnce(ctx, transcript, who.digest("fork", key), request.ID == "")
	if err != nil {
		return answer, false, err
	}
	answer.Session = sessionView(record)
	if request.Surface != "" {
		answer, err = s.attach(ctx, who, record, surface, false)
	}
	return answer, created, err
}

func (s *Server) forked(ctx context.Context, who caller, from sessions.Record, request forkRequest, key string) (*sessions.Transcript, error) {
	leaf := from.Leaf
	if request.Entry.given {
		var err error
		if leaf, err = sessions.ParseEntryID(request.Entry.id); err != nil {
			return nil, err
		}
	}
	id := request.ID
	if id == "" {
		id = s.copyID(who, from, key)
	}
	if err := errors.Join(sessions.CheckID(id), who.mayName(id)); err != nil {
		return nil, err
	}
	transcript, err := sessions.Fork(ctx, s.config.Store, sessions.ForkRequest{From: from, Leaf: leaf, ID: id, Now: s.config.Now()})
	if errors.Is(err, sessions.ErrNotFound) && request.Entry.given {
		return nil, entryProblem(request.Entry.id)
	}
	if err == nil && request.Name != "" {
		transcript.Record.Name = request.Name
	}
	return transcript, err
}

// copyID draws the id of a copy: the same for the same key.
func (s *Server) copyID(who caller, from sessions.Record, key string) string {
	day := s.config.Now()
	if key != "" {
		day = from.CreatedAt
	}
	return sessions.ForkPrefix(from.ID, day) + who.ending("copy "+from.ID, key)
}

// mayAttach refuses what attach would refuse a session that is not there yet.
func (s *Server) mayAttach(ctx context.Context, who caller, record sessions.Record, key string) (adapters.Surface, error) {
	surface, err := surfaceOf(key)
	if err == nil {
		err = who.mayBind(surface)
	}
	if err != nil {
		return surface, err
	}
	current, err := s.bound(ctx, key)
	if err != nil {
		return surface, err
	}
	return surface, sessions.CheckAttach(record, sessions.AttachRequest{Session: record.ID, Surface: key, Group: isGroup(surface, current)})
}

// importOnce makes a session of a transcript, once per key. An id that was
// drawn for the key can only have been taken by the same request.
func (s *Server) importOnce(ctx context.Context, transcript *sessions.Transcript, key string, drawn bool) (record sessions.Record, created bool, err error) {
	_, duplicate, err := s.once(ctx, transcript.Record.ID, key, func() (bool, error) {
		record, err = s.config.Store.Import(ctx, transcript.Record, transcript.Entries)
		return true, err
	})
	if duplicate || key != "" && drawn && errors.Is(err, sessions.ErrConflict) {
		record, err = s.config.Store.Get(ctx, transcript.Record.ID)
		return record, false, err
	}
	return record, err == nil, err
}
