package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"parley/cmd/gateway/cli"
	"parley/cmd/gateway/logging"
)

// Exit codes.
const (
	exitOK      = 0
	exitFailure = 1
	exitUsage   = 2 // the command line was wrong
)

// program is one run of the command line with everything it touches of its
// process, so that a test runs the very same program.
type program struct {
	*cli.Env
	// started hears of every gateway that serves, before it is announced. Nil
	// outside of tests.
	started func(*gateway)
}

func newProgram() *program {
	dir, _ := os.Getwd() // one that was removed meanwhile has no name
	return &program{Env: &cli.Env{In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Environ: os.Environ(), Lookup: os.LookupEnv, Dir: dir, Version: version}}
}

// main runs one command line and returns the exit code. A failure is exactly
// one line on the error output.
func (p *program) main(ctx context.Context, args []string) int {
	root := p.rootCommand() //nolint:contextcheck // cobra hands ctx to the commands
	root.SetArgs(args)
	root.SetIn(p.In)
	root.SetOut(p.Out)
	root.SetErr(p.Err)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return exitOK
	}
	if !errors.Is(err, cli.ErrReported) {
		fmt.Fprintf(p.Err, "gateway: %s\n", logging.Visible(logging.Redact(cli.Explain(err))))
	}
	if isUsage(err) {
		return exitUsage
	}
	return exitFailure
}
