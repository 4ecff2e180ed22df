package api

import "sync"

// Event streams that are open at one time: in all, by one token that is not an
// owner's, and how many of all are kept free for owners.
const (
	StreamsMax      = 512
	StreamsPerToken = 64
	streamsOwners   = 64
)

// streams counts the open event streams, by the token's name.
type streams struct {
	mu   sync.Mutex
	all  int
	each map[string]int // of tokens that are not an owner's
}

func newStreams() *streams { return &streams{each: map[string]int{}} }

// take reports whether the caller may open one more. Who may gives it back.
func (s *streams) take(who caller) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.all >= StreamsMax {
		return false
	}
	if !who.Owner {
		if s.each[who.Name] >= StreamsPerToken || s.all >= StreamsMax-streamsOwners {
			return false
		}
		s.each[who.Name]++
	}
	s.all++
	return true
}

func (s *streams) give(who caller) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all--
	if !who.Owner {
		if s.each[who.Name]--; s.each[who.Name] == 0 {
			delete(s.each, who.Name)
		}
	}
}
