package fakediscord

import (
	"net/http"
	"time"
)

// Fault is what happens to a request instead of, or after, its effect.
type Fault struct {
	Status  int               // the answer; 0 with Drop or Hang
	Body    string            // as it stands
	Headers map[string]string // of the answer
	Hang    bool              // no answer until the client goes away or the server closes
	Drop    bool              // the connection is broken without an answer
	// After lets the request take effect first.
	After bool
}

type fault struct {
	name string
	left int
	Fault
}

// Fail makes the next n calls of a name, as "POST /channels/{channel}/messages",
// fail. Faults of one name are used up in the order they were given.
func (s *Server) Fail(name string, n int, f Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = append(s.faults, &fault{name: name, left: n, Fault: f})
}

// RateLimited is Discord's answer to too many requests.
func RateLimited(after time.Duration, global bool) Fault {
	scope := "user"
	if global {
		scope = "global"
	}
	body := encode(map[string]any{"message": "You are being rate limited.", "retry_after": after.Seconds(), "global": global})
	headers := map[string]string{"X-RateLimit-Scope": scope, "Retry-After": "1", "Content-Type": "application/json"}
	if global {
		headers["X-RateLimit-Global"] = "true"
	}
	return Fault{Status: http.StatusTooManyRequests, Body: string(body), Headers: headers}
}

// Blocked is the answer of the proxy before Discord to an address that had too
// many refused requests.
func Blocked(seconds string) Fault {
	return Fault{
		Status: http.StatusTooManyRequests, Body: "<html><body>error code: 1015</body></html>",
		Headers: map[string]string{"Content-Type": "text/html", "Retry-After": seconds},
	}
}

func (s *Server) fault(name string) *Fault {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, f := range s.faults {
		if f.name == name && f.left > 0 {
			f.left--
			return &f.Fault
		}
	}
	return nil
}

// happen plays a fault; it is the whole answer.
func (s *Server) happen(w http.ResponseWriter, r *http.Request, f *Fault) {
	switch {
	case f.Hang:
		select {
		case <-r.Context().Done():
		case <-s.stop.Done():
		}
		panic(http.ErrAbortHandler)
	case f.Drop:
		panic(http.ErrAbortHandler)
	}
	for name, value := range f.Headers {
		w.Header().Set(name, value)
	}
	w.WriteHeader(f.Status)
	_, _ = w.Write([]byte(f.Body))
}
