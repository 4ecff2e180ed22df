// Package leaselock gives adapters their exclusive rights out of the store's
// locks: one replica at a time polls with a token, the others wait for it.
//
// It promises that a right whose holder dies is another's after
// sessions.LeaseFor, and that a holder is told before that time has passed on
// its own clock when the store no longer says that the right is its own.
//
// It must not know what the rights are for.
package leaselock
