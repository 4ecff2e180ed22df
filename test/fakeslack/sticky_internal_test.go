package fakeslack

import (
	"testing"
)

// What would arrive before an older event of its channel waits.
func TestAStickyChannelStaysInOrder(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		older *envelope
		waits bool
	}{
		"another message is not acknowledged":   {&envelope{channel: "C1", ts: "1"}, true},
		"the same message's other event is not": {&envelope{channel: "C1", ts: "2"}, false},
		"a message of another channel is not":   {&envelope{channel: "C2", ts: "1"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			late := &envelope{channel: "C1", ts: "2"}
			s := &Server{pending: []*envelope{test.older, late}}
			if got := s.overtakesLocked(late); got != test.waits {
				t.Errorf("it waits: %t", got)
			}
		})
	}
}
