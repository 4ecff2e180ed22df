package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"
)

// What the budgets file is read and written by.
const (
	recordedHeading = "## Recorded misses"
	lastRunBegin    = "<!-- last run: begin -->"
	lastRunEnd      = "<!-- last run: end -->"
)

// miss is a budget that is known to be missed, and why.
type miss struct {
	accepted float64 // nothing worse than this is covered
	reason   string
}

// readRecorded reads the recorded misses; a file that is not there records none.
func readRecorded(path string) (map[string]miss, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return map[string]miss{}, nil
	}
	if err != nil {
		return nil, err
	}
	recorded, err := parseRecorded(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return recorded, nil
}

// parseRecorded reads the table under recordedHeading, whose rows are
//
//	| `store/measure` | accepted | reason |
//
// where accepted begins with a number in the measure's unit: the worst value
// that the reason covers. A row that cannot be read is an error, so that no
// miss is recorded by accident.
func parseRecorded(text []byte) (map[string]miss, error) {
	out := map[string]miss{}
	inside := false
	lines := bufio.NewScanner(bytes.NewReader(text))
	for number := 1; lines.Scan(); number++ {
		line := strings.TrimSpace(lines.Text())
		if strings.HasPrefix(line, "## ") {
			inside = line == recordedHeading
		}
		if !inside || !strings.HasPrefix(line, "|") || isTableHead(line) {
			continue
		}
		id, m, err := parseMiss(line)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", number, err)
		}
		if _, twice := out[id]; twice {
			return nil, fmt.Errorf("line %d: %s is recorded twice", number, id)
		}
		out[id] = m
	}
	return out, lines.Err()
}

func isTableHead(line string) bool {
	return strings.HasPrefix(line, "| budget ") || strings.Trim(line, "|-: ") == ""
}

func parseMiss(line string) (string, miss, error) {
	cells := strings.Split(strings.Trim(line, "|"), "|")
	if len(cells) != 3 {
		return "", miss{}, fmt.Errorf("a recorded miss has 3 cells (budget, accepted, reason), not %d", len(cells))
	}
	id, quoted := strings.CutPrefix(strings.TrimSpace(cells[0]), "`")
	id, closed := strings.CutSuffix(id, "`")
	store, name, ok := strings.Cut(id, "/")
	if !quoted || !closed || !ok || measure(name).place() < 0 || store == "" {
		return "", miss{}, fmt.Errorf("%s is no `store/measure`", strings.TrimSpace(cells[0]))
	}
	first, _, _ := strings.Cut(strings.TrimSpace(cells[1]), " ")
	accepted, err := strconv.ParseFloat(strings.ReplaceAll(first, ",", ""), 64)
	if err != nil {
		return "", miss{}, fmt.Errorf("what is accepted for %s begins with no number: %q", id, strings.TrimSpace(cells[1]))
	}
	reason := strings.TrimSpace(cells[2])
	if reason == "" {
		return "", miss{}, fmt.Errorf("%s is recorded without a reason", id)
	}
	return id, miss{accepted: accepted, reason: reason}, nil
}

// writeLastRun replaces what stands between the marks of the last run.
func writeLastRun(path string, r report) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	before, rest, began := strings.Cut(string(text), lastRunBegin)
	_, after, ended := strings.Cut(rest, lastRunEnd)
	if !began || !ended {
		return fmt.Errorf("%s has no lines %s and %s to write between", path, lastRunBegin, lastRunEnd)
	}
	var out bytes.Buffer
	printMarkdown(&out, r)
	return os.WriteFile(path, []byte(before+lastRunBegin+"\n\n"+out.String()+"\n"+lastRunEnd+after), 0o644)
}
