// Package lanes runs what belongs together in order, and the rest meanwhile.
//
// It promises that tasks of one key run one after the other in the order they
// were added, that no more than so many run what they do [Lanes.Within] at one
// time, that every task that was added runs, after the end with a context that
// has ended, and that no goroutine is left when [Lanes.Wait] returns.
//
// It must not know what the tasks do.
package lanes
