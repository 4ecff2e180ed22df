package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/redis/go-redis/v9"
)

// version is set by the linker; see the Makefile.
var version = "dev"

func main() {
	redis.SetLogger(silence{})
	// The first signal asks the program to stop; from then on a second one
	// ends it at once. SIGHUP comes when the terminal is closed.
	ctx, restore := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	context.AfterFunc(ctx, restore)
	code := newProgram().main(ctx, os.Args[1:])
	restore()
	os.Exit(code)
}

// silence keeps the Redis library from writing to the error output by itself.
// What it would tell, the store's errors tell as well. The library has one
// logger for the whole process, so the program sets it, and nobody else.
type silence struct{}

// Printf drops the line.
func (silence) Printf(context.Context, string, ...any) {}
