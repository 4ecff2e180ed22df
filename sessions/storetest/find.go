package storetest

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"parley/sessions"
)

func findTests() []test {
	return []test{
		{"each filter, and each two", findByConditions},
		{"an empty store has no sessions to find", findNothing},
		{"find lists the newest activity first", findOrder},
		{"of equal activity the greater id comes first, over pages too", findEqualTimes},
		{"find gives fifty unless asked for another number", findLimit},
		{"the last page says that it is the last", findLastPage},
		{"paging is right beyond fifty sessions", func(tr *trial) { findPages(tr, 60) }},
		{"the search never misses the newest session among 60", func(tr *trial) { findNewest(tr, 60) }},
		{"the search never misses the newest session among 1100", func(tr *trial) { findNewest(tr, 1100) }},
		{"created sessions count for affinity", findCreated},
		{"continue most recent finds the newest of a person and a workspace", findContinue},
		{"find follows a session's state", findFollowsState},
		{"find follows who speaks", findFollowsSpeakers},
		{"find by surface follows its binding", findFollowsBinding},
		{"activity at the very time is not after it", findActiveAfter},
		{"names are taken literally", findLiterally},
		{"a found record is the record", findRecords},
		{"pages show what rests once, whatever moves between them", findWhileMoving},
		{"pages show what rests once while others post", findWhilePosting},
		{"a cursor outlives its session's place", findCursorMoved},
		{"find refuses what no session could match", findRefuses},
		{"find survives a restart", findSurvives},
	}
}

func (tr *trial) find(q sessions.Query) sessions.Page {
	tr.Helper()
	page := must(tr.store.Find(tr.ctx, q))(tr)
	tr.check(len(page.Records) <= q.Most(), "%d records, at most %d were asked for", len(page.Records), q.Most())
	return page
}

// found follows all pages of a query and gives the ids in their order.
func (tr *trial) found(q sessions.Query) []string {
	tr.Helper()
	ids := []string{}
	for pages := 0; ; pages++ {
		page := tr.find(q)
		for _, r := range page.Records {
			ids = append(ids, r.ID)
		}
		if page.Next == "" {
			return ids
		}
		tr.check(len(page.Records) > 0 && pages < 2000, "page %d of %+v is empty and not the last, or there is no end", pages, q)
		q.Cursor = page.Next
	}
}

// wantFound compares what a query finds with ids, in order.
func (tr *trial) wantFound(q sessions.Query, want ...string) {
	tr.Helper()
	equalSlices(tr, fmt.Sprintf("found by %+v", q), tr.found(q), slices.Concat([]string{}, want))
}

func findNothing(tr *trial) {
	for _, q := range []sessions.Query{{}, {UserID: "u"}, {Participant: "u"}, {WorkspaceID: "w"}, {Surface: surface}, {States: []sessions.State{sessions.StateActive}}, {Type: sessions.Direct}} {
		tr.wantFound(q)
	}
}

func findOrder(tr *trial) {
	var ids []string
	for i := range 5 {
		tr.clock.Advance(time.Minute)
		ids = append(ids, tr.make(sessions.NewSession{ID: fmt.Sprintf("api:%d", i)}).ID)
	}
	tr.wantFound(sessions.Query{}, ids[4], ids[3], ids[2], ids[1], ids[0])
	tr.clock.Advance(time.Minute)
	tr.post(tr.into(ids[1], "back"))
	tr.wantFound(sessions.Query{}, ids[1], ids[4], ids[3], ids[2], ids[0])
	must(tr.store.Update(tr.ctx, ids[0], sessions.Patch{Name: new("no activity")}))(tr)
	tr.wantFound(sessions.Query{Limit: 1}, ids[1], ids[4], ids[3], ids[2], ids[0])
}

func findEqualTimes(tr *trial) {
	at := tr.clock.Now().Add(-time.Hour).UTC().Truncate(time.Millisecond)
	var want []string
	for i := range 30 {
		id := fmt.Sprintf("api:%02d", i)
		tr.imported(sessions.Record{ID: id, UserID: "u", State: sessions.StateActive, CreatedAt: at, LastActivityAt: at.Add(time.Duration(i%3) * time.Millisecond)})
		want = append(want, id)
	}
	slices.SortFunc(want, func(a, b string) int {
		if x, y := int(a[5]-'0')+int(a[4]-'0'), int(b[5]-'0')+int(b[4]-'0'); x%3 != y%3 { // i mod 3 is its digits' sum mod 3
			return y%3 - x%3
		}
		return strings.Compare(b, a)
	})
	for _, limit := range []int{1, 4, 10, 50} {
		tr.wantFound(sessions.Query{Limit: limit}, want...)
		tr.wantFound(sessions.Query{UserID: "u", States: []sessions.State{sessions.StateActive, sessions.StateCreated}, Limit: limit}, want...)
	}
}

// crowdOf opens n sessions at the same time.
func (tr *trial) crowdOf(n int, of func(i int) sessions.NewSession) {
	tr.Helper()
	const together = 40
	tr.together(together, func(worker int) error {
		for i := worker; i < n; i += together {
			if _, _, err := tr.store.Open(tr.ctx, of(i)); err != nil {
				return err
			}
		}
		return nil
	})
}

func findLimit(tr *trial) {
	tr.crowdOf(60, func(i int) sessions.NewSession {
		return sessions.NewSession{ID: fmt.Sprintf("api:%d", i), UserID: "u"}
	})
	for limit, want := range map[int]int{0: sessions.FindDefault, 1: 1, 59: 59, 60: 60, 61: 60, sessions.ListMax: 60} {
		for _, q := range []sessions.Query{{Limit: limit}, {Limit: limit, UserID: "u"}} {
			page := tr.find(q)
			equal(tr, fmt.Sprintf("records of limit %d", limit), len(page.Records), want)
			equal(tr, "there is more", page.Next != "", want < 60)
		}
	}
}

func findLastPage(tr *trial) {
	for i := range 4 {
		tr.make(sessions.NewSession{ID: fmt.Sprintf("api:%d", i), WorkspaceID: "w"})
	}
	for _, q := range []sessions.Query{{}, {WorkspaceID: "w"}, {States: []sessions.State{sessions.StateCreated}}} {
		q.Limit = 2
		first := tr.find(q)
		tr.check(len(first.Records) == 2 && first.Next != "", "first page: %d records, next %q", len(first.Records), first.Next)
		q.Cursor = first.Next
		last := tr.find(q)
		tr.check(len(last.Records) == 2 && last.Next == "", "last page: %d records, next %q", len(last.Records), last.Next)
	}
	one := tr.find(sessions.Query{Surface: surface})
	equal(tr, "next of nothing", one.Next, "")
}

// newestFirst are all records, read one by one, as a page has to order them.
func (tr *trial) newestFirst(ids []string) []string {
	tr.Helper()
	records := make([]sessions.Record, len(ids))
	for i, id := range ids {
		records[i] = tr.get(id)
	}
	slices.SortFunc(records, func(a, b sessions.Record) int {
		if !a.LastActivityAt.Equal(b.LastActivityAt) {
			return b.LastActivityAt.Compare(a.LastActivityAt)
		}
		return strings.Compare(b.ID, a.ID)
	})
	for i, r := range records {
		ids[i] = r.ID
	}
	return ids
}

func findPages(tr *trial, n int) {
	ids := make([]string, n)
	for i := range ids {
		ids[i] = fmt.Sprintf("api:%d", i)
	}
	tr.crowdOf(n, func(i int) sessions.NewSession { return sessions.NewSession{ID: ids[i], UserID: "u"} })
	want := tr.newestFirst(slices.Clone(ids))
	for _, limit := range []int{0, 7, 20, n - 1, n} {
		tr.wantFound(sessions.Query{Limit: limit}, want...)
		tr.wantFound(sessions.Query{Limit: limit, UserID: "u"}, want...)
	}
}

// findNewest has the one session that fits, opened first and used last, behind
// and before many that fit in part.
func findNewest(tr *trial, n int) {
	fits := tr.make(sessions.NewSession{ID: "api:mine", UserID: "u", WorkspaceID: "w", Source: sessions.Source{Type: sessions.Direct}})
	older := tr.make(sessions.NewSession{ID: "api:older", UserID: "u", WorkspaceID: "w", Source: sessions.Source{Type: sessions.Direct}})
	tr.clock.Advance(time.Minute)
	tr.post(tr.into(fits.ID, "hello"))
	tr.clock.Advance(time.Minute)
	tr.crowdOf(n, func(i int) sessions.NewSession {
		s := sessions.NewSession{ID: fmt.Sprintf("api:%d", i), UserID: "u", WorkspaceID: "w", Source: sessions.Source{Type: sessions.Direct}}
		switch i % 3 {
		case 0:
			s.UserID = "someone"
		case 1:
			s.WorkspaceID = "elsewhere"
		case 2:
			s.Source.Type = sessions.Group
		}
		return s
	})
	affinity := sessions.Query{UserID: "u", WorkspaceID: "w", Type: sessions.Direct, States: []sessions.State{sessions.StateCreated, sessions.StateActive, sessions.StateSuspended}, Limit: 1}
	tr.wantFound(affinity, fits.ID, older.ID)
	tr.clock.Advance(time.Minute)
	tr.post(tr.into(older.ID, "hello"))
	equal(tr, "the newest", tr.find(affinity).Records[0].ID, older.ID)
	equal(tr, "all", len(tr.found(sessions.Query{Limit: 500})), n+2)
}

func findCreated(tr *trial) {
	tr.post(tr.said("long ago"))
	tr.clock.Advance(time.Hour)
	fresh := tr.make(sessions.NewSession{ID: "api:fresh", UserID: "u-ann"})
	q := sessions.Query{UserID: "u-ann", States: []sessions.State{sessions.StateCreated, sessions.StateActive, sessions.StateSuspended}, Limit: 1}
	equal(tr, "the newest", tr.find(q).Records[0].ID, fresh.ID)
	equal(tr, "its state", tr.find(q).Records[0].State, sessions.StateCreated)
}

func findContinue(tr *trial) {
	for i, n := range []sessions.NewSession{
		{UserID: "u", WorkspaceID: "/home/a"}, {UserID: "u", WorkspaceID: "/home/a"}, {UserID: "u", WorkspaceID: "/home/b"}, {UserID: "v", WorkspaceID: "/home/a"},
	} {
		n.ID = fmt.Sprintf("cli:%d", i)
		tr.clock.Advance(time.Minute)
		tr.make(n)
	}
	equal(tr, "the newest", tr.find(sessions.Query{UserID: "u", WorkspaceID: "/home/a", Limit: 1}).Records[0].ID, "cli:1")
}

func findFollowsState(tr *trial) {
	states := []sessions.State{sessions.StateCreated, sessions.StateActive, sessions.StateSuspended, sessions.StateExpired}
	record := tr.make(sessions.NewSession{ID: "api:s", Surface: "api:local:s", UserID: "u", WorkspaceID: "w"})
	only := func(state sessions.State) {
		tr.Helper()
		equal(tr, "state", tr.get(record.ID).State, state)
		for _, s := range states {
			for _, q := range []sessions.Query{{}, {UserID: "u"}, {WorkspaceID: "w"}, {UserID: "u", WorkspaceID: "w"}, {Participant: "u"}} {
				q.States = []sessions.State{s}
				is := slices.Contains(tr.found(q), record.ID)
				tr.check(is == (s == state), "it is %s; found among %s: %v", state, s, is)
			}
		}
	}
	only(sessions.StateCreated)
	tr.post(tr.into(record.ID, "hello"))
	only(sessions.StateActive)
	must(tr.store.Rotate(tr.ctx, sessions.RotateRequest{New: sessions.NewSession{Surface: "api:local:s"}}))(tr)
	only(sessions.StateSuspended)
	must(tr.store.Touch(tr.ctx, record.ID))(tr)
	only(sessions.StateActive)
	must(tr.store.Expire(tr.ctx, record.ID))(tr)
	only(sessions.StateExpired)
}

func findFollowsSpeakers(tr *trial) {
	id := tr.make(sessions.NewSession{Surface: surface, Source: sessions.Source{Type: sessions.Group}}).ID
	tr.wantFound(sessions.Query{UserID: "u-ann"})
	tr.wantFound(sessions.Query{Participant: "u-ann"})
	tr.post(tr.heard("first"))
	r := tr.heard("second")
	r.UserID = "u-bob"
	tr.post(r)
	tr.wantFound(sessions.Query{UserID: "u-ann"}, id)
	tr.wantFound(sessions.Query{UserID: "u-bob"})
	tr.wantFound(sessions.Query{Participant: "u-ann"}, id)
	tr.wantFound(sessions.Query{Participant: "u-bob"}, id)
	tr.wantFound(sessions.Query{Participant: "u-bob", UserID: "u-ann"}, id)
}

func findFollowsBinding(tr *trial) {
	first := tr.post(tr.heard("one")).Session
	tr.wantFound(sessions.Query{Surface: surface}, first)
	second := must(tr.store.Rotate(tr.ctx, sessions.RotateRequest{New: sessions.NewSession{Surface: surface}}))(tr).Record.ID
	tr.wantFound(sessions.Query{Surface: surface}, second)
	tr.wantFound(sessions.Query{Surface: surface, States: []sessions.State{sessions.StateSuspended}})
	tr.attach(first, surface)
	tr.wantFound(sessions.Query{Surface: surface}, first)
	third := tr.make(sessions.NewSession{ID: "api:far"}).ID
	tr.attach(third, surface)
	tr.wantFound(sessions.Query{Surface: surface}, third)
	page := tr.find(sessions.Query{Surface: surface, Limit: 1, Cursor: tr.get(third).Position().Cursor()})
	equal(tr, "behind the only one", len(page.Records), 0)
	must(tr.store.Detach(tr.ctx, third, surface))(tr)
	tr.wantFound(sessions.Query{Surface: surface})
}

func findActiveAfter(tr *trial) {
	older := tr.make(sessions.NewSession{ID: "api:older"})
	tr.clock.Advance(time.Minute)
	newer := tr.make(sessions.NewSession{ID: "api:newer"})
	tr.wantFound(sessions.Query{ActiveAfter: older.LastActivityAt}, newer.ID)
	tr.wantFound(sessions.Query{ActiveAfter: older.LastActivityAt.Add(-time.Millisecond)}, newer.ID, older.ID)
	tr.wantFound(sessions.Query{ActiveAfter: newer.LastActivityAt})
	tr.wantFound(sessions.Query{ActiveAfter: newer.LastActivityAt.Add(-time.Millisecond), Limit: 1}, newer.ID)
	elsewhere := time.FixedZone("", 3*60*60)
	tr.wantFound(sessions.Query{ActiveAfter: older.LastActivityAt.In(elsewhere)}, newer.ID)
}

// oddNames are pairwise different, and must be so to every index.
func oddNames() []string {
	return []string{
		"a", "A", "a:b", "a:", ":a", "a%", "%", "_", "*", "a*", "[a]", "?", "a b", "a\x00b", "a\x00", "a\nb", "a\tb", "{a}", "}", "'", "\"", "\\", "a|b", "a,b",
		"ä", "a\u0308", "🙂", "-inf", "+inf", "(", "0", "00", "NULL", "true",
	}
}

func findLiterally(tr *trial) {
	names := oddNames()
	for i, name := range names {
		tr.make(sessions.NewSession{ID: fmt.Sprintf("api:%d", i), UserID: name, WorkspaceID: names[len(names)-1-i]})
	}
	tr.make(sessions.NewSession{ID: "api:x", UserID: "x:y", WorkspaceID: "z"})
	tr.make(sessions.NewSession{ID: "api:y", UserID: "x", WorkspaceID: "y:z"})
	for i, name := range names {
		id := fmt.Sprintf("api:%d", i)
		tr.wantFound(sessions.Query{UserID: name}, id)
		tr.wantFound(sessions.Query{Participant: name}, id)
		tr.wantFound(sessions.Query{WorkspaceID: names[len(names)-1-i]}, id)
		tr.wantFound(sessions.Query{UserID: name, WorkspaceID: names[len(names)-1-i]}, id)
		equal(tr, "user", tr.get(id).UserID, name)
	}
	tr.wantFound(sessions.Query{UserID: "x:y", WorkspaceID: "z"}, "api:x")
	tr.wantFound(sessions.Query{UserID: "x", WorkspaceID: "y:z"}, "api:y")
	tr.wantFound(sessions.Query{UserID: "x", WorkspaceID: "z"})
}

func findRecords(tr *trial) {
	turn := tr.begin("question")
	must(tr.store.Update(tr.ctx, turn.Lease.Session, sessions.Patch{Name: new("n"), WorkingMemory: new("m"), Metadata: map[string]any{"k": "v"}, Agent: new("a")}))(tr)
	tr.queued("waits", "member", "")
	tr.make(sessions.NewSession{ID: "api:bare"})
	for _, q := range []sessions.Query{{}, {Surface: surface}, {UserID: "u-ann"}} {
		for _, r := range tr.find(q).Records {
			tr.sameRecord("found", r, tr.get(r.ID))
		}
	}
}

// sameRecord compares two readings of a record, field by field.
func (tr *trial) sameRecord(what string, got, want sessions.Record) {
	tr.Helper()
	a, b := reflect.ValueOf(got), reflect.ValueOf(want)
	for i := range a.NumField() {
		x, y := a.Field(i).Interface(), b.Field(i).Interface()
		if s, ok := x.([]string); ok && len(s) == 0 && b.Field(i).Len() == 0 {
			continue
		}
		tr.check(reflect.DeepEqual(x, y), "%s: %s is %v, want %v", what, a.Type().Field(i).Name, x, y)
	}
}

func findWhileMoving(tr *trial) {
	ids := make([]string, 12)
	for i := range ids {
		tr.clock.Advance(time.Second)
		ids[i] = tr.make(sessions.NewSession{ID: fmt.Sprintf("api:%d", i)}).ID
	}
	seen := map[string]int{}
	q := sessions.Query{Limit: 2}
	for step := 0; ; step++ {
		page := tr.find(q)
		for _, r := range page.Records {
			seen[r.ID]++
		}
		if page.Next == "" {
			break
		}
		q.Cursor = page.Next
		tr.clock.Advance(time.Second)
		tr.post(tr.into(ids[step%4*2], "moves"))
		tr.make(sessions.NewSession{ID: fmt.Sprintf("api:new-%d", step)})
	}
	for i, id := range ids {
		tr.check(seen[id] == 1 || seen[id] < 2 && i%2 == 0 && i < 8, "%s came %d times", id, seen[id])
	}
}

func findWhilePosting(tr *trial) {
	const resting, moving, workers = 90, 12, 4
	tr.crowdOf(resting+moving, func(i int) sessions.NewSession {
		return sessions.NewSession{ID: fmt.Sprintf("api:%03d", i), UserID: "u"}
	})
	tr.together(workers*2, func(n int) error {
		if n < workers {
			return tr.pageThrough(n, resting)
		}
		for i := range 40 {
			r := sessions.PostRequest{Session: fmt.Sprintf("api:%03d", resting+(i*workers+n)%moving), Message: sessions.Message{Role: sessions.RoleUser, Text: "x"}}
			if _, err := tr.store.Post(tr.ctx, r); err != nil {
				return err
			}
		}
		return nil
	})
}

// pageThrough expects every session below resting once, again and again.
func (tr *trial) pageThrough(worker, resting int) error {
	for round := range 5 {
		seen := map[string]int{}
		q := sessions.Query{Limit: 5 + worker*7 + round}
		if worker%2 == 0 {
			q.UserID = "u"
		}
		for more := true; more; more = q.Cursor != "" {
			page, err := tr.store.Find(tr.ctx, q)
			if err != nil {
				return err
			}
			for _, r := range page.Records {
				seen[r.ID]++
			}
			q.Cursor = page.Next
		}
		for i := range resting {
			if id := fmt.Sprintf("api:%03d", i); seen[id] != 1 {
				return fmt.Errorf("%s, which rests, came %d times", id, seen[id])
			}
		}
	}
	return nil
}

func findCursorMoved(tr *trial) {
	for i := range 5 {
		tr.clock.Advance(time.Minute)
		tr.make(sessions.NewSession{ID: fmt.Sprintf("api:%d", i)})
	}
	page := tr.find(sessions.Query{Limit: 2})
	tr.clock.Advance(time.Minute)
	tr.post(tr.into("api:3", "it moves, and with it the cursor's place"))
	rest := tr.found(sessions.Query{Limit: 2, Cursor: page.Next})
	equalSlices(tr, "behind the page", rest, []string{"api:2", "api:1", "api:0"})
	gone := sessions.Position{At: tr.get("api:2").LastActivityAt, ID: "api:gone"}
	equalSlices(tr, "behind one that is not there", tr.found(sessions.Query{Cursor: gone.Cursor()}), []string{"api:2", "api:1", "api:0"})
}

func findRefuses(tr *trial) {
	long := strings.Repeat("k", sessions.KeyMax+1)
	for _, q := range []sessions.Query{
		{UserID: long}, {Participant: long}, {WorkspaceID: long}, {Surface: strings.Repeat("s", 10<<10)},
		{States: []sessions.State{"other"}}, {States: []sessions.State{sessions.StateActive, ""}}, {Type: "both"},
		{Limit: -1}, {Limit: sessions.ListMax + 1}, {Cursor: "?"}, {Cursor: "AAAA"}, {Cursor: strings.Repeat("A", 10<<10)},
	} {
		_, err := tr.store.Find(tr.ctx, q)
		tr.wantInvalid(err)
	}
}

func findSurvives(tr *trial) {
	for i := range 5 {
		tr.clock.Advance(time.Minute)
		tr.make(sessions.NewSession{ID: fmt.Sprintf("api:%d", i), UserID: "u"})
	}
	before := tr.found(sessions.Query{UserID: "u"})
	page := tr.find(sessions.Query{UserID: "u", Limit: 2})
	tr.reopen()
	tr.wantFound(sessions.Query{UserID: "u"}, before...)
	tr.wantFound(sessions.Query{UserID: "u", Limit: 2, Cursor: page.Next}, before[2:]...)
}
