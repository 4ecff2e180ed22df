package config

import (
	"fmt"
	"strings"
)

// Problem is one thing that is wrong with the configuration.
type Problem struct {
	Path   string `json:"path,omitempty"` // dotted, as in http.listen or owners[2]; empty: the file as a whole
	File   string `json:"file,omitempty"` // empty where the value is not from a file
	Line   int    `json:"line,omitempty"` // from 1
	Column int    `json:"column,omitempty"`
	What   string `json:"what"` // what is wrong and what to do
}

// String is the problem in one line: place, path, what.
func (p Problem) String() string {
	var out strings.Builder
	if p.File != "" {
		out.WriteString(p.File)
		if p.Line > 0 {
			fmt.Fprintf(&out, ":%d:%d", p.Line, p.Column)
		}
		out.WriteString(": ")
	}
	if p.Path != "" {
		out.WriteString(p.Path + ": ")
	}
	return out.String() + p.What
}

// Errors is an error made of every problem that was found. It is never empty.
type Errors []Problem

// Error is one line: the first problem, and how many more there are.
func (p Errors) Error() string {
	switch len(p) {
	case 0:
		return "no problems"
	case 1:
		return p[0].String()
	}
	return fmt.Sprintf("%s (and %d more; `gateway config check` lists them all)", p[0], len(p)-1)
}
