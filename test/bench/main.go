package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/pprof"
	"slices"
	"strings"
	"syscall"
	"time"
)

// Exit statuses.
const (
	exitOK     = 0
	exitMissed = 1
	exitFailed = 2
)

// runMax bounds a whole run.
const runMax = 30 * time.Minute

// options are what a run is asked for.
type options struct {
	backends []string
	parts    []string
	size     float64 // multiplies how long and how much is measured
	short    bool
	json     bool
	write    bool   // replace the last run in the budgets file
	budgets  string // path of the budgets file
	profile  string // path of a CPU profile; empty: none
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	ctx, cancel := context.WithTimeout(ctx, runMax)
	status := program(ctx, os.Args[1:], os.Stdout, os.Stderr)
	cancel()
	stop()
	os.Exit(status)
}

// program is the whole command, for main.
func program(ctx context.Context, args []string, out, progress io.Writer) int {
	o, err := parseOptions(args, progress)
	if errors.Is(err, flag.ErrHelp) {
		return exitOK
	}
	var r report
	if err == nil {
		r, err = profiled(o.profile, func() (report, error) { return perform(ctx, o, progress) })
	}
	if err == nil {
		err = show(r, o, out)
	}
	switch {
	case err != nil:
		fmt.Fprintln(progress, "bench:", err)
		return exitFailed
	case r.missed() > 0:
		return exitMissed
	}
	return exitOK
}

func parseOptions(args []string, progress io.Writer) (options, error) {
	var o options
	var backends, parts string
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.SetOutput(progress)
	flags.StringVar(&backends, "store", "all", "stores to measure: "+strings.Join(backendNames(), ",")+", or all")
	flags.StringVar(&parts, "part", "all", "parts to measure: "+strings.Join(partNames(), ",")+", or all")
	flags.Float64Var(&o.size, "size", 1, "multiplies how long and how much is measured")
	flags.BoolVar(&o.short, "short", false, "seconds instead of minutes; only what does not depend on time is judged")
	flags.BoolVar(&o.json, "json", false, "print JSON")
	flags.BoolVar(&o.write, "write", false, "also replace the last run in the budgets file")
	flags.StringVar(&o.budgets, "budgets", "docs/budgets.md", "the file that records missed budgets")
	flags.StringVar(&o.profile, "cpuprofile", "", "write a CPU profile to this file; its tags are loop=gateway, raw and fake")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	if o.size <= 0 || flags.NArg() > 0 {
		return o, errors.New("-size must be above 0, and there are no arguments besides flags")
	}
	var err error
	if o.backends, err = choose("-store", backends, backendNames()); err != nil {
		return o, err
	}
	o.parts, err = choose("-part", parts, partNames())
	return o, err
}

// choose reads a list of words, each one of those there are.
func choose(name, list string, there []string) ([]string, error) {
	if list == "all" {
		return there, nil
	}
	chosen := strings.Split(list, ",")
	for _, word := range chosen {
		if !slices.Contains(there, word) {
			return nil, fmt.Errorf("%s: there is no %q, only %s", name, word, strings.Join(there, ", "))
		}
	}
	return chosen, nil
}

func profiled(path string, run func() (report, error)) (report, error) {
	if path == "" {
		return run()
	}
	file, err := os.Create(path)
	if err != nil {
		return report{}, err
	}
	if err := pprof.StartCPUProfile(file); err != nil {
		return report{}, errors.Join(err, file.Close())
	}
	r, err := run()
	pprof.StopCPUProfile()
	return r, errors.Join(err, file.Close())
}

// show prints a report, and keeps it if that was asked for.
func show(r report, o options, out io.Writer) error {
	if o.write {
		if err := writeLastRun(o.budgets, r); err != nil {
			return err
		}
	}
	if o.json {
		return printJSON(out, r)
	}
	printTable(out, r)
	return nil
}
