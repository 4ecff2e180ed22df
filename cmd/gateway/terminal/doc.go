// Package terminal is the chat in a terminal, a client of the gateway's API
// like the chat page: full screen comfort on a terminal ([Run]), one message
// per line in a pipe ([Plain]).
//
// It promises that nothing a model or another person wrote steers the
// terminal, that what was typed is never lost to a broken connection without a
// word, and that the conversation goes on where it stopped.
//
// It must not know stores, models or platforms, nor start a gateway.
package terminal
