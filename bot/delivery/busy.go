package delivery

import "sync"

// busy counts, per lane, the goroutines of this process that send on it. A
// process that is late but was not replaced still holds its lane. It must not
// take the lane over from itself: that would send once more what is just being
// sent.
type busy struct {
	mu    sync.Mutex
	lanes map[string]int
}

func newBusy() *busy { return &busy{lanes: map[string]int{}} }

// begin notes that a goroutine sends on a lane, until end.
func (b *busy) begin(lane string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.lanes[lane]++
}

func (b *busy) end(lane string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.lanes[lane]--; b.lanes[lane] == 0 {
		delete(b.lanes, lane)
	}
}

func (b *busy) sends(lane string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.lanes[lane] > 0
}
