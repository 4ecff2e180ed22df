package scheduler

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"parley/sessions"
	"parley/sessions/storetest"
	"parley/sqlitestore"
)

// clock is the store's time, moved by the test.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) set(t time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = t
}

func (c *clock) advance(d time.Duration) { c.set(c.Now().Add(d)) }

// stage is schedulers on one real store, with a model, platforms and people
// played by the test. A turn that is posted ends when finish is called for it.
type stage struct {
	*testing.T
	clock *clock
	store *storetest.Faulty
	book  *Book

	mu     sync.Mutex
	posted []string // attempt keys that were stored, in order
	told   []News
	copied map[string]int
	ended  []Run
	stops  int
	heard  map[string]bool // keys of news that were told
	rights error
}

var start = time.Date(2026, 1, 5, 8, 0, 0, 0, time.UTC) // a Monday

func newStage(t *testing.T) *stage {
	t.Helper()
	c := &clock{now: start}
	store, err := sqlitestore.Open(t.Context(), sqlitestore.Config{Path: sqlitestore.Memory, Now: c.Now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	s := &stage{T: t, clock: c, store: storetest.NewFaulty(store), copied: map[string]int{}, heard: map[string]bool{}}
	s.book = &Book{Store: s.store, World: World{Surface: func(key string) string {
		if key == "telegram:1:2" || key == "slack:T:C" {
			return ""
		}
		return "no connection to it is configured"
	}}, Now: c.Now}
	return s
}

// replica is one of any number of schedulers.
func (s *stage) replica() *Scheduler {
	return New(Config{Store: s.store, Post: s.post, Stop: s.stop, Copy: s.copy, Tell: s.tell, Ended: func(run Run) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.ended = append(s.ended, run)
	}})
}

func (s *stage) post(ctx context.Context, _ *Plan, r sessions.PostRequest) (sessions.PostResult, error) {
	if s.rights != nil {
		return sessions.PostResult{}, s.rights
	}
	result, err := s.store.Post(ctx, r)
	s.mu.Lock()
	defer s.mu.Unlock()
	if err == nil && result.Outcome != sessions.PostDuplicate {
		s.posted = append(s.posted, r.Key)
	}
	return result, err
}

func (s *stage) stop(ctx context.Context, session string) (bool, error) {
	s.mu.Lock()
	s.stops++
	s.mu.Unlock()
	return s.store.Stop(ctx, session)
}

func (s *stage) copy(_ context.Context, c Copy) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.copied[c.Surface+" "+c.Key]++
	return nil
}

func (s *stage) tell(_ context.Context, news News) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.heard[news.Key] {
		s.heard[news.Key] = true
		s.told = append(s.told, news)
	}
	return nil
}

func (s *stage) add(d Definition) View {
	s.Helper()
	if d.Prompt == "" {
		d.Prompt = "Do it."
	}
	view, err := s.book.Add(s.Context(), d)
	if err != nil {
		s.Fatal(err)
	}
	return view
}

func (s *stage) get(id string) View {
	s.Helper()
	view, err := s.book.Get(s.Context(), id)
	if err != nil {
		s.Fatal(err)
	}
	return view
}

// outcomes are those of all runs of a schedule, oldest first, with their
// planned times.
func (s *stage) runs(id string) []Run {
	s.Helper()
	runs, err := s.book.History(s.Context(), id, sessions.ScheduleRunsKept)
	if err != nil {
		s.Fatal(err)
	}
	for i, j := 0, len(runs)-1; i < j; i, j = i+1, j-1 {
		runs[i], runs[j] = runs[j], runs[i]
	}
	return runs
}

// work does everything that is due now, as a replica's search for work does,
// and returns how many timers fired.
func (s *stage) work(r *Scheduler) int {
	s.Helper()
	fired := 0
	for {
		items, err := s.store.Due(s.Context(), 100)
		if err != nil {
			s.Fatal(err)
		}
		did := false
		for _, item := range items {
			if item.Kind == sessions.WorkTimer && s.fire(r, item) == nil {
				did = true
				fired++
			}
		}
		if !did {
			return fired
		}
	}
}

func (s *stage) fire(r *Scheduler, item sessions.WorkItem) error {
	timer, err := s.store.Fire(s.Context(), item.Home, item.ID, sessions.Claimer{Owner: "w", For: sessions.LeaseFor})
	if err != nil {
		return err
	}
	return r.Fired(s.Context(), timer)
}

// reply is how the test's model ends a turn.
type reply struct {
	result Result
	text   string
	why    string
}

// answer runs the turns that wait in a session, as the bot does: with the job,
// and a report in the same step as the end.
func (s *stage) answer(r *Scheduler, session string, how reply) {
	s.Helper()
	for {
		turn, err := s.store.Claim(s.Context(), sessions.ClaimRequest{Session: session, Claimer: sessions.Claimer{Owner: "w", For: sessions.LeaseFor}})
		if err != nil {
			return
		}
		if err := s.end(r, turn, how); err != nil {
			s.Fatal(err)
		}
	}
}

func (s *stage) end(r *Scheduler, turn *sessions.Turn, how reply) error {
	m, err := turn.Taken[0].Message()
	if err != nil {
		return err
	}
	report := Report{Attempt: m.MessageID, Result: how.result, Error: how.why}
	commit := sessions.CommitRequest{Lease: turn.Lease, Outcome: sessions.Done}
	job, err := r.Job(s.Context(), IDOf(turn.Lease.Session), m.MessageID)
	switch {
	case errors.Is(err, ErrOvertaken):
		report.Result = Overtaken
	case err != nil:
		return err
	case job.Answer != nil:
		report.Result = Resent
	case how.result == Answered:
		entry, err := sessions.NewMessage(sessions.Message{Role: sessions.RoleAssistant, Text: how.text})
		if err != nil {
			return err
		}
		commit.Entries, report.Behind = []sessions.NewEntry{entry}, 1
		report.Tokens = &sessions.Tokens{Prompt: 10, Completion: 1}
	}
	if report.Result == Answered || report.Result == Resent {
		for _, surface := range job.Targets {
			payload, err := json.Marshal(how.text)
			if err != nil {
				return err
			}
			commit.Deliveries = append(commit.Deliveries, sessions.NewDelivery{Surface: surface, Payload: payload})
			report.Targets = append(report.Targets, Target{Surface: surface, Rows: 1})
		}
	}
	entry, err := report.Entry()
	if err != nil {
		return err
	}
	commit.Entries = append(commit.Entries, entry)
	_, err = s.store.Commit(s.Context(), commit)
	return err
}

// deliver settles what is in the outbox of a surface.
func (s *stage) deliver(state sessions.DeliveryState, why string) {
	s.Helper()
	items, err := s.store.Due(s.Context(), 100)
	if err != nil {
		s.Fatal(err)
	}
	for _, item := range items {
		if item.Kind != sessions.WorkLane {
			continue
		}
		row, err := s.store.Take(s.Context(), item.ID, sessions.Claimer{Owner: "w", For: sessions.LeaseFor})
		if err != nil {
			s.Fatal(err)
		}
		if _, err := s.store.Settle(s.Context(), sessions.Settlement{Delivery: row, State: state, Reason: why}, sessions.Claimer{}); err != nil {
			s.Fatal(err)
		}
	}
}

// through runs a schedule until a time, in steps, with every run answered at
// once.
func (s *stage) through(r *Scheduler, id string, until time.Time, step time.Duration) {
	s.Helper()
	for s.clock.Now().Before(until) {
		s.clock.advance(step)
		s.settleAll(r, id)
	}
}

// settleAll does all that is due, with runs that end silently.
func (s *stage) settleAll(r *Scheduler, id string) {
	s.Helper()
	for {
		fired := s.work(r)
		run := s.get(id).Run
		if run == nil || run.Phase != Going {
			if fired == 0 {
				return
			}
			continue
		}
		s.answer(r, run.Session, reply{result: Quiet})
		if err := r.Look(s.Context(), id); err != nil {
			s.Fatal(err)
		}
	}
}

func planned(runs []Run, outcome Outcome) []string {
	out := []string{}
	for _, run := range runs {
		if run.Outcome == outcome {
			out = append(out, run.Planned.Format("02 15:04:05"))
		}
	}
	return out
}

func want(t *testing.T, what string, got, want any) {
	t.Helper()
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Fatalf("%s:\n got %v\nwant %v", what, got, want)
	}
}
