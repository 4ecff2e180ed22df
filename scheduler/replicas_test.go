package scheduler

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"parley/sessions"
	"parley/sqlitestore"
)

var errKilled = errors.New("this replica was killed")

// mortal is the store as one replica sees it that dies at a random call:
// before or after the call has taken effect. From then on nothing it does
// reaches the store.
type mortal struct {
	sessions.Store
	mu    sync.Mutex
	dice  *rand.Rand
	odds  int // a call in so many kills
	dead  bool
	kills *int
}

// life runs a call unless the replica is dead, or dies before or after it.
func life[T any](m *mortal, call func() (T, error)) (T, error) {
	var none T
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.dead {
		return none, errKilled
	}
	dies := m.dice.IntN(m.odds) == 0
	if dies {
		m.dead = true
		*m.kills++
		if m.dice.IntN(2) == 0 {
			return none, errKilled
		}
	}
	value, err := call()
	if dies {
		return none, errKilled
	}
	return value, err
}

func (m *mortal) SaveSchedule(ctx context.Context, c sessions.ScheduleChange) (sessions.Schedule, error) {
	return life(m, func() (sessions.Schedule, error) { return m.Store.SaveSchedule(ctx, c) })
}

func (m *mortal) Schedule(ctx context.Context, id string) (sessions.Schedule, error) {
	return life(m, func() (sessions.Schedule, error) { return m.Store.Schedule(ctx, id) })
}

func (m *mortal) Range(ctx context.Context, session string, from, to int64) ([]sessions.Entry, error) {
	return life(m, func() ([]sessions.Entry, error) { return m.Store.Range(ctx, session, from, to) })
}

func (m *mortal) Post(ctx context.Context, r sessions.PostRequest) (sessions.PostResult, error) {
	return life(m, func() (sessions.PostResult, error) { return m.Store.Post(ctx, r) })
}

func (m *mortal) Fire(ctx context.Context, home, name string, c sessions.Claimer) (sessions.Timer, error) {
	return life(m, func() (sessions.Timer, error) { return m.Store.Fire(ctx, home, name, c) })
}

func (m *mortal) Claim(ctx context.Context, r sessions.ClaimRequest) (*sessions.Turn, error) {
	return life(m, func() (*sessions.Turn, error) { return m.Store.Claim(ctx, r) })
}

func (m *mortal) Commit(ctx context.Context, r sessions.CommitRequest) (sessions.CommitResult, error) {
	return life(m, func() (sessions.CommitResult, error) { return m.Store.Commit(ctx, r) })
}

func (m *mortal) Take(ctx context.Context, lane string, c sessions.Claimer) (sessions.Delivery, error) {
	return life(m, func() (sessions.Delivery, error) { return m.Store.Take(ctx, lane, c) })
}

// crowd is some replicas on one store.
type crowd struct {
	*testing.T
	clock *clock
	store sessions.Store
	mu    sync.Mutex
	sent  map[string]int // by the text of what was sent: the run's key
	kills int
}

// live is what one replica does until nothing is due or it dies: fire timers,
// run turns, send, in a random order.
func (c *crowd) live(seed uint64, odds int) {
	m := &mortal{Store: c.store, dice: rand.New(rand.NewPCG(seed, 7)), odds: odds, kills: new(int)}
	r := New(Config{
		Store: m,
		Post: func(ctx context.Context, _ *Plan, request sessions.PostRequest) (sessions.PostResult, error) {
			return m.Post(ctx, request)
		},
		Stop:  func(ctx context.Context, session string) (bool, error) { return c.store.Stop(ctx, session) },
		Copy:  func(context.Context, Copy) error { return nil },
		Tell:  func(_ context.Context, news News) error { c.Errorf("told of a failure: %+v", news); return nil },
		Ended: func(Run) {},
	})
	for range 200 {
		items, err := c.store.Due(c.Context(), 100)
		if err != nil {
			c.Error(err)
			return
		}
		m.dice.Shuffle(len(items), func(i, j int) { items[i], items[j] = items[j], items[i] })
		did := false
		for _, item := range items {
			err := c.do(m, r, item)
			did = did || err == nil
		}
		if !did || m.dead {
			break
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.kills += *m.kills
}

func (c *crowd) do(m *mortal, r *Scheduler, item sessions.WorkItem) error {
	who := sessions.Claimer{Owner: "w", For: sessions.LeaseFor}
	switch item.Kind {
	case sessions.WorkTimer:
		timer, err := m.Fire(c.Context(), item.Home, item.ID, who)
		if err != nil {
			return err
		}
		return r.Fired(c.Context(), timer)
	case sessions.WorkTurn:
		turn, err := m.Claim(c.Context(), sessions.ClaimRequest{Session: item.ID, Claimer: who})
		if err != nil {
			return err
		}
		return c.think(m, r, turn)
	}
	row, err := m.Take(c.Context(), item.ID, who)
	if err != nil {
		return err
	}
	c.mu.Lock()
	c.sent[string(row.Payload)+" "+row.Surface]++ // here it is sent
	c.mu.Unlock()
	_, err = c.store.Settle(c.Context(), sessions.Settlement{Delivery: row, State: sessions.DeliverySent}, sessions.Claimer{})
	if err != nil {
		return err
	}
	return r.Look(c.Context(), IDOf(row.Session))
}

func (c *crowd) think(m *mortal, r *Scheduler, turn *sessions.Turn) error {
	message, err := turn.Taken[0].Message()
	if err != nil {
		return err
	}
	id := IDOf(turn.Lease.Session)
	report := Report{Attempt: message.MessageID, Result: Answered, Behind: 1}
	commit := sessions.CommitRequest{Lease: turn.Lease, Outcome: sessions.Done}
	job, err := r.Job(c.Context(), id, message.MessageID)
	switch {
	case errors.Is(err, ErrOvertaken):
		c.Errorf("the turn of %s was overtaken", message.MessageID)
		report.Result, report.Behind = Overtaken, 0
	case err != nil:
		return err
	default:
		answer, err := sessions.NewMessage(sessions.Message{Role: sessions.RoleAssistant, Text: "x"})
		if err != nil {
			return err
		}
		commit.Entries = []sessions.NewEntry{answer}
		for _, surface := range job.Targets {
			payload, err := json.Marshal(job.Run.Key())
			if err != nil {
				return err
			}
			commit.Deliveries = append(commit.Deliveries, sessions.NewDelivery{Surface: surface, Payload: payload})
			report.Targets = append(report.Targets, Target{surface, 1})
		}
	}
	entry, err := report.Entry()
	if err != nil {
		return err
	}
	commit.Entries = append(commit.Entries, entry)
	if _, err = m.Commit(c.Context(), commit); err != nil {
		return err
	}
	return r.Look(c.Context(), id)
}

// Replicas that die at any call, before or after its effect, while others do
// the same work beside them: every firing is run, sent and recorded once.
func TestReplicasThatDie(t *testing.T) {
	t.Parallel()
	for name, replicas := range map[string]int{"two": 2, "five": 5} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			testReplicas(t, replicas)
		})
	}
}

func testReplicas(t *testing.T, replicas int) {
	now := &clock{now: start}
	store, err := sqlitestore.Open(t.Context(), sqlitestore.Config{Path: sqlitestore.Memory, Now: now.Now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	c := &crowd{T: t, clock: now, store: store, sent: map[string]int{}}
	book := &Book{Store: store, Now: now.Now, World: World{Surface: func(string) string { return "" }}}
	definitions := []Definition{
		{ID: "minutes", Cron: "*/2 * * * *", Missed: MissedAll},
		{ID: "interval", Every: "95s", Missed: MissedAll, Jitter: "30s"},
		{ID: "once", Cron: "*/3 * * * *", Missed: MissedOnce},
		{ID: "fresh", Cron: "*/5 * * * *", Missed: MissedAll, Session: Fresh},
		{ID: "shot", At: "2026-01-05 08:20"},
	}
	for _, d := range definitions {
		d.Prompt, d.Overlap, d.TimeLimit, d.DeliverTo = "go", OverlapQueue, "6h", []string{"telegram:1:2"}
		if _, err := book.Add(t.Context(), d); err != nil {
			t.Fatal(err)
		}
	}
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	dice := rand.New(rand.NewPCG(seed, 1))
	end := start.Add(30 * time.Minute)
	for tick := uint64(0); now.Now().Before(end); tick++ {
		now.advance(time.Duration(1+dice.IntN(20)) * time.Second)
		if dice.IntN(40) == 0 {
			now.advance(7 * time.Minute) // all of them are away
		}
		var all sync.WaitGroup
		for i := range replicas {
			all.Go(func() { c.live(seed+tick*100+uint64(i), 12) }) //nolint:gosec // a seed
		}
		all.Wait()
	}
	for range 200 { // and then nobody dies any more
		now.advance(sessions.LeaseFor + time.Second)
		c.live(seed, 1<<30)
		if now.Now().After(end.Add(30 * time.Minute)) {
			break
		}
	}
	t.Logf("%d deaths", c.kills)
	if c.kills < 10 {
		t.Errorf("only %d deaths", c.kills)
	}
	for _, d := range definitions {
		c.verify(book, d.ID, now.Now())
	}
}

// verify holds what was run against the times that the definition names, which
// are computed here in another way.
func (c *crowd) verify(book *Book, id string, now time.Time) {
	c.Helper()
	var want []time.Time
	step := map[string]time.Duration{"minutes": 2 * time.Minute, "interval": 95 * time.Second, "once": 3 * time.Minute, "fresh": 5 * time.Minute}[id]
	for at := start.Add(step); step > 0 && at.Before(now.Add(-time.Minute)); at = at.Add(step) {
		want = append(want, at)
	}
	if id == "shot" {
		want = []time.Time{start.Add(20 * time.Minute)}
	}
	runs, err := book.History(c.Context(), id, sessions.ScheduleRunsKept)
	if err != nil {
		c.Fatal(err)
	}
	covered := 0
	for _, run := range runs {
		if run.Outcome == "" {
			continue // still going on
		}
		if run.Planned.Before(now.Add(-time.Minute)) {
			covered += 1 + run.Missed
		}
		late := !run.Planned.Before(now.Add(-time.Minute)) // too new for the list
		if run.Outcome != OK || run.Attempt != 1 || !late && !slices.ContainsFunc(want, run.Planned.Equal) {
			c.Errorf("%s: %+v", id, run)
		}
		payload, err := json.Marshal(run.Key())
		if err != nil {
			c.Fatal(err)
		}
		if n := c.sent[string(payload)+" telegram:1:2"]; n != 1 {
			c.Errorf("%s was sent %d times", run.Key(), n)
		}
	}
	if covered != len(want) {
		c.Errorf("%s: %d of %d firings were run, or stood for by one that was", id, covered, len(want))
	}
	total := 0
	for key := range c.sent {
		if strings.HasPrefix(key, fmt.Sprintf(`"schedule:%s:`, id)) {
			total++
		}
	}
	ended := len(slices.DeleteFunc(runs, func(r Run) bool { return r.Outcome == "" }))
	if total != ended && total != ended+1 {
		c.Errorf("%s: %d firings were sent, %d runs ended", id, total, ended)
	}
}
