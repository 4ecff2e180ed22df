// Package due finds work that nobody told this process of: turns, lanes and
// timers that are due in the store, and what other processes hint at.
//
// It promises that an item is taken by one goroutine at a time, that at most
// Parallel are being taken, however many hints come, and that what takes long
// or cannot be taken holds up nothing else. A hint only makes it quick; the
// look at the due set makes it certain.
//
// It must not know what the work is.
package due
