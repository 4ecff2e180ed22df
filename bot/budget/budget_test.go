package budget

import (
	"fmt"
	"testing"
	"time"

	"parley/routing"
)

func TestDecide(t *testing.T) {
	t.Parallel()
	l := Limits{Turns: 100, Reserve: 10, Members: Rate{4, 30}, Guests: Rate{20, 10}, Chats: Rate{8, 60}, Schedules: Rate{2, 6}}
	for name, c := range map[string]struct {
		ask          Ask
		person, chat Use
		others       int
		want         Reason
		wait         time.Duration
	}{
		"nothing is used":                  {Ask{Role: routing.Member}, Use{}, Use{}, 0, "", 0},
		"a member's last at once":          {Ask{Role: routing.Member}, Use{Running: 3}, Use{}, 0, "", 0},
		"a member has enough":              {Ask{Role: routing.Member}, Use{Running: 4}, Use{}, 0, PersonBusy, 0},
		"a member's minute is spent":       {Ask{Role: routing.Member}, Use{Spent: 30}, Use{}, 0, PersonSpent, 2 * time.Second},
		"half of one has come back":        {Ask{Role: routing.Member}, Use{Spent: 29.5}, Use{}, 0, PersonSpent, time.Second},
		"one has come back":                {Ask{Role: routing.Member}, Use{Spent: 29}, Use{}, 0, "", 0},
		"a guest has a tenth":              {Ask{Role: routing.Guest}, Use{Running: 10}, Use{}, 0, PersonBusy, 0},
		"a guest has less":                 {Ask{Role: routing.Guest}, Use{Running: 9}, Use{}, 0, "", 0},
		"somebody of no role is a guest":   {Ask{}, Use{Running: 10}, Use{}, 0, PersonBusy, 0},
		"the chat has enough":              {Ask{Role: routing.Member}, Use{}, Use{Running: 8}, 0, ChatBusy, 0},
		"the chat's minute is spent":       {Ask{Role: routing.Guest}, Use{}, Use{Spent: 60}, 0, ChatSpent, time.Second},
		"a schedule has no chat":           {Ask{Role: routing.Member, Schedule: true}, Use{}, Use{Running: 8, Spent: 60}, 0, "", 0},
		"a maker's schedules have enough":  {Ask{Role: routing.Member, Schedule: true}, Use{Running: 2}, Use{}, 0, PersonBusy, 0},
		"a maker's minute is spent":        {Ask{Role: routing.Member, Schedule: true}, Use{Spent: 6}, Use{}, 0, PersonSpent, 10 * time.Second},
		"the last that is not the owners'": {Ask{Role: routing.Member}, Use{}, Use{}, 89, "", 0},
		"the rest is the owners'":          {Ask{Role: routing.Member}, Use{}, Use{}, 90, Full, 0},
		"an owner has no bound":            {Ask{Role: routing.Owner}, Use{Running: 99, Spent: 999}, Use{Running: 99, Spent: 999}, 99, "", 0},
		"an owner's schedule has none":     {Ask{Role: routing.Owner, Schedule: true}, Use{Running: 99, Spent: 999}, Use{}, 99, "", 0},
	} {
		reason, wait := l.Decide(c.ask, c.person, c.chat, c.others)
		if reason != c.want || wait.Round(time.Millisecond) != c.wait {
			t.Errorf("%s: %q, %v, want %q, %v", name, reason, wait, c.want, c.wait)
		}
	}
	open := Limits{Turns: 5, Members: Rate{}, Chats: Rate{}}
	if reason, _ := open.Decide(Ask{Role: routing.Member}, Use{Running: 4, Spent: 1e6}, Use{Running: 4, Spent: 1e6}, 4); reason != "" {
		t.Errorf("without bounds: %q", reason)
	}
}

// clock is a Budget's time, moved by the test.
func clock(b *Budget) *time.Time {
	now := time.Unix(1e9, 0)
	b.now = func() time.Time { return now }
	return &now
}

func TestAMinutesWorthRunsOff(t *testing.T) {
	t.Parallel()
	b := New(Limits{Turns: 100, Members: Rate{AMinute: 6}})
	now := clock(b)
	ann := Ask{Person: "ann", Chat: "c", Role: routing.Member}
	begin := func() bool {
		v := b.Begin(ann)
		if v.End != nil {
			v.End()
		}
		return v.End != nil
	}
	begun := 0
	for begin() {
		begun++
	}
	if begun != 6 {
		t.Errorf("%d began together", begun)
	}
	for range 36 { // six minutes
		*now = now.Add(10 * time.Second)
		if !begin() || begin() {
			t.Fatal("not one in ten seconds")
		}
	}
}

// Turns that wait do not all ask again at the same time.
func TestThoseThatWaitAskOneAfterTheOther(t *testing.T) {
	t.Parallel()
	b := New(Limits{Turns: 100, Members: Rate{AtOnce: 1}})
	clock(b)
	ann := Ask{Person: "ann", Chat: "c", Role: routing.Member}
	running := b.Begin(ann)
	var before time.Duration
	for i := range 1000 {
		v := b.Begin(ann)
		if v.End != nil || v.Wait < first || v.Wait > last || v.Wait < last && v.Wait <= before || v.Tell != (i == 0) {
			t.Fatalf("the %dth: %+v, after %v", i, v, before)
		}
		before = v.Wait
	}
	running.End()
	if b.Begin(ann).End == nil {
		t.Error("a place that was given back is not to be had")
	}
}

func TestOneGuestNeverHasMoreThanATenth(t *testing.T) {
	t.Parallel()
	b := New(Limits{Turns: 200, Reserve: 20})
	begun := 0
	for i := range 1000 {
		if b.Begin(Ask{Person: "guest", Chat: fmt.Sprint(i), Role: routing.Guest}).End != nil {
			begun++
		}
	}
	if begun != 20 {
		t.Errorf("a guest has %d of 200", begun)
	}
	for i := range 1000 {
		b.Begin(Ask{Person: fmt.Sprint(i), Chat: "c", Role: routing.Member}) // only counted
	}
	if b.others != 180 {
		t.Errorf("owners keep %d", 200-b.others)
	}
}

func TestWhatIsKeptIsBounded(t *testing.T) {
	t.Parallel()
	b := New(Limits{Turns: 1 << 20, Chats: Rate{AtOnce: 1 << 20}, Guests: Rate{AtOnce: 3}})
	now := clock(b)
	for i := range 3 * kept {
		if v := b.Begin(Ask{Person: fmt.Sprint(i), Chat: "c", Role: routing.Guest}); v.End != nil {
			v.End()
		}
	}
	if len(b.uses) > kept+1 {
		t.Errorf("%d are kept", len(b.uses))
	}
	*now = now.Add(tellEvery)
	if v := b.Begin(Ask{Person: "new", Chat: "c", Role: routing.Guest}); v.End == nil || len(b.uses) > 3 {
		t.Errorf("%d are kept after a quiet while", len(b.uses))
	}
}
