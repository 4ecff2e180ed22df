// Package storewrap stands before a store and calls two functions around each
// of its operations, for what is to be done at every one of them: counting,
// failing on purpose, tracing.
//
// It promises that no operation passes by, also none that is added later: the
// forwarding is generated from sessions.Store, and a test fails while the
// generated file is older than the interface. A wrapped call allocates nothing.
//
// It must not know any backend, nor what the functions do.
package storewrap

//go:generate go run ./generate
