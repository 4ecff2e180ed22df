// Package pause waits: for a time, and longer after each failure.
//
// It promises that a wait ends with its context, and that the pauses of many
// who failed together spread. It must not know what is tried.
package pause
