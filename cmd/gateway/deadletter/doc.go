// Package deadletter is `gateway deadletter`: messages whose answer failed for
// good are listed, answered once more, or forgotten.
//
// It promises to ask the gateway that runs on this machine, and to open the
// store where none does.
//
// It must not decide what a dead letter is: the store does.
package deadletter
