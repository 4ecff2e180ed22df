// Package cli is what every command of the program shares: its streams and
// environment, the flags, how it prints and asks, and how it finds the gateway
// that runs on this machine.
//
// It promises that a test runs the very same commands, because nothing of the
// process is touched but through [Env], and that what strangers wrote cannot
// act on a terminal.
//
// It must not know the commands.
package cli
