package slack

import (
	"errors"
	"io"
	"net/http"
	"slices"
	"sync"
	"time"
)

// Limits of bodies whose signature cannot be looked at yet, because they have
// not arrived: anybody may send one.
const (
	requestMax = 1 << 20 // bytes of one
	bodiesMax  = 32      // at one time; one more ends the oldest
)

// bodies are the requests whose bodies are arriving, the oldest first. The
// zero value is ready.
type bodies struct {
	mu   sync.Mutex
	open []*http.ResponseController
}

// read reads a request's body within the given time.
func (b *bodies) read(w http.ResponseWriter, request *http.Request, within time.Duration) ([]byte, error) {
	control := http.NewResponseController(w)
	b.begin(control, time.Now().Add(within))
	body, err := io.ReadAll(http.MaxBytesReader(w, request.Body, requestMax))
	b.end(control)
	if err == nil {
		// The deadline was the body's, not the answer's.
		_ = control.SetReadDeadline(time.Time{})
	}
	if _, tooLong := errors.AsType[*http.MaxBytesError](err); err != nil && !tooLong {
		return nil, errBodyCut
	}
	return body, err
}

var errBodyCut = errors.New("the body did not arrive whole in time")

// begin sets the deadline of a body. Only a connection knows deadlines; a
// recorder in a test does not.
func (b *bodies) begin(control *http.ResponseController, deadline time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.open) >= bodiesMax {
		_ = b.open[0].SetReadDeadline(time.Now())
		b.open = b.open[1:]
	}
	_ = control.SetReadDeadline(deadline)
	b.open = append(b.open, control)
}

func (b *bodies) end(control *http.ResponseController) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if i := slices.Index(b.open, control); i >= 0 {
		b.open = slices.Delete(b.open, i, i+1)
	}
}
