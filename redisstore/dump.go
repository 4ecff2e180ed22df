package redisstore

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"

	"parley/sessions"
	"parley/sessions/archive"
)

// phase is a kind of items: the kind of the keys that they are read from, and
// how: read gives the items of one key from a position (0: the first) on, at
// most limit, and the position behind them (0: there are no more).
type phase struct {
	item sessions.ItemKind
	keys string
	read func(s *Store, ctx context.Context, n named, from int64, limit int) (items []sessions.Item, next int64, err error)
}

// phases are the kinds of items in the order of a dump.
func phases() []phase {
	return []phase{
		{archive.ItemChat, "ch", single((*Store).dumpChat)},
		{archive.ItemLock, "k", single((*Store).dumpLock)},
		{archive.ItemUser, "U", single((*Store).dumpUser)},
		{archive.ItemSession, "s", (*Store).dumpSession},
		{archive.ItemBinding, "b", single((*Store).dumpBinding)},
		{archive.ItemTimer, "t", single((*Store).dumpTimer)},
		{archive.ItemDead, "dl", single((*Store).dumpDead)},
		{archive.ItemRow, "o", (*Store).dumpRows},
		{archive.ItemSchedule, "g", single((*Store).dumpSchedule)},
		{archive.ItemRun, "gr", (*Store).dumpRuns},
		{archive.ItemKey, "d", single((*Store).dumpKey)},
	}
}

// dumpCursor is where a dump stands.
type dumpCursor struct {
	Phase   int    `json:"p"`
	Bucket  int    `json:"b,omitempty"`
	Buckets int    `json:"n"`
	Key     []byte `json:"k,omitempty"` // read up to this key
	From    int64  `json:"f,omitempty"` // and of the key behind it up to this position
}

func (c dumpCursor) text() (string, error) {
	text, err := json.Marshal(c)
	return base64.RawURLEncoding.EncodeToString(text), err
}

func parseDumpCursor(text string) (c dumpCursor, err error) {
	if text == "" {
		return c, nil
	}
	wrong := &sessions.InvalidError{What: "cursor", Why: "it is none that a dump of this store gave"}
	if len(text) > 8<<10 {
		return c, wrong
	}
	plain, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil || json.Unmarshal(plain, &c) != nil {
		return c, wrong
	}
	if c.Phase < 0 || c.Phase >= len(phases()) || c.Buckets < 1 || c.Bucket < 0 || c.Bucket >= c.Buckets || c.From < 0 {
		return c, wrong
	}
	return c, nil
}

// dumpAhead is how many keys are read at the same time.
const dumpAhead = 32

// Dump reads everything, kind by kind: the names of a kind's keys are listed
// and sorted, and a cursor is a place among them. At the beginning, what is
// still on its way between partitions gets there.
func (s *Store) Dump(ctx context.Context, cursor string, limit int) ([]sessions.Item, string, error) {
	if err := sessions.CheckList(limit); err != nil {
		return nil, "", err
	}
	at, err := parseDumpCursor(cursor)
	if err == nil && cursor == "" {
		at, err = s.dumpStart(ctx)
	}
	if err != nil {
		return nil, "", err
	}
	var items []sessions.Item
	for at.Phase < len(phases()) {
		full, err := s.dumpPart(ctx, &at, &items, limit)
		if err != nil {
			return nil, "", err
		}
		if full {
			next, err := at.text()
			return items, next, err
		}
		at.Key, at.From = nil, 0
		if at.Bucket++; at.Bucket == at.Buckets {
			at.Phase, at.Bucket = at.Phase+1, 0
		}
	}
	return items, "", nil
}

func (s *Store) dumpStart(ctx context.Context) (dumpCursor, error) {
	if err := s.finishSteps(ctx); err != nil {
		return dumpCursor{}, err
	}
	size, err := s.size(ctx)
	return dumpCursor{Buckets: 1 + int(size/listingMax)}, err
}

// dumpPart adds the items of one part of a kind's keys, as many as there is
// room for, and moves the cursor behind them. full: there is no more room.
func (s *Store) dumpPart(ctx context.Context, at *dumpCursor, items *[]sessions.Item, limit int) (full bool, err error) {
	ph := phases()[at.Phase]
	names, err := s.listing.list(ctx, s, part{ph.keys, at.Bucket, at.Buckets}, at.Key == nil && at.From == 0)
	if err != nil {
		return false, err
	}
	first := 0
	if at.Key != nil {
		first, _ = slices.BinarySearchFunc(names, string(at.Key), func(n named, key string) int { return strings.Compare(n.key, key) })
		if first < len(names) && names[first].key == string(at.Key) {
			first++
		}
	}
	for names = names[first:]; len(names) > 0; {
		if len(*items) == limit {
			return true, nil
		}
		ahead := names[:min(len(names), dumpAhead)]
		done, err := s.dumpNames(ctx, ph, ahead, at, items, limit)
		if err != nil {
			return false, err
		}
		names = names[done:]
	}
	return false, nil
}

// dumpNames reads some keys at the same time and adds what there is room for;
// done is how many were read to their ends.
func (s *Store) dumpNames(ctx context.Context, ph phase, names []named, at *dumpCursor, items *[]sessions.Item, limit int) (done int, err error) {
	type read struct {
		items []sessions.Item
		next  int64
	}
	room := limit - len(*items)
	got := make([]read, len(names))
	steps := make([]func() error, len(names))
	for i, n := range names {
		from := int64(0)
		if i == 0 {
			from = at.From
		}
		steps[i] = func() (err error) {
			got[i].items, got[i].next, err = ph.read(s, ctx, n, from, room)
			return err
		}
	}
	if err := together(steps); err != nil {
		return 0, err
	}
	for i, g := range got {
		room := limit - len(*items)
		if room == 0 && len(g.items) > 0 {
			return done, nil
		}
		if len(g.items) > room { // read once more what fits
			if g.items, g.next, err = ph.read(s, ctx, names[i], at.From, room); err != nil {
				return done, err
			}
		}
		*items = append(*items, g.items...)
		if at.From = g.next; g.next != 0 {
			return done, nil
		}
		at.Key = []byte(names[i].key)
		done++
	}
	return done, nil
}

// single reads kinds of which a key is one item, or none.
func single(read func(s *Store, ctx context.Context, n named) (any, sessions.ItemKind, error)) func(*Store, context.Context, named, int64, int) ([]sessions.Item, int64, error) {
	return func(s *Store, ctx context.Context, n named, _ int64, _ int) ([]sessions.Item, int64, error) {
		body, kind, err := read(s, ctx, n)
		if err != nil || body == nil {
			return nil, 0, err
		}
		item, err := itemOf(kind, body)
		return []sessions.Item{item}, 0, err
	}
}

func itemOf(kind sessions.ItemKind, body any) (sessions.Item, error) {
	text, err := json.Marshal(body)
	return sessions.Item{Kind: kind, Body: text}, err
}

// finishSteps takes all steps that wait for other partitions, and does all jobs.
func (s *Store) finishSteps(ctx context.Context) error {
	for {
		names, err := s.listing.list(ctx, s, part{"f", 0, 1}, true)
		if err != nil {
			return err
		}
		if len(names) == 0 {
			return s.finishJobs(ctx)
		}
		for _, n := range names {
			if err := s.finishStep(ctx, n); err != nil {
				return err
			}
		}
	}
}

func (s *Store) finishJobs(ctx context.Context) error {
	for _, p := range s.parts {
		val, err := s.run(ctx, p, s.scripts.jobs)
		if err != nil {
			return err
		}
		for _, name := range read(val).texts() {
			if err := s.work(ctx, p, name); err != nil {
				return err
			}
		}
	}
	return nil
}

// finishStep takes the steps that wait for one target, and forgets them.
func (s *Store) finishStep(ctx context.Context, n named) error {
	val, err := s.run(ctx, n.partition, s.scripts.forwardRead, n.name, forwardMax)
	if err != nil {
		return err
	}
	steps := read(val).texts()
	if len(steps) == 0 {
		return nil
	}
	list, done := stepsOf(n.name, steps)
	if _, err := s.apply(ctx, n.name, list, nil); err != nil {
		return err
	}
	_, err = s.run(ctx, n.partition, s.scripts.forwardDone, done...)
	return err
}
