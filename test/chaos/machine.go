package main

import "time"

// How the machine's own standstills are noticed.
const (
	beatEvery = 50 * time.Millisecond
	// stallMin is how late a beat has to be. What is shorter hurts nobody.
	stallMin = 250 * time.Millisecond
)

// watchMachine notes when this program did not run although it wanted to: then
// the gateways beside it did not either, and may have lost what they held for
// a time. It ends with close.
func (w *world) watchMachine() {
	w.lives.Go(func() {
		ticker := time.NewTicker(beatEvery)
		defer ticker.Stop()
		for before := time.Now(); ; {
			select {
			case <-w.ended:
				return
			case <-ticker.C:
			}
			now := time.Now()
			if late := now.Sub(before) - beatEvery; late > stallMin {
				w.ledger.stalled(span{what: "the machine stood still", from: before, to: now})
			}
			before = now
		}
	})
}
