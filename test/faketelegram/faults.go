package faketelegram

import (
	"net/http"
	"time"
)

// Fault is what happens to one call instead of, or before, its answer.
type Fault struct {
	// After lets the method take effect first: the message is sent, and the
	// bot does not hear of it.
	After bool
	Kind  FaultKind
	// RetryAfter belongs to TooManyRequests, in seconds; Delay to Delayed.
	RetryAfter int64
	Delay      time.Duration
	Code       int    // Refused
	Text       string // Refused: the description
}

// FaultKind names a fault.
type FaultKind string

// Fault kinds.
const (
	TooManyRequests FaultKind = "429"
	ServerError     FaultKind = "500 with an HTML page"
	Hang            FaultKind = "no answer until the caller gives up"
	CloseMidBody    FaultKind = "connection closed within the answer"
	CloseAtOnce     FaultKind = "connection closed without an answer"
	Delayed         FaultKind = "answered after Delay"
	Refused         FaultKind = "refused with Code and Text"
	Garbage         FaultKind = "200 with something that is not JSON"
)

// Fail scripts faults for the next calls of a method, one each, in order.
func (s *Server) Fail(method string, faults ...Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults[method] = append(s.faults[method], faults...)
}

// ClearFaults forgets the scripted faults of a method.
func (s *Server) ClearFaults(method string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.faults, method)
}

func (s *Server) takeFault(method string) (Fault, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	waiting := s.faults[method]
	if len(waiting) == 0 {
		return Fault{}, false
	}
	s.faults[method] = waiting[1:]
	return waiting[0], true
}

// fail carries a fault out. It reports whether the call is over.
func (s *Server) fail(w http.ResponseWriter, r *http.Request, fault Fault) (code int, over bool) {
	switch fault.Kind {
	case TooManyRequests:
		return writeError(w, &apiError{Code: 429, Description: "Too Many Requests: retry later", Parameters: map[string]int64{"retry_after": fault.RetryAfter}}), true
	case Refused:
		return writeError(w, &apiError{Code: fault.Code, Description: fault.Text}), true
	case ServerError:
		w.Header().Set("Content-Type", "text/html")
		w.WriteHeader(http.StatusBadGateway)
		w.Write([]byte("<html><body>502 Bad Gateway</body></html>"))
		return http.StatusBadGateway, true
	case Garbage:
		w.Write([]byte("it works!"))
		return http.StatusOK, true
	case Hang:
		s.pause(r, nil)
	case Delayed:
		timer := time.NewTimer(fault.Delay)
		defer timer.Stop()
		s.pause(r, timer.C)
		return 0, false
	case CloseMidBody:
		w.Header().Set("Content-Length", "100")
		w.Write([]byte(`{"ok":true,"result":`))
		w.(http.Flusher).Flush()
	case CloseAtOnce:
	}
	panic(http.ErrAbortHandler)
}

func (s *Server) pause(r *http.Request, until <-chan time.Time) {
	select {
	case <-until:
	case <-r.Context().Done():
	case <-s.closing:
	}
}
