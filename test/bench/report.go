package main

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
)

// Verdicts on a figure.
const (
	verdictOK        = "ok"         // the budget is reached
	verdictMissed    = "MISSED"     // and not recorded, or worse than recorded
	verdictRecorded  = "recorded"   // missed, for a reason that is written down
	verdictNotJudged = "not judged" // the run is too short for it
)

// figure is one measured number. A raw limit that is not a number is absent.
type figure struct {
	Store    string
	Measure  measure
	Measured float64
	Raw      float64
	Note     string
	Budget   string
	Verdict  string

	budget *budget
}

func newFigure(store string, m measure, measured, raw float64) figure {
	return figure{Store: store, Measure: m, Measured: measured, Raw: raw, budget: budgetOf(store, m, raw)}
}

func (f figure) id() string { return f.Store + "/" + string(f.Measure) }

// number is a value in the figure's own unit; empty if it is none.
func (f figure) number(value float64) string {
	if math.IsNaN(value) {
		return ""
	}
	m := f.Measure.meaning()
	return strings.TrimSpace(fmt.Sprintf("%.*f %s", m.digits, value, m.unit))
}

// report is the outcome of a run.
type report struct {
	about   *about
	figures []figure
	stale   []string // recorded misses of what was measured and is not missed
}

// judge holds the figures against their budgets and the recorded misses.
func judge(about *about, figures []figure, recorded map[string]miss, short bool) report {
	figures = slices.Clone(figures)
	slices.SortStableFunc(figures, func(a, b figure) int {
		return cmp.Or(cmp.Compare(storePlace(a.Store), storePlace(b.Store)), cmp.Compare(a.Measure.place(), b.Measure.place()))
	})
	r := report{about: about, figures: figures}
	for i := range r.figures {
		f := &r.figures[i]
		if f.budget == nil {
			continue
		}
		f.Budget = f.budget.text
		known, isKnown := recorded[f.id()]
		switch {
		case short && f.Measure.meaning().long:
			f.Verdict = verdictNotJudged
			continue
		case f.budget.reaches(f.Measured, f.budget.limit):
			f.Verdict = verdictOK
		case isKnown && f.budget.reaches(f.Measured, known.accepted):
			f.Verdict = verdictRecorded
		default:
			f.Verdict = verdictMissed
		}
		if isKnown && f.Verdict == verdictOK {
			r.stale = append(r.stale, f.id())
		}
	}
	return r
}

func storePlace(name string) int { return slices.Index(backendNames(), name) }

// missed is how many budgets were missed without a record.
func (r report) missed() int { return r.count(verdictMissed) }

func (r report) count(verdict string) int {
	n := 0
	for _, f := range r.figures {
		if f.Verdict == verdict {
			n++
		}
	}
	return n
}

// conclusion is one line.
func (r report) conclusion() string {
	return fmt.Sprintf("%d budgets reached, %d missed and recorded, %d missed", r.count(verdictOK), r.count(verdictRecorded), r.missed())
}
