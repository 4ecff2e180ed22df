package main

import (
	"context"
	_ "embed"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"regexp"
	"slices"
	"sync"
	"syscall"
	"time"
)

//go:embed mutations.yaml
var list []byte

func main() {
	only := flag.String("only", "", "only mutations whose promise or test matches this expression")
	parallel := flag.Int("parallel", 2, "how many at a time")
	flag.Parse()
	if err := run(*only, *parallel); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(only string, parallel int) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	all, err := decode(list)
	if err != nil {
		return err
	}
	pattern, err := regexp.Compile(only)
	if err != nil {
		return fmt.Errorf("-only: %w", err)
	}
	all = slices.DeleteFunc(all, func(m mutation) bool { return !pattern.MatchString(m.Promise + " " + m.Run) })
	folder, err := os.MkdirTemp("", "parley-mutate-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)

	var mu sync.Mutex
	bad, done := 0, 0
	var group sync.WaitGroup
	slots := make(chan struct{}, max(parallel, 1))
	for i, m := range all {
		slots <- struct{}{}
		if ctx.Err() != nil {
			break
		}
		group.Go(func() {
			defer func() { <-slots }()
			began := time.Now()
			outcome, detail := m.try(ctx, fmt.Sprintf("%s/%d", folder, i))
			mu.Lock()
			defer mu.Unlock()
			done++
			fmt.Printf("%3d/%d  %-8s  %5.1fs  %s (%s)\n", done, len(all), outcome, time.Since(began).Seconds(), m.Promise, m.Run)
			if outcome != caught {
				bad++
				fmt.Println(detail)
			}
		})
	}
	group.Wait()
	if ctx.Err() != nil {
		return fmt.Errorf("interrupted after %d of %d", done, len(all))
	}
	if bad > 0 {
		return fmt.Errorf("%d of %d were not caught: mend the test, or the mutation if the source has changed", bad, len(all))
	}
	fmt.Printf("all %d were caught\n", len(all))
	return nil
}
