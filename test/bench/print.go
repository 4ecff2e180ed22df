package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strings"
	"unicode/utf8"
)

// columns of the table.
func columns() []string {
	return []string{"store", "what", "measured", "raw limit", "budget", "verdict"}
}

func row(f figure) []string {
	measured := f.number(f.Measured)
	if f.Note != "" {
		measured += " (" + f.Note + ")"
	}
	return []string{f.Store, f.Measure.meaning().text, measured, f.number(f.Raw), f.Budget, f.Verdict}
}

// printTable prints an aligned table for a terminal.
func printTable(out io.Writer, r report) {
	rows := [][]string{columns()}
	for i, f := range r.figures {
		if i == 0 || f.Store != r.figures[i-1].Store {
			rows = append(rows, nil)
		}
		rows = append(rows, row(f))
	}
	widths := make([]int, len(columns()))
	for _, cells := range rows {
		for i, cell := range cells {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	for _, cells := range rows {
		var line strings.Builder
		for i, cell := range cells {
			line.WriteString(cell + strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell)+2))
		}
		fmt.Fprintln(out, strings.TrimRight(line.String(), " "))
	}
	fmt.Fprintln(out)
	for _, fact := range r.about.facts() {
		fmt.Fprintf(out, "%-9s %s\n", fact.name, fact.value)
	}
	for _, id := range r.stale {
		fmt.Fprintf(out, "note      %s is recorded as missed but was reached: the record may go\n", id)
	}
	fmt.Fprintf(out, "\n%s\n", r.conclusion())
}

// printMarkdown prints the same for the budgets file.
func printMarkdown(out io.Writer, r report) {
	for _, fact := range r.about.facts() {
		fmt.Fprintf(out, "- %s: %s\n", fact.name, fact.value)
	}
	fmt.Fprintf(out, "- result: %s\n\n", r.conclusion())
	fmt.Fprintf(out, "| %s |\n|%s\n", strings.Join(columns(), " | "), strings.Repeat("---|", len(columns())))
	for _, f := range r.figures {
		cells := row(f)
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		fmt.Fprintf(out, "| %s |\n", strings.Join(cells, " | "))
	}
}

// present is nil for a value that is none: a machine so busy that nothing was
// measured must not spoil the rest.
func present(value float64) *float64 {
	if math.IsNaN(value) {
		return nil
	}
	return &value
}

// printJSON prints one object. What is absent is null or left out.
func printJSON(out io.Writer, r report) error {
	type line struct {
		ID       string   `json:"id"`
		What     string   `json:"what"`
		Unit     string   `json:"unit,omitempty"`
		Measured *float64 `json:"measured"`
		Raw      *float64 `json:"raw"`
		Note     string   `json:"note,omitempty"`
		Budget   string   `json:"budget,omitempty"`
		Verdict  string   `json:"verdict,omitempty"`
	}
	lines := make([]line, 0, len(r.figures))
	for _, f := range r.figures {
		m := f.Measure.meaning()
		l := line{ID: f.id(), What: strings.TrimSpace(m.text), Unit: m.unit, Note: f.Note, Budget: f.Budget, Verdict: f.Verdict}
		l.Measured, l.Raw = present(f.Measured), present(f.Raw)
		lines = append(lines, l)
	}
	facts := map[string]string{}
	for _, fact := range r.about.facts() {
		facts[fact.name] = fact.value
	}
	encoder := json.NewEncoder(out)
	encoder.SetIndent("", "  ")
	return encoder.Encode(map[string]any{"about": facts, "figures": lines, "missed": r.missed(), "stale": r.stale})
}
