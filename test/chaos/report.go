package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os/exec"
	"runtime"
	"strings"
	"time"
	"unicode/utf8"
)

// report is a whole run.
type report struct {
	about   facts
	results []result
	took    time.Duration
	folder  string // of logs that were kept
}

// facts are where and when a run was.
type facts struct {
	Date    string `json:"date"`
	Commit  string `json:"commit"`
	Machine string `json:"machine"`
	Redis   string `json:"redis"`
	Seed    uint64 `json:"seed"`
	Form    string `json:"form"`
}

func describe(ctx context.Context, o options) facts {
	form := "full"
	if o.short {
		form = "short"
	}
	return facts{
		Date: time.Now().UTC().Format("2006-01-02 15:04 UTC"), Commit: output(ctx, "git", "describe", "--tags", "--always", "--dirty"),
		Machine: fmt.Sprintf("%s/%s, %d CPUs, %s", runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), runtime.Version()),
		Redis:   redisVersion(output(ctx, "redis-server", "--version")), Seed: o.seed, Form: form,
	}
}

func redisVersion(text string) string {
	for word := range strings.FieldsSeq(text) {
		if version, ok := strings.CutPrefix(word, "v="); ok {
			return version + ", appendfsync always"
		}
	}
	return "unknown"
}

// output is what a command prints, or "unknown".
func output(ctx context.Context, name string, args ...string) string {
	out, err := exec.CommandContext(ctx, name, args...).Output()
	if err != nil {
		return "unknown"
	}
	return strings.TrimSpace(string(out))
}

func (r report) violated() int {
	n := 0
	for i := range r.results {
		if !r.results[i].ok() {
			n++
		}
	}
	return n
}

func (r report) conclusion() string {
	if n := r.violated(); n > 0 {
		return fmt.Sprintf("%d of %d experiments VIOLATED what must hold; logs: %s", n, len(r.results), r.folder)
	}
	return fmt.Sprintf("all %d experiments hold, in %s", len(r.results), r.took.Round(time.Second))
}

func (r *result) verdict() string {
	if r.ok() {
		return "holds"
	}
	return "VIOLATED"
}

func (r *result) summary() string {
	return fmt.Sprintf("%s: %d runs, %d messages, %d lost, %d duplicate turns, %d duplicate replies (%d explained), %d out of order, drained in %.1f s%s",
		r.verdict(), r.Runs, r.Messages, r.Lost, r.Turns, r.Replies, r.Explained, r.Disordered, r.Drained, lines(append(r.Notes, r.Violations...)))
}

func lines(all []string) string {
	var out strings.Builder
	for _, line := range all {
		out.WriteString("\n             " + line)
	}
	return out.String()
}

func columns() []string {
	return []string{"experiment", "store", "lease", "runs", "messages", "lost", "duplicate turns", "duplicate replies", "explained", "out of order", "parked", "drained", "verdict"}
}

func (r *result) cells() []string {
	return []string{
		r.Experiment, r.Store, r.Lease, itoa(r.Runs), itoa(r.Messages), itoa(r.Lost), itoa(r.Turns), itoa(r.Replies), itoa(r.Explained),
		itoa(r.Disordered), itoa(r.Parked), fmt.Sprintf("%.1f s", r.Drained), r.verdict(),
	}
}

// show prints a report, and keeps it if that was asked for.
func show(r report, o options, out io.Writer) error {
	if o.write {
		if err := writePage(o.page, r); err != nil {
			return err
		}
	}
	if o.json {
		return printJSON(out, r)
	}
	printTable(out, r)
	return nil
}

func printJSON(out io.Writer, r report) error {
	encoder := json.NewEncoder(out)
	encoder.SetIndent("", "  ")
	return encoder.Encode(map[string]any{"about": r.about, "results": r.results, "violated": r.violated(), "seconds": r.took.Seconds()})
}

func printTable(out io.Writer, r report) {
	rows := [][]string{columns()}
	for i := range r.results {
		rows = append(rows, r.results[i].cells())
	}
	widths := make([]int, len(columns()))
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	for _, row := range rows {
		var line strings.Builder
		for i, cell := range row {
			line.WriteString(cell + strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell)+2))
		}
		fmt.Fprintln(out, strings.TrimRight(line.String(), " "))
	}
	fmt.Fprintf(out, "\n%s\n", r.conclusion())
}
