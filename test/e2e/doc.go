// Package e2e drives the built gateway as its users do: the real binary in a
// process of its own, the real client libraries, a strict Telegram server and
// a strict model server on loopback, on each store.
package e2e
