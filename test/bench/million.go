package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"parley/sessions"
	"parley/sessions/archive"
)

// What is in the crowd of sessions. A user's sessions are all of one
// workspace.
const (
	crowdPerUser    = 1000 // sessions
	crowdWorkspaces = 100
	crowdStale      = 1000 // sessions that a sweep suspends
	crowdBatch      = 500  // items restored together
	staleAfter      = 72 * time.Hour
)

// million measures what depends on how many sessions there are, and must not:
// finding some, sweeping those that are stale, and starting. The sessions are
// restored as from an archive.
func (r *runner) million(ctx context.Context) error {
	if !r.wants(partMillion) {
		return nil
	}
	for _, name := range r.backends {
		if name == redisName+"always" { // nothing here waits for the disk but the sweep
			continue
		}
		r.say("%s: %s", name, partMillion)
		if err := r.crowd(ctx, name); err != nil {
			return fmt.Errorf("%s: %s: %w", name, partMillion, err)
		}
	}
	return nil
}

func (r *runner) crowd(ctx context.Context, name string) error {
	b, err := openBackend(ctx, name)
	if err != nil {
		return err
	}
	defer b.close()
	few := max(r.sizes.crowd/100, crowdStale*2)
	if err := populate(ctx, b.store, 0, few); err != nil {
		return err
	}
	before, err := sweepAll(ctx, b.store)
	if err != nil {
		return err
	}
	if err := populate(ctx, b.store, few, r.sizes.crowd); err != nil {
		return err
	}
	r.say("  %d sessions are there", r.sizes.crowd)
	if err := r.find(ctx, b); err != nil {
		return err
	}
	after, err := sweepAll(ctx, b.store)
	if err != nil {
		return err
	}
	f := newFigure(name, measureSweep, after/before, 1)
	f.Note = fmt.Sprintf("%.0f ms for %d stale ones; of %d sessions %.0f ms", after, crowdStale, few, before)
	r.add(f)
	return r.startAmong(ctx, b)
}

// populate makes the sessions from <= i < to; the first crowdStale of them are
// stale, of the others nine in ten are at rest.
func populate(ctx context.Context, store sessions.Store, from, to int) error {
	now := time.Now().UTC().Truncate(time.Millisecond)
	items := make([]sessions.Item, 0, crowdBatch)
	for i := from; i < to; i++ {
		body, err := json.Marshal(inCrowd(i, i-from < crowdStale, now))
		if err != nil {
			return err
		}
		items = append(items, sessions.Item{Kind: archive.ItemSession, Body: body})
		if len(items) == crowdBatch || i == to-1 {
			if err := store.Restore(ctx, items); err != nil {
				return err
			}
			items = items[:0]
		}
	}
	return nil
}

func inCrowd(i int, stale bool, now time.Time) archive.SessionItem {
	user := crowdUser(i / crowdPerUser)
	r := sessions.Record{
		ID: "crowd:" + strconv.Itoa(i), UserID: user, Participants: []string{user, "crowd:guest" + strconv.Itoa(i%crowdPerUser)},
		WorkspaceID: crowdWorkspace(i / crowdPerUser), Source: sessions.Source{Kind: "channel", Platform: "telegram", Type: sessions.Direct},
		State: sessions.StateSuspended, Status: sessions.StatusInactive,
		CreatedAt: now.Add(-2000 * time.Hour), LastActivityAt: now.Add(-100*time.Hour - time.Duration(i)*time.Second),
		MessageCount: 2, TurnCount: 1, Preview: "Good night.", Description: "Hello there.", DescriptionSource: sessions.DescriptionFallback,
	}
	switch {
	case stale:
		r.State, r.Status = sessions.StateActive, sessions.StatusIdle
	case i%10 == 0:
		r.State, r.Status, r.LastActivityAt = sessions.StateActive, sessions.StatusIdle, now.Add(-time.Duration(i)*time.Millisecond*30)
	}
	return archive.SessionItem{Record: r}
}

func crowdUser(n int) string      { return "crowd:user" + strconv.Itoa(n) }
func crowdWorkspace(n int) string { return "W" + strconv.Itoa(n%crowdWorkspaces) }

// crowdQueries are one of each kind, of the n-th user.
func crowdQueries(n int) map[string]sessions.Query {
	active := []sessions.State{sessions.StateCreated, sessions.StateActive}
	return map[string]sessions.Query{
		"all":                     {},
		"user":                    {UserID: crowdUser(n)},
		"participant":             {Participant: "crowd:guest" + strconv.Itoa(n)},
		"workspace":               {WorkspaceID: crowdWorkspace(n)},
		"state":                   {States: active},
		"expired":                 {States: []sessions.State{sessions.StateExpired}},
		"user, state":             {UserID: crowdUser(n), States: active},
		"user, workspace, state":  {UserID: crowdUser(n), WorkspaceID: crowdWorkspace(n), States: active},
		"user, another workspace": {UserID: crowdUser(n), WorkspaceID: crowdWorkspace(n + 1)},
		"participant, direct":     {Participant: "crowd:guest" + strconv.Itoa(n), Type: sessions.Direct},
		"workspace, active after": {WorkspaceID: crowdWorkspace(n), ActiveAfter: time.Now().Add(-time.Hour)},
		"group":                   {UserID: crowdUser(n), Type: sessions.Group},
	}
}

// find measures each kind of query, its first page and the one behind it. The
// kind with the slowest median counts.
func (r *runner) find(ctx context.Context, b *backend) error {
	took := map[string][]float64{}
	users := max(1, r.sizes.crowd/crowdPerUser)
	for i := range r.sizes.finds {
		for kind, query := range crowdQueries(i % users) {
			for range 2 {
				began := time.Now()
				page, err := b.store.Find(ctx, query)
				if err != nil {
					return fmt.Errorf("%s: %w", kind, err)
				}
				took[kind] = append(took[kind], millis(time.Since(began)))
				if query.Cursor = page.Next; query.Cursor == "" {
					break
				}
			}
		}
	}
	worst, kind := 0.0, ""
	for k, samples := range took {
		if m := median(samples); m >= worst {
			worst, kind = m, k
		}
	}
	f := newFigure(b.name, measureFind, worst, noRaw())
	f.Note = fmt.Sprintf("by %s, p99 %.1f ms; all: %.1f ms", kind, percentile(took[kind], 99), median(took["all"]))
	r.add(f)
	return nil
}

// sweepAll suspends what is stale, in batches, and gives the milliseconds it took.
func sweepAll(ctx context.Context, store sessions.Store) (float64, error) {
	began, swept := time.Now(), 0
	for {
		ids, err := store.Sweep(ctx, sessions.SweepRequest{Rule: sessions.SweepSuspend, Age: staleAfter, Limit: 100})
		if err != nil {
			return 0, err
		}
		if swept += len(ids); len(ids) < 100 {
			break
		}
	}
	if swept != crowdStale {
		return 0, fmt.Errorf("a sweep suspended %d sessions, not %d", swept, crowdStale)
	}
	return millis(time.Since(began)), nil
}

// startAmong measures the program as it starts on a store of many sessions.
func (r *runner) startAmong(ctx context.Context, b *backend) error {
	if r.sizes.starts == 0 {
		return nil
	}
	path, err := r.built(ctx)
	if err != nil {
		return err
	}
	s, err := newScene(1, 0)
	if err != nil {
		return err
	}
	defer s.close()
	if b.server == nil { // one process at a time
		if err := b.store.Close(); err != nil {
			return err
		}
	}
	var starts, memory []float64
	for range r.sizes.starts {
		p, err := s.launchOn(ctx, path, b)
		if err != nil {
			return err
		}
		starts = append(starts, millis(p.ready))
		if err := pause(ctx, quietFor); err != nil {
			return err
		}
		resident, err := p.memory()
		if err != nil {
			return err
		}
		memory = append(memory, resident)
		if err := p.end(); err != nil {
			return err
		}
	}
	r.add(newFigure(b.name, measureManyStart, median(starts), noRaw()), newFigure(b.name, measureManyRSS, median(memory), noRaw()))
	return nil
}
