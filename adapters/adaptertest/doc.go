// Package adaptertest is the conformance suite that every adapter passes, run
// against a strict fake of its platform.
//
// An adapter's test gives [Run] a function that makes a fresh [World]: the
// fake, an adapter on it, and the few things a test does to a platform, as
// functions. What a platform does not have is a nil function; the test that
// needs it says so and is skipped. The suite promises to test only what
// package adapters promises, in every log line and error also that no secret
// shows.
//
// It must not know any platform.
package adaptertest
