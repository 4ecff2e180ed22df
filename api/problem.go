package api

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"time"

	"parley/conversations"
	"parley/sessions"
	"parley/sessions/transcript"
)

// problemError is an error answer as RFC 9457 describes it. Detail always says what
// to do next. Code is for programs and never changes its meaning.
type problemError struct {
	Status     int
	Code       string
	Detail     string
	RetryAfter time.Duration // 0: not said
	State      *sessions.StateError
	Line       int // of a transcript; 0: none
	Current    string
}

// Error is the detail.
func (p *problemError) Error() string { return p.Detail }

type problemJSON struct {
	Type   string `json:"type"`
	Title  string `json:"title"`
	Status int    `json:"status"`
	Detail string `json:"detail"`
	Code   string `json:"code"`

	// Of code state: what the session is, and what was asked of it.
	Session       string          `json:"session,omitempty"`
	State         sessions.State  `json:"state,omitempty"`
	SessionStatus sessions.Status `json:"session_status,omitempty"`
	Attempted     string          `json:"attempted,omitempty"`

	Current string `json:"current,omitempty"` // of code moved: the session that the place has now

	Line int `json:"line,omitempty"` // of code transcript: where it cannot be read
}

func (p *problemError) body() problemJSON {
	body := problemJSON{Type: "about:blank", Title: http.StatusText(p.Status), Status: p.Status, Detail: p.Detail, Code: p.Code, Line: p.Line, Current: p.Current}
	if p.State != nil {
		body.Session, body.State, body.SessionStatus, body.Attempted = p.State.Session, p.State.State, p.State.Status, p.State.Attempted
	}
	return body
}

func writeProblem(w http.ResponseWriter, p *problemError) {
	header := w.Header()
	header.Set("Content-Type", "application/problem+json")
	p.retryAfter(header)
	if p.Status == http.StatusUnauthorized {
		header.Set("WWW-Authenticate", `Bearer realm="parley"`)
	}
	w.WriteHeader(p.Status)
	// The head is out: nothing more can be said when the caller has gone.
	_ = json.NewEncoder(w).Encode(p.body())
}

// retryAfter says, in whole seconds, when it is worth trying again.
func (p *problemError) retryAfter(header http.Header) {
	if p.RetryAfter > 0 {
		header.Set("Retry-After", strconv.Itoa(int((p.RetryAfter+time.Second-1)/time.Second)))
	}
}

// fail answers with the problem an error amounts to. Causes that are not the
// caller's to know go to the log only.
func (s *Server) fail(w http.ResponseWriter, r *http.Request, err error) {
	if errors.Is(err, context.Canceled) && r.Context().Err() != nil {
		return // the caller has gone
	}
	p := problemOf(err)
	if p.Status >= http.StatusInternalServerError {
		s.config.Logger.Error("http request failed", "method", r.Method, "route", r.Pattern, "error", err)
	}
	writeProblem(w, p)
}

// problemOf maps every error to what the caller may know of it.
func problemOf(err error) *problemError {
	var (
		problem *problemError
		refusal *conversations.Refusal
		lines   *transcript.Error
		invalid *sessions.InvalidError
		state   *sessions.StateError
		moved   *sessions.MovedError
		size    *http.MaxBytesError
	)
	switch {
	case errors.As(err, &problem):
		return problem
	case errors.As(err, &size):
		return tooLargeProblem(size.Limit)
	case errors.As(err, &lines):
		return &problemError{Status: http.StatusBadRequest, Code: "transcript", Line: lines.Line,
			Detail: "The transcript cannot be imported, and nothing of it was: " + lines.Error() + "."}
	case errors.As(err, &invalid):
		return badRequest(invalid.Error() + ".")
	case errors.As(err, &state):
		return stateProblem(state)
	case errors.As(err, &refusal):
		return refusalProblem(refusal)
	case errors.As(err, &moved):
		return movedProblem(moved.Session)
	}
	if problem := namedProblem(err); problem != nil {
		return problem
	}
	return internalProblem()
}

// namedProblem maps the errors that are values; nil: it is none of them.
func namedProblem(err error) *problemError {
	switch {
	case errors.Is(err, sessions.ErrNotFound):
		return notFoundProblem()
	case errors.Is(err, sessions.ErrConflict):
		return &problemError{Status: http.StatusConflict, Code: "conflict",
			Detail: "Something else is there already, or has happened meanwhile. Read the session again, then ask for what still holds."}
	case errors.Is(err, sessions.ErrGroup):
		return &problemError{Status: http.StatusConflict, Code: "group",
			Detail: "A group's conversation is never deleted, and a direct conversation never becomes a group's. Fork it, or expire it, instead."}
	case errors.Is(err, sessions.ErrBusy):
		return &problemError{Status: http.StatusConflict, Code: "busy", RetryAfter: 2 * time.Second,
			Detail: "The same request is being carried out now. Send it again in a moment, with the same Idempotency-Key."}
	case errors.Is(err, sessions.ErrQueueFull):
		return &problemError{Status: http.StatusTooManyRequests, Code: "queue_full", RetryAfter: 30 * time.Second,
			Detail: "Too many messages wait in this conversation. Nothing was stored; send it again later, with the same Idempotency-Key."}
	case errors.Is(err, errors.ErrUnsupported):
		return &problemError{Status: http.StatusNotImplemented, Code: "unsupported",
			Detail: "The store of this gateway cannot do that. Use another store, or a newer version."}
	}
	return absentProblem(err)
}

// absentProblem is for what is not there now and will be; nil: it is none.
func absentProblem(err error) *problemError {
	switch {
	case errors.Is(err, ErrNoCheckpoint):
		return &problemError{Status: http.StatusBadGateway, Code: "no_checkpoint", RetryAfter: 10 * time.Second,
			Detail: "No checkpoint was made: the model gave no answer that could be used, or not in time. Nothing was changed; send the request again. The gateway's log has the reason."}
	case errors.Is(err, ErrStopping):
		return &problemError{Status: http.StatusServiceUnavailable, Code: "stopping", RetryAfter: 5 * time.Second,
			Detail: "The gateway is stopping. Send the request again in a moment, a message with the same Idempotency-Key."}
	case errors.Is(err, sessions.ErrUnavailable), errors.Is(err, sessions.ErrClosed), errors.Is(err, context.DeadlineExceeded):
		return &problemError{Status: http.StatusServiceUnavailable, Code: "unavailable", RetryAfter: 2 * time.Second,
			Detail: "The store does not answer now. Send the request again, a message with the same Idempotency-Key; GET /readyz says what is wrong."}
	}
	return nil
}

func stateProblem(err *sessions.StateError) *problemError {
	what := "Begin a new conversation, or use another session."
	switch {
	case err.State == sessions.StateExpired:
		what = "An expired session can be read, exported and forked: fork it, or begin a new conversation."
	case err.Status == sessions.StatusRunning || err.Status == sessions.StatusAwaiting:
		what = "Wait until it has answered, or stop it first."
	}
	return &problemError{Status: http.StatusConflict, Code: "state", Detail: err.Error() + ". " + what, State: err}
}

// refusalProblem is what a verb of a conversation was refused with.
func refusalProblem(r *conversations.Refusal) *problemError {
	problem := &problemError{Status: http.StatusConflict, Code: string(r.Code), Detail: r.Detail, Current: r.Current}
	switch r.Code {
	case conversations.NotFound, conversations.NoEntry:
		problem.Status = http.StatusNotFound
	case conversations.Invalid:
		problem.Status = http.StatusBadRequest
	case conversations.Reserved, conversations.Forbidden:
		problem.Status = http.StatusForbidden
	case conversations.TooLong:
		problem.Status = http.StatusRequestEntityTooLarge
	case conversations.KeyReused:
		problem.Status = http.StatusUnprocessableEntity
	case conversations.Unsupported:
		problem.Status = http.StatusNotImplemented
	}
	return problem
}

func movedProblem(current string) *problemError {
	return &problemError{Status: http.StatusConflict, Code: "moved", Current: current,
		Detail: "This place has another conversation by now: " + current + ". Nothing was done. Go on there, or send it again for that one."}
}

func badRequest(detail string) *problemError {
	return &problemError{Status: http.StatusBadRequest, Code: "bad_request", Detail: detail}
}

func notFoundProblem() *problemError {
	return &problemError{Status: http.StatusNotFound, Code: "not_found",
		Detail: "There is no such session. Ids of the form web:NAME, cli:NAME and api:NAME come into being with their first message."}
}

func tooLargeProblem(limit int64) *problemError {
	return &problemError{Status: http.StatusRequestEntityTooLarge, Code: "too_large",
		Detail: "At most " + strconv.FormatInt(limit, 10) + " bytes are taken. Send it in parts."}
}

func internalProblem() *problemError {
	return &problemError{Status: http.StatusInternalServerError, Code: "internal",
		Detail: "Something went wrong here; the gateway's log has the cause. The request may be sent again."}
}

func mediaProblem(what, kind string) *problemError {
	return &problemError{Status: http.StatusUnsupportedMediaType, Code: "media_type",
		Detail: "Send the body as " + what + ", with Content-Type: " + kind + "."}
}

func hostProblem() *problemError {
	return &problemError{Status: http.StatusMisdirectedRequest, Code: "host",
		Detail: "This server does not answer to the name in the Host header. Use http://127.0.0.1 or http://localhost with its port, or add the name to http.hosts."}
}

func originProblem() *problemError {
	return &problemError{Status: http.StatusForbidden, Code: "cross_origin",
		Detail: "A page of another origin may not do this. Use the chat page itself, or a program with the bearer token."}
}

func unauthorizedProblem(detail string) *problemError {
	return &problemError{Status: http.StatusUnauthorized, Code: "unauthorized", Detail: detail}
}

func forbiddenProblem(detail string) *problemError {
	return &problemError{Status: http.StatusForbidden, Code: "forbidden", Detail: detail}
}

func lockedProblem(wait time.Duration) *problemError {
	return &problemError{Status: http.StatusTooManyRequests, Code: "locked_out", RetryAfter: wait,
		Detail: "Too many wrong tokens came from your address. Wait " + wait.Round(time.Second).String() + ", then try again with the right one."}
}
