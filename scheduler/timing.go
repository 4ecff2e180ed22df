package scheduler

import (
	"errors"
	"fmt"
	"hash/fnv"
	"strconv"
	"strings"
	"time"

	"github.com/robfig/cron/v3"
)

// Timing is when a schedule fires. All times are whole seconds, in UTC.
type Timing struct {
	cron  *cron.SpecSchedule
	every time.Duration
	at    time.Time
	zone  *time.Location
}

// missedCounted is how many missed firings are counted; of more it is only
// known that there were at least as many.
const missedCounted = 1000

// Next is the first firing after the given time; zero: there is none any
// more. Intervals count from anchor.
func (t Timing) Next(anchor, after time.Time) time.Time {
	switch {
	case t.cron != nil:
		return nextCron(t.cron, t.zone, after)
	case t.every > 0:
		if after.Before(anchor) {
			after = anchor
		}
		return after.Add(t.every - after.Sub(anchor)%t.every)
	case t.at.After(after):
		return t.at
	}
	return time.Time{}
}

// First are the next n firings after the given time.
func (t Timing) First(n int, anchor, after time.Time) []time.Time {
	var out []time.Time
	for next := t.Next(anchor, after); len(out) < n && !next.IsZero(); next = t.Next(anchor, next) {
		out = append(out, next)
	}
	return out
}

// last is the newest firing that is not after until, given that first is one,
// and how many there are from first to it, at most missedCounted.
func (t Timing) last(anchor, first, until time.Time) (newest time.Time, count int) {
	if t.every > 0 {
		n := int64(until.Sub(first) / t.every)
		return first.Add(time.Duration(n) * t.every), int(min(n, missedCounted-1)) + 1
	}
	for newest = first; ; newest = t.Next(anchor, newest) {
		if count++; count == missedCounted {
			break
		}
		if next := t.Next(anchor, newest); next.IsZero() || next.After(until) {
			return newest, count
		}
	}
	return t.lastBefore(anchor, newest, until), count
}

// lastBefore looks for the newest firing in ever longer stretches before until.
func (t Timing) lastBefore(anchor, found, until time.Time) time.Time {
	for _, back := range []time.Duration{time.Hour, day, 32 * day, 367 * day, 9 * 366 * day} {
		next := t.Next(anchor, until.Add(-back))
		if next.IsZero() || next.After(until) {
			continue
		}
		for ; !next.IsZero() && !next.After(until); next = t.Next(anchor, next) {
			found = next
		}
		return found
	}
	return found
}

// jitterOf is how much later than planned a firing is due: less than most,
// the same for a schedule and time wherever it is computed.
func jitterOf(id string, planned time.Time, most time.Duration) time.Duration {
	whole := uint64(most / time.Second)
	if whole == 0 {
		return 0
	}
	sum := fnv.New64a()
	_, _ = sum.Write([]byte(id + " " + strconv.FormatInt(planned.Unix(), 10))) // never fails
	mixed := sum.Sum64()
	mixed ^= mixed >> 31
	return seconds(int((mixed * 0x9e3779b97f4a7c15 >> 20) % whole)) //nolint:gosec // below a day
}

// parseTiming reads when a definition fires.
func (d Definition) parseTiming() (Timing, error) {
	t := Timing{zone: time.UTC}
	var err error
	if t.zone, err = loadZone(d.Timezone); err != nil {
		return t, err
	}
	given := 0
	for _, text := range []string{d.Cron, d.Every, d.At} {
		if text != "" {
			given++
		}
	}
	switch {
	case given != 1:
		return t, &ProblemError{"cron", "exactly one of cron, every and at is needed"}
	case d.Cron != "":
		t.cron, err = parseCron(strings.TrimSpace(d.Cron))
		return t, problem("cron", err)
	case d.Every != "":
		t.every, err = parseBetween(d.Every, EveryMin, EveryMax)
		return t, problem("every", err)
	}
	t.at, err = parseAt(d.At, t.zone)
	return t, problem("at", err)
}

func loadZone(name string) (*time.Location, error) {
	if name == "" {
		return time.UTC, nil
	}
	zone, err := time.LoadLocation(name)
	if err != nil || name == "Local" || len(name) > NameMax {
		return time.UTC, &ProblemError{"timezone", fmt.Sprintf("%.64q is not a time zone; use an IANA name such as Europe/Berlin", name)}
	}
	return zone, nil
}

// parseAt reads a moment: with its own offset, or as a clock in zone shows it.
func parseAt(text string, zone *time.Location) (time.Time, error) {
	text = strings.TrimSpace(text)
	if t, err := time.Parse(time.RFC3339, text); err == nil {
		return t.UTC().Truncate(time.Second), nil
	}
	for _, form := range []string{"2006-01-02T15:04:05", "2006-01-02 15:04:05", "2006-01-02T15:04", "2006-01-02 15:04"} {
		if wall, err := time.Parse(form, text); err == nil {
			return instant(wall, zone), nil
		}
	}
	return time.Time{}, fmt.Errorf("%.64q is not a time that exists; write 2026-05-01 09:00, or with an offset 2026-05-01T09:00:00+02:00", text)
}

// parseDuration reads a Go duration, or a number of days such as 2d.
func parseDuration(text string) (time.Duration, error) {
	text = strings.TrimSpace(text)
	if days, ok := strings.CutSuffix(text, "d"); ok {
		if n, err := strconv.ParseUint(days, 10, 12); err == nil {
			return time.Duration(n) * day, nil //nolint:gosec // 12 bits
		}
	}
	d, err := time.ParseDuration(text)
	if err != nil || len(text) > NameMax {
		return 0, fmt.Errorf("%.64q is not a duration; write 90s, 30m, 12h or 2d", text)
	}
	return d, nil
}

func parseBetween(text string, least, most time.Duration) (time.Duration, error) {
	d, err := parseDuration(text)
	switch {
	case err != nil:
		return 0, err
	case d < least || d > most:
		return 0, fmt.Errorf("%s is not possible; it must be %s to %s", text, least, most)
	case d%time.Second != 0:
		return 0, errors.New("it must be whole seconds")
	}
	return d, nil
}
