// Command generate writes the forwarding of package storewrap from the methods
// of sessions.Store. It is run by go generate in sessions/storewrap.
//
// It promises the same text for the same interface. It must not know what the
// methods do: a method has a context, arguments, and an error last.
package main
