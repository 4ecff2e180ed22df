package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/charmbracelet/x/term"

	"parley/cmd/gateway/config"
	"parley/cmd/gateway/logging"
)

// Exit codes.
const (
	exitOK      = 0
	exitFailure = 1
)

// program is one run of the command line with everything it touches of its
// process, so that a test runs the very same program.
type program struct {
	in       io.Reader
	out, err io.Writer
	environ  []string       // as os.Environ
	lookup   config.Environ // of the same
	version  string
	// started hears of every gateway that serves, before it is announced. Nil
	// outside of tests.
	started func(*gateway)
}

func newProgram() *program {
	return &program{in: os.Stdin, out: os.Stdout, err: os.Stderr, environ: os.Environ(), lookup: os.LookupEnv, version: version}
}

// errReported ends the program with a failure that the output has told already.
var errReported = errors.New("reported")

// main runs one command line and returns the exit code. A failure is exactly
// one line on the error output.
func (p *program) main(ctx context.Context, args []string) int {
	root := p.rootCommand() //nolint:contextcheck // cobra hands ctx to the commands
	root.SetArgs(args)
	root.SetIn(p.in)
	root.SetOut(p.out)
	root.SetErr(p.err)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return exitOK
	}
	if !errors.Is(err, errReported) {
		fmt.Fprintf(p.err, "gateway: %s\n", logging.Visible(logging.Redact(explain(err))))
	}
	return exitFailure
}

// isTerminal reports whether a stream of the program is a terminal that knows
// more than plain text.
func (p *program) isTerminal(stream any) bool {
	file, ok := stream.(*os.File)
	name, _ := p.lookup("TERM")
	return ok && term.IsTerminal(file.Fd()) && name != "dumb"
}

// color reports whether a stream may be written in colour.
func (p *program) color(stream any) bool {
	refused, _ := p.lookup("NO_COLOR")
	return refused == "" && p.isTerminal(stream)
}

// size is the terminal's, or the usual one where it does not say.
func size(stream any) (width, height int) {
	if file, ok := stream.(*os.File); ok {
		if width, height, err := term.GetSize(file.Fd()); err == nil && width > 0 && height > 0 {
			return width, height
		}
	}
	return 80, 24
}
