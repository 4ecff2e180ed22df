package scheduler

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/robfig/cron/v3"
)

// Clock changes. A schedule that names hours means the time that people see on
// a wall:
//
//   - a time that the clock jumps over is fired at the moment of the jump, once,
//     however many of its times are jumped over;
//   - a time that the clock shows twice is fired the first time only.
//
// A schedule of all hours (* or */1 in the hour field) means hours that pass: times that
// are jumped over are left out, and both passes of an hour are fired.

// parseCron reads five fields or a @word. The error says what is wrong with it.
func parseCron(text string) (spec *cron.SpecSchedule, err error) {
	if err := strictCron(text); err != nil {
		return nil, err
	}
	defer func() { // the parser's indexes trust their input
		if cause := recover(); cause != nil {
			spec, err = nil, fmt.Errorf("%q cannot be read: %v", text, cause)
		}
	}()
	parser := cron.NewParser(cron.Minute | cron.Hour | cron.Dom | cron.Month | cron.Dow | cron.Descriptor)
	parsed, err := parser.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("%w; the fields are minute 0-59, hour 0-23, day 1-31, month 1-12 or JAN-DEC, weekday 0-6 or SUN-SAT (Sunday is 0)", err)
	}
	spec, ok := parsed.(*cron.SpecSchedule)
	if !ok {
		return nil, fmt.Errorf("%q is no cron expression; use every for intervals", text)
	}
	spec.Location = time.UTC
	return spec, nil
}

// strictCron refuses what the parser takes but does not do as it is written.
func strictCron(text string) error {
	fields, sizes := strings.Fields(text), fieldSizes()
	switch {
	case len(text) > CronMax:
		return fmt.Errorf("it must have at most %d bytes", CronMax)
	case strings.Contains(text, "TZ="):
		return errors.New("the time zone belongs into timezone, not into cron")
	case strings.HasPrefix(text, "@every"):
		return errors.New("use every for intervals")
	case strings.HasPrefix(text, "@"):
		return nil
	case len(fields) != len(sizes):
		return fmt.Errorf("it has %d fields instead of five: minute, hour, day of the month, month, weekday (seconds are not possible)", len(fields))
	}
	for i, size := range sizes {
		for part := range strings.SplitSeq(fields[i], ",") {
			_, step, found := strings.Cut(part, "/")
			if n, err := strconv.Atoi(step); found && err == nil && n > size {
				return fmt.Errorf("the step of %q is longer than its whole range, so it would not do what it says; use every for intervals", part)
			}
			if part == "" {
				return fmt.Errorf("%q has an empty part", fields[i])
			}
		}
	}
	return nil
}

// cronFields is how many fields an expression has.
const cronFields = 5

// fieldSizes are how many values each field has.
func fieldSizes() [cronFields]int { return [5]int{60, 24, 31, 12, 7} }

// allHours reports whether a schedule counts hours that pass.
func allHours(spec *cron.SpecSchedule) bool {
	const every = 1<<24 - 1
	return spec.Hour&every == every
}

// nextCron is the first time after the given one, in whole seconds; zero:
// there is none within five years.
func nextCron(spec *cron.SpecSchedule, zone *time.Location, after time.Time) time.Time {
	if allHours(spec) {
		return nextPassing(spec, zone, after)
	}
	for wall := wallOf(after, zone); ; {
		wall = spec.Next(wall)
		if wall.IsZero() {
			return time.Time{}
		}
		if t := instant(wall, zone); t.After(after) {
			return t
		}
	}
}

// nextPassing goes through the stretches between two changes of the clock.
func nextPassing(spec *cron.SpecSchedule, zone *time.Location, after time.Time) time.Time {
	for from := after; ; {
		_, end := from.In(zone).ZoneBounds()
		_, offset := from.In(zone).Zone()
		wall := from.UTC().Add(seconds(offset))
		if from.After(after) {
			wall = wall.Add(-time.Nanosecond) // the stretch's first moment counts
		}
		next := spec.Next(wall)
		if next.IsZero() {
			return time.Time{}
		}
		if next = next.Add(-seconds(offset)); end.IsZero() || next.Before(end) {
			return next
		}
		from = end.UTC()
	}
}

// wallOf is what a clock shows, as the time that shows the same in UTC.
func wallOf(t time.Time, zone *time.Location) time.Time {
	_, offset := t.In(zone).Zone()
	return t.UTC().Add(seconds(offset))
}

// farthest is more than any zone ever was from UTC.
const farthest = 30 * time.Hour

// instant is when a clock in a zone shows wall for the first time, or, if it
// never does, the moment at which it jumps over it.
func instant(wall time.Time, zone *time.Location) time.Time {
	for t := wall.Add(-farthest); ; {
		start, end := t.In(zone).ZoneBounds()
		_, offset := t.In(zone).Zone()
		shown := wall.Add(-seconds(offset))
		if end.IsZero() || shown.Before(end) {
			if shown.Before(start) {
				return start.UTC()
			}
			return shown
		}
		t = end
	}
}

func seconds(n int) time.Duration { return time.Duration(n) * time.Second }
