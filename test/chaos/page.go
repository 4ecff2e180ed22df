package main

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"time"
)

// Marks between which the page's table is replaced.
const (
	tableBegins = "<!-- the last run: written by make chaos -->"
	tableEnds   = "<!-- end of the last run -->"
)

// line is one row of the page's table, with what is said about it below.
type line struct {
	experiment, store string
	cells             []string
	notes             []string
}

// writePage replaces what the page tells of the experiments that were run. What
// it tells of others stays, with the date and commit it was found at.
func writePage(path string, r report) error {
	page, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	before, rest, found := strings.Cut(string(page), tableBegins)
	told, after, closed := strings.Cut(rest, tableEnds)
	if !found || !closed {
		return fmt.Errorf("%s has no place for the table: %s … %s", path, tableBegins, tableEnds)
	}
	text := markdown(r, merge(linesOf(told), r))
	return os.WriteFile(path, []byte(before+tableBegins+"\n\n"+text+"\n"+tableEnds+after), 0o644) //nolint:gosec // a page for everybody
}

// pageColumns are those of the page: when and of what each row is, too.
func pageColumns() []string { return append(columns(), "date, commit") }

// linesOf reads the rows and notes that a page tells. Pure.
func linesOf(told string) []line {
	var out []line
	for text := range strings.Lines(told) {
		text = strings.TrimSpace(text)
		if cells := strings.Split(strings.Trim(text, "| "), " | "); strings.HasPrefix(text, "| ") && len(cells) == len(pageColumns()) && cells[0] != columns()[0] {
			out = append(out, line{experiment: cells[0], store: cells[1], cells: cells})
		}
		for i := range out {
			if strings.HasPrefix(text, out[i].title()) {
				out[i].notes = append(out[i].notes, text)
			}
		}
	}
	return out
}

// title begins the notes of a row.
func (l line) title() string { return fmt.Sprintf("- %s on %s: ", l.experiment, l.store) }

// merge puts the results in the place of earlier ones, in the order of the
// experiments; experiments that are no more are left out. Pure.
func merge(old []line, r report) []line {
	var out []line
	for _, e := range experiments() {
		for _, store := range e.stores {
			if i := slices.IndexFunc(r.results, func(r result) bool { return r.Experiment == e.name && r.Store == store }); i >= 0 {
				out = append(out, r.line(i))
			} else if i := slices.IndexFunc(old, func(l line) bool { return l.experiment == e.name && l.store == store }); i >= 0 {
				out = append(out, old[i])
			}
		}
	}
	return out
}

func (r report) line(i int) line {
	one := &r.results[i]
	l := line{experiment: one.Experiment, store: one.Store, cells: append(one.cells(), r.about.Date+", "+r.about.Commit)}
	for _, note := range append(slices.Clone(one.Notes), one.Violations...) {
		l.notes = append(l.notes, l.title()+strings.ReplaceAll(note, "\n", " "))
	}
	return l
}

func markdown(r report, table []line) string {
	var out strings.Builder
	for _, fact := range [][2]string{
		{"date", r.about.Date}, {"commit", r.about.Commit}, {"machine", r.about.Machine}, {"Redis", r.about.Redis},
		{"form", fmt.Sprintf("%s, seed %d, %s", r.about.Form, r.about.Seed, r.took.Round(time.Second))}, {"result", r.conclusion()},
	} {
		fmt.Fprintf(&out, "- %s: %s\n", fact[0], fact[1])
	}
	fmt.Fprintf(&out, "\n| %s |\n|%s\n", strings.Join(pageColumns(), " | "), strings.Repeat("---|", len(pageColumns())))
	for _, l := range table {
		fmt.Fprintf(&out, "| %s |\n", strings.Join(l.cells, " | "))
	}
	for _, l := range table {
		for _, note := range l.notes {
			out.WriteString("\n" + note)
		}
	}
	out.WriteString("\n")
	return out.String()
}
