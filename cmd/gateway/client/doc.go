// Package client speaks the gateway's HTTP API for the programs of the command
// line: it says things in a session, reads its log, and follows its events.
//
// It promises that following goes on after a lost connection where it broke
// off, and that an error tells the reader what to do without naming the token.
//
// It must not print, and knows no terminal.
package client
