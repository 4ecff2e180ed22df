package storetest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"parley/sessions"
)

func manyTests() []test {
	return []test{
		{"each message is in exactly one finished turn, each row ends once, in order", manyWorkers},
		{"posts, appends and commits at the same time keep the tree whole", manyWriters},
	}
}

// The crowd of manyWorkers.
const (
	crowdSurfaces = 4
	crowdPosters  = 6
	crowdPosts    = 40 // of each poster
	crowdWorkers  = 5
	crowdSenders  = 3
)

// crowd is what posters, workers and senders do at the same time, and what
// they may believe of it: only what the store acknowledged.
type crowd struct {
	*trial
	ctx  context.Context //nolint:containedctx // ends the crowd
	stop context.CancelFunc

	mu       sync.Mutex
	wanted   map[string]bool     // texts that asked for a turn
	answered map[string]int      // texts by how many done turns took them
	rows     map[string]int      // rows put into the outbox, by text
	ended    map[string][]string // texts of rows that ended, by surface, in order
	posting  int                 // posters that have not finished
	problem  error
}

func manyWorkers(tr *trial) {
	ctx, cancel := context.WithTimeout(tr.ctx, 5*patience)
	defer cancel()
	c := &crowd{
		trial: tr, ctx: ctx, stop: cancel, posting: crowdPosters,
		wanted: map[string]bool{}, answered: map[string]int{}, rows: map[string]int{}, ended: map[string][]string{},
	}
	var all sync.WaitGroup
	for i := range crowdPosters {
		all.Go(func() { c.poster(i) })
	}
	for i := range crowdWorkers {
		all.Go(func() { c.work(fmt.Sprintf("worker-%d", i), c.turns) })
	}
	for i := range crowdSenders {
		all.Go(func() { c.work(fmt.Sprintf("sender-%d", i), c.lanes) })
	}
	all.Wait()
	c.judge()
}

// fail ends the crowd with the first unexpected error.
func (c *crowd) fail(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.problem == nil && c.ctx.Err() == nil {
		c.problem = err
		c.stop()
	}
}

func crowdSurface(i int) string { return fmt.Sprintf("telegram:1:%d", i) }

// poster posts, some of it twice, some of it only to be logged.
func (c *crowd) poster(n int) {
	for i := range crowdPosts {
		text := fmt.Sprintf("p%d.%d", n, i)
		r := sessions.PostRequest{
			Key: text, Surface: crowdSurface((n + i) % crowdSurfaces), Trigger: i%4 != 0, Rights: []string{"member", "owner"}[rand.IntN(2)],
			Alone: rand.IntN(10) == 0, Message: sessions.Message{Role: sessions.RoleUser, Text: text}, UserID: strconv.Itoa(n),
		}
		if r.Trigger {
			c.mu.Lock()
			c.wanted[text] = true
			c.mu.Unlock()
		}
		for range 1 + rand.IntN(2) {
			if _, err := c.store.Post(c.ctx, r); err != nil {
				c.fail(fmt.Errorf("post: %w", err))
				return
			}
		}
	}
	c.mu.Lock()
	c.posting--
	c.mu.Unlock()
}

// work does what is due until everything is done.
func (c *crowd) work(name string, do func(name string, due []sessions.WorkItem) error) {
	again := time.NewTicker(2 * time.Millisecond)
	defer again.Stop()
	for !c.finished() {
		due, err := c.store.Due(c.ctx, 50)
		if err == nil {
			err = do(name, due)
		}
		if err != nil {
			c.fail(fmt.Errorf("%s: %w", name, err))
			return
		}
		select {
		case <-again.C:
		case <-c.ctx.Done():
			return
		}
	}
}

// finished reports whether all is posted, answered and sent.
func (c *crowd) finished() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	ended := 0
	for _, texts := range c.ended {
		ended += len(texts)
	}
	return c.ctx.Err() != nil || c.posting == 0 && len(c.answered) == len(c.wanted) && ended == len(c.rows)
}

// lost are the answers a worker gets whom another was faster than.
func lost(err error) bool {
	return errors.Is(err, sessions.ErrBusy) || errors.Is(err, sessions.ErrNothing) || errors.Is(err, sessions.ErrFenced)
}

func (c *crowd) turns(name string, due []sessions.WorkItem) error {
	for _, w := range due {
		if w.Kind != sessions.WorkTurn {
			continue
		}
		turn, err := c.store.Claim(c.ctx, sessions.ClaimRequest{Session: w.ID, Claimer: worker(name)})
		for err == nil && turn != nil {
			turn, err = c.run(turn)
		}
		if err != nil && !lost(err) {
			return err
		}
	}
	return nil
}

// run runs one turn: to its end, or until its worker dies, fails or stops.
func (c *crowd) run(turn *sessions.Turn) (next *sessions.Turn, err error) {
	if _, err := c.store.Append(c.ctx, turn.Lease, c.answers("call")); err != nil {
		return nil, err
	}
	request := sessions.CommitRequest{Lease: turn.Lease, Outcome: sessions.Done, Entries: c.answers("result", "answer")}
	switch rand.IntN(8) {
	case 0: // it dies, and time passes for all
		c.clock.Advance(2 * lease)
		return nil, nil
	case 1: // it is paused so long that another may have taken over, and goes on
		c.clock.Advance(2 * lease)
	case 2:
		request.Outcome, request.Entries = sessions.Again, nil
	case 3:
		request.Outcome, request.Entries = sessions.HandBack, nil
	}
	if request.Outcome == sessions.Done {
		text := fmt.Sprintf("%s#%d", turn.Lease.Session, turn.Lease.Epoch)
		request.Deliveries = []sessions.NewDelivery{row(SurfaceOf(turn), text+".1"), row(SurfaceOf(turn), text+".2")}
		if rand.IntN(2) == 0 {
			request.Next = claimer("next")
		}
	}
	return c.end(turn, request)
}

// end commits, and believes only what was acknowledged.
func (c *crowd) end(turn *sessions.Turn, request sessions.CommitRequest) (*sessions.Turn, error) {
	result, err := c.store.Commit(c.ctx, request)
	if err != nil || request.Outcome != sessions.Done {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, e := range turn.Taken {
		m, err := e.Message()
		if err != nil {
			return nil, err
		}
		c.answered[m.Text]++
	}
	for _, d := range request.Deliveries {
		c.rows[rowText(sessions.Delivery{Payload: d.Payload})]++
	}
	return result.Next, nil
}

func (c *crowd) lanes(name string, due []sessions.WorkItem) error {
	for _, w := range due {
		if w.Kind != sessions.WorkLane {
			continue
		}
		d, err := c.store.Take(c.ctx, w.ID, worker(name))
		for next := &d; err == nil && next != nil; {
			next, err = c.deliver(name, *next)
		}
		if err != nil && !lost(err) {
			return err
		}
	}
	return nil
}

// deliver sends one row: it arrives, is to be tried again, or its worker dies.
func (c *crowd) deliver(name string, d sessions.Delivery) (*sessions.Delivery, error) {
	s := sessions.Settlement{Delivery: d, State: sessions.DeliverySent, Next: rand.IntN(2) == 0}
	switch rand.IntN(6) {
	case 0:
		c.clock.Advance(2 * lease)
		return nil, nil
	case 1:
		s.State = sessions.DeliveryPending
	}
	// The lane is this worker's or the store says no: what ends is noted
	// under the lock in the order of the store, one settlement at a time.
	c.mu.Lock()
	defer c.mu.Unlock()
	next, err := c.store.Settle(c.ctx, s, worker(name))
	if err == nil && s.State == sessions.DeliverySent {
		c.ended[d.Surface] = append(c.ended[d.Surface], rowText(d))
	}
	return next, err
}

// judge compares what was acknowledged with what has to be.
func (c *crowd) judge() {
	c.check(c.problem == nil, "%v", c.problem)
	for text := range c.wanted {
		c.check(c.answered[text] == 1, "message %s is in %d finished turns", text, c.answered[text])
	}
	c.check(len(c.answered) == len(c.wanted), "%d messages asked for a turn, %d were answered", len(c.wanted), len(c.answered))
	ended := map[string]int{}
	for _, texts := range c.ended {
		for i, text := range texts {
			ended[text]++
			if i%2 == 1 {
				c.check(strings.TrimSuffix(text, ".2") == strings.TrimSuffix(texts[i-1], ".1"), "row %s ended after %s", text, texts[i-1])
			}
		}
	}
	for text, n := range c.rows {
		c.check(n == 1 && ended[text] == 1, "row %s was put in %d times and ended %d times", text, n, ended[text])
	}
	c.check(len(ended) == len(c.rows), "%d rows, %d ended", len(c.rows), len(ended))
	posted := 0
	for i := range crowdSurfaces {
		posted += c.whole(must(c.store.Bound(c.trial.ctx, crowdSurface(i)))(c.trial).ID)
	}
	equal(c.trial, "messages in the logs", posted, crowdPosters*crowdPosts)
	equal(c.trial, "still due", len(c.due(sessions.WorkTurn))+len(c.due(sessions.WorkLane)), 0)
}

// whole expects a session at rest whose tree is whole: every message on the
// branch once, and nothing of people right behind a call. It returns how many
// messages people posted.
func (tr *trial) whole(id string) int {
	tr.Helper()
	record := tr.get(id)
	tr.check(record.Queued == 0 && record.Status == sessions.StatusIdle, "%s is %s with %d queued", id, record.Status, record.Queued)
	branch := tr.branch(id)
	times := map[string]int{}
	for i, text := range branch {
		if strings.HasPrefix(text, "p") {
			times[text]++
		}
		if i > 0 && branch[i-1] == "call" {
			tr.check(slices.Contains([]string{"call", "result", "answer"}, text), "%q stands right behind a call in %s", text, id)
		}
	}
	posted := 0
	for seq, e := range tr.pages(id) {
		tr.check(e.Seq == int64(seq+1), "seq %d at place %d of %s", e.Seq, seq, id)
		if text := tr.text(e); strings.HasPrefix(text, "p") {
			posted++
			tr.check(times[text] == 1 && !e.Waiting, "%s is %d times on the branch of %s", text, times[text], id)
		}
	}
	equal(tr, "counted messages", record.MessageCount, int64(posted))
	return posted
}

// pages is the whole log.
func (tr *trial) pages(id string) []sessions.Entry {
	tr.Helper()
	var all []sessions.Entry
	for {
		page := must(tr.store.Range(tr.ctx, id, int64(len(all)+1), 1<<40))(tr)
		all = append(all, page...)
		if len(page) < sessions.EntriesPerCall {
			return all
		}
	}
}

func manyWriters(tr *trial) {
	turn := tr.begin("p-first")
	id := turn.Lease.Session
	const posters, posts = 6, 25
	tr.together(posters+1, func(n int) error {
		if n == posters {
			return tr.answering(turn, posts)
		}
		for i := range posts {
			r := sessions.PostRequest{Surface: surface, Trigger: i%5 == 0, Rights: "member", Message: sessions.Message{Role: sessions.RoleUser, Text: fmt.Sprintf("p%d.%d", n, i)}}
			if _, err := tr.store.Post(tr.ctx, r); err != nil {
				return err
			}
		}
		return nil
	})
	for tr.get(id).Queued > 0 {
		tr.done(tr.claim(id, "w1"), "answer")
	}
	equal(tr, "messages", tr.whole(id), posters*posts+1)
}

// answering runs turns one after the other while others post.
func (tr *trial) answering(turn *sessions.Turn, turns int) error {
	for range turns {
		for _, text := range []string{"call", "result"} {
			if _, err := tr.store.Append(tr.ctx, turn.Lease, tr.answers(text)); err != nil {
				return err
			}
		}
		result, err := tr.store.Commit(tr.ctx, sessions.CommitRequest{Lease: turn.Lease, Outcome: sessions.Done, Entries: tr.answers("answer"), Next: claimer("w1")})
		if err != nil {
			return err
		}
		if turn = result.Next; turn == nil {
			return nil
		}
	}
	_, err := tr.store.Commit(tr.ctx, sessions.CommitRequest{Lease: turn.Lease, Outcome: sessions.Done, Entries: tr.answers("answer")})
	return err
}

// SurfaceOf is where the messages of a turn came from.
func SurfaceOf(turn *sessions.Turn) string {
	m, err := turn.Taken[0].Message()
	if err != nil {
		return ""
	}
	return m.Surface
}
