// Package fakeopenai is a strict stand-in for an OpenAI-compatible chat
// completions endpoint, on a loopback port of its own.
//
// It promises to refuse what a real endpoint refuses (a wrong key, an unknown
// field, an empty message, a tool result without its call), to fail in every
// way that real endpoints do when its script says so, and to log every request
// for assertions.
//
// It must not import the code under test.
package fakeopenai
