package fakediscord

import (
	"net/http"
	"strconv"
	"strings"
	"time"
)

// bucket is what one channel still takes.
type bucket struct {
	left  int
	reset time.Time
}

// limited counts a message against its channel's limit and tells the client
// about it in the headers. If nothing is left it answers so.
func (s *Server) limited(w http.ResponseWriter, r *http.Request) bool {
	if s.config.PerChannel == 0 || r.Method != http.MethodPost || !strings.HasSuffix(r.URL.Path, "/messages") {
		return false
	}
	channel, now := r.PathValue("channel"), time.Now()
	s.mu.Lock()
	b := s.buckets[channel]
	if now.After(b.reset) {
		b = bucket{left: s.config.PerChannel, reset: now.Add(s.config.Window)}
	}
	over := b.left == 0
	if !over {
		b.left--
	}
	s.buckets[channel] = b
	s.mu.Unlock()
	after := b.reset.Sub(now)
	header := w.Header()
	header.Set("X-RateLimit-Limit", strconv.Itoa(s.config.PerChannel))
	header.Set("X-RateLimit-Remaining", strconv.Itoa(b.left))
	header.Set("X-RateLimit-Reset-After", strconv.FormatFloat(after.Seconds(), 'f', 3, 64))
	header.Set("X-RateLimit-Bucket", "fake-bucket")
	if over {
		s.violation("a message was sent to %s although its limit was used up", channel)
		fault := RateLimited(after, false)
		s.happen(w, r, &fault)
	}
	return over
}
