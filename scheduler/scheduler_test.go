package scheduler

import (
	"errors"
	"strings"
	"testing"
	"time"

	"parley/sessions"
)

func at(text string) time.Time {
	t, err := time.Parse("2006-01-02 15:04:05", "2026-01-"+text)
	if err != nil {
		panic(err)
	}
	return t
}

func TestARunFromItsTimeToItsEnd(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	r := s.replica()
	view := s.add(Definition{ID: "standup", Cron: "0 9 * * 1-5", DeliverTo: []string{"telegram:1:2", "slack:T:C"}, By: "telegram:7"})
	want(t, "next", view.Next, []time.Time{at("05 09:00:00"), at("06 09:00:00"), at("07 09:00:00")})
	want(t, "fired too early", s.work(r), 0)
	s.clock.set(at("05 09:00:01"))
	if s.work(r) == 0 {
		t.Fatal("nothing fired")
	}
	run := s.get("standup").Run
	if run == nil || run.Phase != Going || run.Session != "schedule:standup" || !run.Planned.Equal(at("05 09:00:00")) {
		t.Fatalf("run %+v", run)
	}
	want(t, "posted", s.posted, []string{"schedule:standup:20260105T090000Z"})
	record, err := s.store.Get(t.Context(), "schedule:standup")
	if err != nil {
		t.Fatal(err)
	}
	if record.Source.Kind != "schedule" || record.Source.Interactive || record.Source.TriggerID != "standup" || record.UserID != "telegram:7" {
		t.Errorf("session %+v", record)
	}
	s.answer(r, run.Session, reply{result: Answered, text: "Good morning."})
	if err := r.Look(t.Context(), "standup"); err != nil {
		t.Fatal(err)
	}
	want(t, "copies", len(s.copied), 2)
	if s.get("standup").Run == nil {
		t.Fatal("the run ended before its deliveries did")
	}
	s.deliver(sessions.DeliverySent, "")
	if err := r.Look(t.Context(), "standup"); err != nil {
		t.Fatal(err)
	}
	runs := s.runs("standup")
	want(t, "ok", planned(runs, OK), []string{"05 09:00:00"})
	if got := runs[0]; got.Tokens == nil || got.Tokens.Prompt != 10 || len(got.Deliveries) != 2 || got.Deliveries[0].State != sessions.DeliverySent || got.EndedAt.IsZero() {
		t.Errorf("record %+v", got)
	}
	want(t, "told", len(s.told), 0)
	want(t, "work", s.work(r), 0)
}

func TestSilenceIsARunToo(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	r := s.replica()
	s.add(Definition{ID: "a", Every: "1h", DeliverTo: []string{"telegram:1:2"}})
	s.through(r, "a", at("05 11:30:00"), 10*time.Minute)
	want(t, "silent", planned(s.runs("a"), Silent), []string{"05 09:00:00", "05 10:00:00", "05 11:00:00"})
	want(t, "copies", len(s.copied), 0)
}

func TestFreshSessions(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	r := s.replica()
	s.add(Definition{ID: "a", Every: "1h", Session: Fresh})
	s.through(r, "a", at("05 10:30:00"), 10*time.Minute)
	for _, id := range []string{"schedule:a:20260105T090000Z", "schedule:a:20260105T100000Z"} {
		if _, err := s.store.Get(t.Context(), id); err != nil {
			t.Errorf("%s: %v", id, err)
		}
	}
	want(t, "silent", len(planned(s.runs("a"), Silent)), 2)
}

// A gateway that is down over some firings.
func TestMissedFirings(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		missed        Missed
		back          time.Time
		silent, left  []string
		alsoRepresent int
	}{
		"skip":         {MissedSkip, at("05 12:30:00"), []string{"05 13:00:00"}, []string{"05 12:00:00"}, 0},
		"once":         {MissedOnce, at("05 12:30:00"), []string{"05 12:00:00", "05 13:00:00"}, nil, 3},
		"all":          {MissedAll, at("05 12:30:00"), []string{"05 09:00:00", "05 10:00:00", "05 11:00:00", "05 12:00:00", "05 13:00:00"}, nil, 0},
		"skip in time": {MissedSkip, at("05 12:00:30"), []string{"05 12:00:00", "05 13:00:00"}, []string{"05 11:00:00"}, 0},
		"once in time": {MissedOnce, at("05 12:00:30"), []string{"05 12:00:00", "05 13:00:00"}, nil, 3},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t)
			r := s.replica()
			s.add(Definition{ID: "a", Cron: "0 * * * *", Missed: tt.missed})
			s.clock.set(tt.back)
			s.settleAll(r, "a")
			s.through(r, "a", at("05 13:10:00"), 10*time.Minute)
			runs := s.runs("a")
			want(t, "silent", planned(runs, Silent), append([]string{}, tt.silent...))
			want(t, "left out", planned(runs, Skipped), append([]string{}, tt.left...))
			for _, run := range runs {
				if run.Outcome == Skipped && tt.back.Equal(at("05 12:00:30")) {
					want(t, "also left out", run.Missed, 2)
				}
				if run.Outcome == Silent && run.Planned.Equal(at("05 12:00:00")) {
					want(t, "missed that it stands for", run.Missed, tt.alsoRepresent)
				}
			}
		})
	}
}

func TestManyMissedFirings(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	r := s.replica()
	s.add(Definition{ID: "once", Cron: "* * * * *"})
	s.add(Definition{ID: "all", Cron: "* * * * *", Missed: MissedAll})
	s.clock.set(start.AddDate(0, 2, 0))
	s.settleAll(r, "once")
	runs := s.runs("once")
	if len(runs) != 1 || !runs[0].Planned.Equal(start.AddDate(0, 2, 0)) || runs[0].Missed != missedCounted-1 {
		t.Fatalf("runs after two months: %+v", runs)
	}
	if view := s.get("all"); view.Waiting != PendingMax && view.Waiting != PendingMax-1 {
		t.Errorf("%d firings wait, want about %d", view.Waiting, PendingMax)
	}
}

func TestOverlap(t *testing.T) {
	t.Parallel()
	for overlap, tt := range map[Overlap]struct{ silent, left []string }{
		OverlapSkip:  {[]string{"05 09:00:00", "05 12:00:00"}, []string{"05 10:00:00", "05 11:00:00"}},
		OverlapQueue: {[]string{"05 09:00:00", "05 10:00:00", "05 11:00:00", "05 12:00:00"}, []string{}},
	} {
		t.Run(string(overlap), func(t *testing.T) {
			t.Parallel()
			s := newStage(t)
			r := s.replica()
			s.add(Definition{ID: "a", Cron: "0 * * * *", Overlap: overlap, TimeLimit: "12h"})
			for s.clock.Now().Before(at("05 11:30:00")) { // the run of nine goes on
				s.clock.advance(10 * time.Second)
				s.work(r)
			}
			want(t, "posted", len(s.posted), 1)
			s.answer(r, "schedule:a", reply{result: Quiet})
			if err := r.Look(t.Context(), "a"); err != nil {
				t.Fatal(err)
			}
			s.settleAll(r, "a")
			s.through(r, "a", at("05 12:10:00"), 10*time.Minute)
			want(t, "silent", planned(s.runs("a"), Silent), tt.silent)
			want(t, "left out", planned(s.runs("a"), Skipped), tt.left)
		})
	}
}

func TestFailuresBackOffAndDisable(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	r := s.replica()
	s.add(Definition{ID: "a", At: "2026-01-05 09:00", By: "telegram:7"})
	var attempts []time.Duration
	for s.get("a").Status == Active {
		s.clock.advance(5 * time.Second)
		s.work(r)
		if run := s.get("a").Run; run != nil && run.Phase == Going {
			attempts = append(attempts, s.clock.Now().Sub(at("05 09:00:00")))
			s.answer(r, run.Session, reply{result: NoAnswer, why: "the model is away"})
			if err := r.Look(t.Context(), "a"); err != nil {
				t.Fatal(err)
			}
		}
	}
	pauses := []time.Duration{30 * time.Second, time.Minute, 5 * time.Minute, 15 * time.Minute, time.Hour, time.Hour, time.Hour, time.Hour, time.Hour}
	want(t, "attempts", len(attempts), FailuresMax)
	for i, pause := range pauses {
		if got := attempts[i+1] - attempts[i]; got < pause || got > pause+6*time.Second {
			t.Errorf("pause %d: %v, want %v", i+1, got, pause)
		}
	}
	if len(s.told) != 2 || s.told[0].Disabled || s.told[0].RetryAt.IsZero() || !s.told[1].Disabled || s.told[1].Failures != FailuresMax {
		t.Errorf("told %+v", s.told)
	}
	if view := s.get("a"); view.Status != Disabled || !strings.Contains(view.Reason, "the model is away") {
		t.Errorf("schedule %+v", view)
	}
	want(t, "failed", planned(s.runs("a"), Failed), []string{"05 09:00:00"})

	// Not lost: it is tried again when somebody resumes it.
	if _, err := s.book.Resume(t.Context(), "a"); err != nil {
		t.Fatal(err)
	}
	s.settleAll(r, "a")
	want(t, "silent", planned(s.runs("a"), Silent), []string{"05 09:00:00"})
	want(t, "status", s.get("a").Status, Finished)
	s.clock.advance(forgetAfter + time.Hour)
	s.work(r)
	if _, err := s.book.Get(t.Context(), "a"); !errors.Is(err, sessions.ErrNotFound) {
		t.Errorf("a schedule that is over for long: %v", err)
	}
}

func TestADeliveryThatFailsIsDeliveredAgain(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	r := s.replica()
	s.add(Definition{ID: "a", Every: "1d", DeliverTo: []string{"telegram:1:2", "slack:T:C"}})
	s.clock.advance(day)
	s.work(r)
	s.answer(r, "schedule:a", reply{result: Answered, text: "news"})
	items, err := s.store.Due(t.Context(), 10)
	if err != nil {
		t.Fatal(err)
	}
	for _, item := range items {
		row, err := s.store.Take(t.Context(), item.ID, sessions.Claimer{Owner: "w", For: sessions.LeaseFor})
		if err != nil {
			continue
		}
		state := sessions.DeliverySent
		if row.Surface == "slack:T:C" {
			state = sessions.DeliveryFailed
		}
		if _, err := s.store.Settle(t.Context(), sessions.Settlement{Delivery: row, State: state, Reason: "channel_not_found"}, sessions.Claimer{}); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.Look(t.Context(), "a"); err != nil {
		t.Fatal(err)
	}
	run := s.get("a").Run
	if run == nil || run.Phase != Retrying || !strings.Contains(run.Error, "slack:T:C: channel_not_found") || len(s.told) != 1 {
		t.Fatalf("run %+v, told %v", run, s.told)
	}
	s.clock.advance(time.Minute)
	s.work(r)
	s.answer(r, "schedule:a", reply{result: Answered, text: "the model is not asked again"})
	s.deliver(sessions.DeliverySent, "")
	if err := r.Look(t.Context(), "a"); err != nil {
		t.Fatal(err)
	}
	runs := s.runs("a")
	want(t, "ok", len(planned(runs, OK)), 1)
	if runs[0].Attempt != 2 || runs[0].Error != "" || runs[0].Tokens.Prompt != 10 {
		t.Errorf("record %+v", runs[0])
	}
	want(t, "copies", len(s.copied), 2)
	want(t, "failures", s.get("a").Failures, 0)
}

func TestADeliveryOfUnknownFate(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	r := s.replica()
	s.add(Definition{ID: "a", Every: "1d", DeliverTo: []string{"telegram:1:2"}})
	s.clock.advance(day)
	s.work(r)
	s.answer(r, "schedule:a", reply{result: Answered, text: "news"})
	s.deliver(sessions.DeliveryUnknown, "no answer")
	if err := r.Look(t.Context(), "a"); err != nil {
		t.Fatal(err)
	}
	want(t, "unverified", len(planned(s.runs("a"), Unverified)), 1)
	want(t, "told", len(s.told), 0)
}

func TestTheTimeLimitStopsATurn(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	r := s.replica()
	s.add(Definition{ID: "a", Every: "1d", TimeLimit: "2m"})
	s.clock.advance(day)
	s.work(r)
	s.clock.advance(2*time.Minute + time.Second)
	s.work(r)
	want(t, "stops", s.stops, 1)
	s.answer(r, "schedule:a", reply{result: Stopped}) // it is overtaken: its time is over
	s.clock.advance(2 * time.Minute)
	s.work(r)
	run := s.get("a").Run
	if run == nil || run.Phase != Retrying && run.Attempt == 1 || len(s.told) != 1 || !strings.Contains(s.told[0].Run.Error, "2m") {
		t.Fatalf("run %+v, told %+v", run, s.told)
	}
}

func TestAMakerWithoutRights(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	r := s.replica()
	s.add(Definition{ID: "a", Every: "1d", By: "telegram:7"})
	s.rights = ErrNoRights
	s.clock.advance(day)
	s.work(r)
	if run := s.get("a").Run; run == nil || run.Phase != Retrying || len(s.told) != 1 {
		t.Fatalf("run %+v, told %v", run, s.told)
	}
}

func TestPauseAndResume(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	r := s.replica()
	for _, missed := range []Missed{MissedOnce, MissedAll} {
		id := string(missed)
		s.add(Definition{ID: id, Cron: "0 * * * *", Missed: missed})
		if _, err := s.book.Pause(t.Context(), id); err != nil {
			t.Fatal(err)
		}
	}
	s.add(Definition{ID: "at", At: "2026-01-05 10:00"})
	if _, err := s.book.Pause(t.Context(), "at"); err != nil {
		t.Fatal(err)
	}
	s.clock.set(at("05 12:30:00"))
	want(t, "timers while paused", s.work(r), 0)
	for _, id := range []string{"once", "all", "at"} {
		if _, err := s.book.Resume(t.Context(), id); err != nil {
			t.Fatal(err)
		}
		s.settleAll(r, id)
	}
	want(t, "made up for", len(planned(s.runs("once"), Silent))+len(planned(s.runs("all"), Silent)), 0)
	want(t, "one-shot", planned(s.runs("at"), Silent), []string{"05 10:00:00"})
	s.through(r, "all", at("05 13:10:00"), 10*time.Minute)
	want(t, "after the pause", planned(s.runs("all"), Silent), []string{"05 13:00:00"})
	if _, err := s.book.Resume(t.Context(), "all"); !errors.Is(err, ErrNotPaused) {
		t.Errorf("resumed twice: %v", err)
	}
}

func TestRunNow(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	r := s.replica()
	s.add(Definition{ID: "a", Cron: "0 * * * *"})
	if _, err := s.book.Pause(t.Context(), "a"); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if _, err := s.book.Run(t.Context(), "a", ""); err != nil {
			t.Fatal(err)
		}
		if _, err := s.book.Run(t.Context(), "a", ""); !errors.Is(err, ErrRuns) {
			t.Fatalf("run twice at once: %v", err)
		}
		s.settleAll(r, "a")
		s.clock.advance(2 * time.Second)
		s.work(r)
	}
	runs := s.runs("a")
	want(t, "silent", len(planned(runs, Silent)), 3)
	if _, err := s.book.Run(t.Context(), "a", ""); err != nil {
		t.Fatal(err)
	}
	s.work(r)
	s.answer(r, "schedule:a", reply{result: NoAnswer, why: "no"})
	if err := r.Look(t.Context(), "a"); err != nil {
		t.Fatal(err)
	}
	if view := s.get("a"); view.Run != nil || view.Failures != 0 || len(s.told) != 1 || s.told[0].Disabled {
		t.Errorf("a failed run by hand: %+v, told %v", view, s.told)
	}
}

// A clock that jumps: nothing is doubled, nothing is lost.
func TestTheStoresClockJumps(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	r := s.replica()
	s.add(Definition{ID: "a", Cron: "*/30 * * * *", Missed: MissedAll})
	s.through(r, "a", at("05 09:40:00"), 10*time.Minute)
	s.clock.advance(-time.Hour)
	s.settleAll(r, "a")
	s.through(r, "a", at("05 10:10:00"), 10*time.Minute)
	s.clock.advance(time.Hour)
	s.settleAll(r, "a")
	s.clock.advance(day)
	s.settleAll(r, "a")
	var expected []string
	for next := at("05 08:30:00"); !next.After(s.clock.Now()); next = next.Add(30 * time.Minute) {
		expected = append(expected, next.Format("02 15:04:05"))
	}
	want(t, "silent", planned(s.runs("a"), Silent), expected)
	want(t, "posted", len(s.posted), len(expected))
}
