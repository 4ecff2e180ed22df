package scheduler

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// ProblemError is one reason why a definition is refused.
type ProblemError struct {
	Field string // its key in the file and the API
	What  string
}

// Error is field and reason.
func (p *ProblemError) Error() string { return p.Field + ": " + p.What }

func problem(field string, err error) error {
	if err == nil {
		return nil
	}
	return &ProblemError{field, err.Error()}
}

// RefusedError is a definition that was not taken, with every reason.
type RefusedError struct{ Problems []ProblemError }

// Error lists the reasons.
func (e *RefusedError) Error() string {
	lines := make([]string, len(e.Problems))
	for i, p := range e.Problems {
		lines[i] = p.Error()
	}
	return strings.Join(lines, "; ")
}

// World is what a definition is checked against, given from outside. A nil
// function knows nothing: whatever it would be asked about is refused.
type World struct {
	// Surface says why nothing can be delivered to a surface; empty: it can.
	Surface func(key string) (why string)
	// Agent and Tool report whether there is one of that name.
	Agent, Tool func(name string) bool
}

var idForm = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*$`)

// CheckID refuses what cannot be a schedule's id, with a *ProblemError.
func CheckID(id string) error {
	switch {
	case id == "" || len(id) > IDMax || !idForm.MatchString(id):
		return &ProblemError{"id", fmt.Sprintf("it must be 1 to %d letters, digits, dots, dashes and underscores, and begin with a letter or digit", IDMax)}
	case strings.HasPrefix(id, choreID):
		return &ProblemError{"id", "ids that begin with " + choreID + " are the gateway's own"}
	case strings.Contains(id, "__"):
		return &ProblemError{"id", "it must not contain two underscores in a row"}
	}
	return nil
}

// Check refuses a definition with a *RefusedError that has every reason. A
// one-shot must lie after now, and every schedule must fire at least once.
func (d Definition) Check(world World, now time.Time) error {
	var problems []ProblemError
	add := func(errs ...error) {
		for _, err := range errs {
			if p, ok := errors.AsType[*ProblemError](err); ok {
				problems = append(problems, *p)
			}
		}
	}
	d = d.WithDefaults()
	add(CheckID(d.ID), d.checkTimes(now), d.checkPrompt())
	add(oneOf("session", d.Session, Shared, Fresh), oneOf("missed", d.Missed, MissedSkip, MissedOnce, MissedAll),
		oneOf("overlap", d.Overlap, OverlapSkip, OverlapQueue))
	add(d.checkDurations()...)
	add(d.checkNames(world)...)
	add(d.checkSurfaces(world)...)
	if len(problems) > 0 {
		return &RefusedError{problems}
	}
	return nil
}

// checkTimes refuses what never fires.
func (d Definition) checkTimes(now time.Time) error {
	timing, err := d.parseTiming()
	if err != nil {
		return err
	}
	switch {
	case !timing.at.IsZero() && !timing.at.After(now):
		return &ProblemError{"at", fmt.Sprintf("%s is past (it is %s)", timing.at.Format(time.RFC3339), now.UTC().Format(time.RFC3339))}
	case timing.at.After(now.AddDate(YearsAhead, 0, 0)):
		return &ProblemError{"at", fmt.Sprintf("it must lie within %d years", YearsAhead)}
	case timing.Next(now, now).IsZero():
		return &ProblemError{"cron", fmt.Sprintf("%q never comes: there is no such date", d.Cron)}
	}
	return nil
}

func (d Definition) checkPrompt() error {
	switch {
	case strings.TrimSpace(d.Prompt) == "":
		return &ProblemError{"prompt", "it must not be empty"}
	case len(d.Prompt) > PromptMax:
		return &ProblemError{"prompt", fmt.Sprintf("it has %d bytes; at most %d are possible", len(d.Prompt), PromptMax)}
	case !utf8.ValidString(d.Prompt):
		return &ProblemError{"prompt", "it must be valid UTF-8"}
	}
	return nil
}

func oneOf[T ~string](field string, value T, allowed ...T) error {
	if slices.Contains(allowed, value) {
		return nil
	}
	words := make([]string, len(allowed))
	for i, word := range allowed {
		words[i] = string(word)
	}
	return &ProblemError{field, fmt.Sprintf("%.40q is not possible; use %s", value, strings.Join(words, ", "))}
}

func (d Definition) checkDurations() []error {
	_, limit := parseBetween(d.TimeLimit, TimeLimitMin, TimeLimitMax)
	out := []error{problem("time_limit", limit)}
	if d.Jitter == "" {
		return out
	}
	jitter, err := parseBetween(d.Jitter, 0, JitterMax)
	out = append(out, problem("jitter", err))
	if every, wrong := parseDuration(d.Every); err == nil && wrong == nil && jitter > every {
		out = append(out, &ProblemError{"jitter", "it must not be longer than the interval"})
	}
	return out
}

func (d Definition) checkNames(world World) []error {
	var out []error
	if d.Agent != "" && !known(world.Agent, d.Agent) {
		out = append(out, &ProblemError{"agent", fmt.Sprintf("there is no agent %.64q", d.Agent)})
	}
	if len(d.Tools) > ToolsMax {
		out = append(out, &ProblemError{"tools", fmt.Sprintf("at most %d are possible", ToolsMax)})
	}
	for _, tool := range d.Tools {
		if !known(world.Tool, tool) {
			out = append(out, &ProblemError{"tools", fmt.Sprintf("there is no tool %.64q", tool)})
		}
	}
	return out
}

func known(ask func(string) bool, name string) bool {
	return ask != nil && len(name) <= NameMax && ask(name)
}

func (d Definition) checkSurfaces(world World) []error {
	var out []error
	if len(d.DeliverTo) > TargetsMax {
		out = append(out, &ProblemError{"deliver_to", fmt.Sprintf("at most %d surfaces are possible", TargetsMax)})
		return out
	}
	for i, surface := range d.DeliverTo {
		if slices.Contains(d.DeliverTo[:i], surface) {
			out = append(out, &ProblemError{"deliver_to", fmt.Sprintf("%.200q stands there twice", surface)})
			continue
		}
		out = append(out, world.surface("deliver_to", surface))
	}
	if d.In != "" {
		out = append(out, world.surface("in", d.In))
	}
	if d.ReportTo != "" {
		out = append(out, world.surface("report_to", d.ReportTo))
	}
	return out
}

func (w World) surface(field, key string) error {
	why := "nothing can be delivered here"
	if w.Surface != nil {
		why = w.Surface(key)
	}
	if why == "" {
		return nil
	}
	return &ProblemError{field, fmt.Sprintf("%.200q: %s", key, why)}
}
