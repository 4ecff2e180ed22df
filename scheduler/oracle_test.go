package scheduler

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// minuteOracle computes when a cron expression fires by walking through every
// minute that passes and reading the clock on the wall. It shares nothing with
// the code under test: fields are matched as texts, changes of the clock are
// noticed because the clock jumps.
type minuteOracle struct {
	fields [5]string
	match  [5][60]bool // by field and value
}

func newMinuteOracle(text string) minuteOracle {
	words := map[string]string{
		"@hourly": "0 * * * *", "@daily": "0 0 * * *", "@midnight": "0 0 * * *", "@weekly": "0 0 * * 0",
		"@monthly": "0 0 1 * *", "@yearly": "0 0 1 1 *", "@annually": "0 0 1 1 *",
	}
	if long, found := words[text]; found {
		text = long
	}
	for i, name := range []string{"SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"} {
		text = strings.ReplaceAll(strings.ToUpper(text), name, strconv.Itoa(i))
	}
	for i, name := range []string{"JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"} {
		text = strings.ReplaceAll(text, name, strconv.Itoa(i+1))
	}
	o := minuteOracle{fields: [5]string(strings.Fields(text))}
	for i, span := range [5][2]int{{0, 59}, {0, 23}, {1, 31}, {1, 12}, {0, 6}} {
		for value := span[0]; value <= span[1]; value++ {
			o.match[i][value] = o.field(i, value, span[0], span[1])
		}
	}
	return o
}

func (o minuteOracle) field(i, value, low, high int) bool {
	for part := range strings.SplitSeq(o.fields[i], ",") {
		span, step, stepped := strings.Cut(part, "/")
		by := 1
		if stepped {
			by, _ = strconv.Atoi(step)
		}
		from, to := low, high
		if span != "*" {
			first, last, ranged := strings.Cut(span, "-")
			from, _ = strconv.Atoi(first)
			to = from
			if ranged {
				to, _ = strconv.Atoi(last)
			} else if stepped {
				to = high
			}
		}
		if value >= from && value <= to && (value-from)%by == 0 {
			return true
		}
	}
	return false
}

// shows reports whether a clock that shows this asks for a firing.
func (o minuteOracle) shows(wall time.Time) bool {
	if !o.match[0][wall.Minute()] || !o.match[1][wall.Hour()] || !o.match[3][wall.Month()] {
		return false
	}
	month, week := o.match[2][wall.Day()], o.match[4][wall.Weekday()]
	if strings.HasPrefix(o.fields[2], "*") || strings.HasPrefix(o.fields[4], "*") {
		return month && week
	}
	return month || week
}

// minute is one that passes in a zone.
type minute struct {
	at     time.Time
	wall   time.Time   // what the clock shows, as a time without a zone
	again  bool        // it showed that before
	jumped []time.Time // what it would have shown since the minute before, had it not jumped
}

// minutesOf are those after from, up to to.
func minutesOf(loc *time.Location, from, to time.Time) []minute {
	var out []minute
	shown := map[int64]bool{}
	var before time.Time
	for t := from.Add(-48 * time.Hour); !t.After(to); t = t.Add(time.Minute) {
		l := t.In(loc)
		m := minute{at: t, wall: time.Date(l.Year(), l.Month(), l.Day(), l.Hour(), l.Minute(), 0, 0, time.UTC)}
		if !before.IsZero() {
			for jumped := before.Add(time.Minute); jumped.Before(m.wall); jumped = jumped.Add(time.Minute) {
				m.jumped = append(m.jumped, jumped)
				shown[jumped.Unix()] = true
			}
		}
		m.again = shown[m.wall.Unix()]
		shown[m.wall.Unix()] = true
		before = m.wall
		if t.After(from) {
			out = append(out, m)
		}
	}
	return out
}

func (o minuteOracle) among(minutes []minute) []time.Time {
	var out []time.Time
	fixed := o.fields[1] != "*" && o.fields[1] != "*/1"
	for _, m := range minutes {
		if o.shows(m.wall) && (!fixed || !m.again) || fixed && slices.ContainsFunc(m.jumped, o.shows) {
			out = append(out, m.at)
		}
	}
	return out
}

func zone(t *testing.T, name string) *time.Location {
	t.Helper()
	loaded, err := time.LoadLocation(name)
	if err != nil {
		t.Fatal(err)
	}
	return loaded
}

// Every kind of expression, over years in which the clocks of these zones
// change, do not change, change by half an hour, at midnight, or lose a day.
func TestTimesOfAYear(t *testing.T) {
	t.Parallel()
	zones := map[string]int{
		"UTC": 2026, "Europe/Berlin": 2026, "America/New_York": 2026, "Australia/Lord_Howe": 2026, "Asia/Kolkata": 2026,
		"America/Havana": 2026, "Africa/Casablanca": 2026, "Pacific/Apia": 2011, "America/Sao_Paulo": 2018, "Asia/Kathmandu": 2026,
	}
	expressions := []string{
		"0 9 * * 1-5", "30 2 * * *", "30 1 * * *", "0 0 * * *", "*/10 2 * * *", "*/15 * * * *", "0 * * * *", "30 */2 * * *",
		"0 */1 * * *", "15,45 1-3 * * *", "0 0 1 * *", "0 12 29 2 *", "0 0 13 * 5", "5 4 * * sun", "0 3 1-7 * MON", "@hourly", "@daily",
		"@weekly", "@monthly", "@yearly", "0 0 31 12 *", "59 23 * * 6", "0 22-23 * 4,10 *", "17 2 8-14 3,11 *",
	}
	for name, year := range zones {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			loc := zone(t, name)
			from := time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC)
			to := from.AddDate(1, 0, 0)
			minutes := minutesOf(loc, from, to)
			for _, text := range expressions {
				spec, err := parseCron(text)
				if err != nil {
					t.Fatalf("%s: %v", text, err)
				}
				want := newMinuteOracle(text).among(minutes)
				at := from
				for _, next := range want {
					if at = nextCron(spec, loc, at); !at.Equal(next) {
						t.Fatalf("%q in %s: fires at %v, want %v", text, name, at.In(loc), next.In(loc))
					}
				}
				if at = nextCron(spec, loc, at); !at.IsZero() && !at.After(to) {
					t.Fatalf("%q in %s: fires at %v too", text, name, at.In(loc))
				}
			}
		})
	}
}

// From wherever one looks, the next time is the same: nothing depends on where
// the search began.
func TestNextTimeFromAnywhere(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"Europe/Berlin", "Australia/Lord_Howe"} {
		loc := zone(t, name)
		for _, text := range []string{"30 2 * * *", "*/20 * * * *", "0 1-3 * * *", "45 1 * * *"} {
			spec, err := parseCron(text)
			if err != nil {
				t.Fatal(err)
			}
			for _, month := range []int{2, 3, 9} {
				from := time.Date(2026, time.Month(month+1), 1, 0, 0, 0, 0, time.UTC)
				times := newMinuteOracle(text).among(minutesOf(loc, from, from.AddDate(0, 1, 0)))
				i := 0
				for at := from; i < len(times); at = at.Add(37*time.Minute + 13*time.Second) {
					for i < len(times) && !times[i].After(at) {
						i++
					}
					if i == len(times) {
						break
					}
					if got := nextCron(spec, loc, at); !got.Equal(times[i]) {
						t.Fatalf("%q in %s after %v: %v, want %v", text, name, at.In(loc), got.In(loc), times[i].In(loc))
					}
				}
			}
		}
	}
}

func FuzzCron(f *testing.F) {
	for _, text := range []string{"0 9 * * 1-5", "@hourly", "*/90 * * * *", ", * * * *", "TZ=UTC", "* * * * * *", "0 0 30 2 *", "CRON_TZ=", "@every 1h", "? ? * * 7"} {
		f.Add(text)
	}
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string) {
		spec, err := parseCron(text)
		if err != nil {
			return
		}
		after := time.Date(2026, 3, 28, 22, 30, 0, 0, time.UTC)
		if next := nextCron(spec, berlin, after); !next.IsZero() && !next.After(after) {
			t.Errorf("%q fires at %v, not after %v", text, next, after)
		}
	})
}
