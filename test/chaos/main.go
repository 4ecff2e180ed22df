package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"
)

// Exit statuses.
const (
	exitOK       = 0
	exitViolated = 1
	exitFailed   = 2
)

// runMax bounds a whole run.
const runMax = 3 * time.Hour

// options are what a run is asked for.
type options struct {
	experiments []string
	stores      []string
	platforms   []string
	count       int // disruptions of each experiment; 0: its own
	scale       float64
	seed        uint64
	parallel    int
	lease       string // leaseShort, leaseFull, or leaseOwn
	short       bool
	json        bool
	write       bool
	page        string // path of the page that -write replaces
	keep        bool
}

// Lengths of lease.
const (
	leaseShort = "short" // 2 s
	leaseFull  = "full"  // as in production
	leaseOwn   = "own"   // as each experiment wants it
)

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
		r, err = suite(ctx, o, progress)
	}
	if err == nil {
		err = show(r, o, out)
	}
	switch {
	case err != nil:
		fmt.Fprintln(progress, "chaos:", err)
		return exitFailed
	case r.violated() > 0:
		return exitViolated
	}
	return exitOK
}

func parseOptions(args []string, progress io.Writer) (options, error) {
	var o options
	var names, stores, platforms string
	flags := flag.NewFlagSet("chaos", flag.ContinueOnError)
	flags.SetOutput(progress)
	flags.StringVar(&names, "experiment", "all", "experiments, or beginnings of their names, with commas between: "+strings.Join(experimentNames(), ", ")+"; or all")
	flags.StringVar(&stores, "store", "all", "stores: "+strings.Join(storeNames(), ",")+", or all")
	flags.StringVar(&platforms, "platform", "all", "platforms: "+strings.Join(platformNames(), ",")+", or all")
	flags.IntVar(&o.count, "count", 0, "disruptions of each experiment; 0: as many as it should have")
	flags.Float64Var(&o.scale, "scale", 1, "part of the disruptions that each experiment should have, above 0")
	flags.Uint64Var(&o.seed, "seed", 0, "of all that is random; 0: drawn, and printed")
	flags.IntVar(&o.parallel, "parallel", 4, "experiments at the same time; most of their time is waiting")
	flags.StringVar(&o.lease, "lease", leaseOwn, "length of a lease: short (2 s), full (as in production), own (as each experiment wants it)")
	flags.BoolVar(&o.short, "short", false, "a few disruptions of each kind, at short leases")
	flags.BoolVar(&o.json, "json", false, "print JSON")
	flags.BoolVar(&o.write, "write", false, "also replace the table in the page; not in the short form")
	flags.StringVar(&o.page, "page", "docs/reliability.md", "the page")
	flags.BoolVar(&o.keep, "keep", false, "keep the gateways' logs; after a violation they are kept anyway")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	if o.count < 0 || o.scale <= 0 || o.parallel < 1 || flags.NArg() > 0 || !slices.Contains([]string{leaseShort, leaseFull, leaseOwn}, o.lease) {
		return o, errors.New("-count must not be negative, -scale and -parallel above 0, -lease short, full or own, and there are no arguments besides flags")
	}
	o.write = o.write && !o.short
	var err error
	if o.stores, err = pick("-store", stores, storeNames()); err != nil {
		return o, err
	}
	if o.platforms, err = pick("-platform", platforms, platformNames()); err != nil {
		return o, err
	}
	o.experiments, err = pick("-experiment", names, experimentNames())
	return o, err
}

// pick reads a list of words: each one of those there are, or else the
// beginning of some.
func pick(name, list string, there []string) ([]string, error) {
	if list == "all" {
		return there, nil
	}
	var picked []string
	for word := range strings.SplitSeq(list, ",") {
		if slices.Contains(there, word) {
			picked = append(picked, word)
			continue
		}
		before := len(picked)
		for _, one := range there {
			if strings.HasPrefix(one, word) {
				picked = append(picked, one)
			}
		}
		if len(picked) == before {
			return nil, fmt.Errorf("%s: there is no %q, only %s", name, word, strings.Join(there, ", "))
		}
	}
	return picked, nil
}

func experimentNames() []string {
	var names []string
	for _, e := range experiments() {
		names = append(names, e.name)
	}
	return names
}
