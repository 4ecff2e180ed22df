package slack

import "sync"

// Bounds of what is on its way to the sink.
const (
	sinksMax   = 64  // at one time
	waitingMax = 512 // altogether; what comes beyond is left unacknowledged
)

// waiting is what is on its way to the sink, by delivery. The zero value is
// ready.
type waiting struct {
	mu   sync.Mutex
	done map[string][]func(error)
}

// join adds someone who wants to know what becomes of a delivery, and reports
// whether it is new.
func (w *waiting) join(delivery string, done func(error)) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.done == nil {
		w.done = map[string][]func(error){}
	}
	others, known := w.done[delivery]
	if len(others) < joinMax {
		w.done[delivery] = append(others, done)
	}
	return !known
}

// joinMax bounds who waits for one delivery; further ones are not told, and
// ask again.
const joinMax = 8

func (w *waiting) finish(delivery string, err error) {
	w.mu.Lock()
	waiting := w.done[delivery]
	delete(w.done, delivery)
	w.mu.Unlock()
	for _, done := range waiting {
		done(err)
	}
}
