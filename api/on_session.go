package api

import (
	"context"
	"net/http"

	"parley/conversations"
)

// asked is a request about the session that its path names, as every verb of a
// conversation takes it.
type asked struct {
	w   http.ResponseWriter
	r   *http.Request
	by  conversations.Caller
	id  string
	key string // the Idempotency-Key; empty: none
}

func askedOf(w http.ResponseWriter, r *http.Request) (asked, error) {
	key, err := idempotencyKey(r)
	return asked{w: w, r: r, by: callerOf(r).Caller, id: r.PathValue("id"), key: key}, err
}

// onSession is the handler of a request about a session that has no body. do
// has storeTimeout; what it returns is the answer.
func (s *Server) onSession(do func(ctx context.Context, a asked) (any, error)) handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		a, err := askedOf(w, r)
		if err != nil {
			return err
		}
		ctx, cancel := context.WithTimeout(r.Context(), storeTimeout)
		defer cancel()
		answer, err := do(ctx, a)
		if err != nil {
			return err
		}
		return writeJSON(w, http.StatusOK, answer)
	}
}

// withBody is onSession for a request with a JSON body, of at most limit bytes.
func withBody[T any](s *Server, limit int64, do func(ctx context.Context, a asked, body T) (any, error)) handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		var body T
		if err := readJSON(w, r, limit, &body); err != nil {
			return err
		}
		return s.onSession(func(ctx context.Context, a asked) (any, error) { return do(ctx, a, body) })(w, r)
	}
}
