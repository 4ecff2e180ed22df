// Package guard turns a panic into an error, so that what one message sets off
// does not take the process, and with it all others, down.
//
// It promises that the panic is in the log with its place, and that the error
// wraps ErrPanic. It must not know what it runs.
package guard
