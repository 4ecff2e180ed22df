package sqlitestore

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"slices"

	"parley/sessions"
	"parley/sessions/archive"
)

// dumpBytes is how many bytes of items make a page, whatever its limit.
const dumpBytes = 8 << 20

// mark is where a dump stands: the item it gave last. What A, B and N are
// depends on the kind; they name the item in the order of its kind.
type mark struct {
	Kind sessions.ItemKind `json:"k"`
	A    string            `json:"a,omitempty"`
	B    string            `json:"b,omitempty"`
	N    int64             `json:"n,omitempty"`
}

// section reads the items of one kind (sessions: with their entries) behind a
// mark, until the page is full.
type section struct {
	kind sessions.ItemKind
	read func(t *tx, page *page, behind mark) error
}

// sections are all kinds, in the order of the archive.
func sections() []section {
	return []section{
		{archive.ItemChat, (*tx).dumpChats},
		{archive.ItemLock, (*tx).dumpLocks},
		{archive.ItemUser, (*tx).dumpUsers},
		{archive.ItemSession, (*tx).dumpSessions},
		{archive.ItemBinding, (*tx).dumpBindings},
		{archive.ItemTimer, (*tx).dumpTimers},
		{archive.ItemDead, (*tx).dumpDead},
		{archive.ItemRow, (*tx).dumpRows},
		{archive.ItemSchedule, (*tx).dumpSchedules},
		{archive.ItemRun, (*tx).dumpRuns},
		{archive.ItemKey, (*tx).dumpKeys},
	}
}

// page collects the items of one Dump.
type page struct {
	items []sessions.Item
	limit int
	bytes int
	at    mark // of the last item
}

// add adds an item. errEnough: the page is full now.
func (p *page) add(kind sessions.ItemKind, body any, at mark) error {
	item, err := archive.NewItem(kind, body)
	if err != nil {
		return err
	}
	p.items = append(p.items, item)
	p.bytes += len(item.Body)
	p.at = at
	if p.full() {
		return errEnough
	}
	return nil
}

func (p *page) full() bool { return len(p.items) >= p.limit || p.bytes >= dumpBytes }

func (p *page) left() int { return p.limit - len(p.items) }

// Dump reads items behind cursor.
func (s *Store) Dump(ctx context.Context, cursor string, limit int) ([]sessions.Item, string, error) {
	if err := sessions.CheckList(limit); err != nil {
		return nil, "", err
	}
	behind, err := parseMark(cursor)
	if err != nil {
		return nil, "", err
	}
	p, err := read(ctx, s, func(t *tx) (*page, error) { return t.dump(behind, limit) })
	if err != nil || !p.full() {
		return p.all(), "", err
	}
	return p.items, p.at.cursor(), nil
}

func (p *page) all() []sessions.Item {
	if p == nil {
		return nil
	}
	return p.items
}

func (t *tx) dump(behind mark, limit int) (*page, error) {
	p := &page{limit: limit}
	for _, section := range sections() {
		if cmp.Compare(rank(section.kind), rank(behind.Kind)) < 0 {
			continue
		}
		if section.kind != behind.Kind {
			behind = mark{Kind: section.kind}
		}
		if err := section.read(t, p, behind); err != nil || p.full() {
			return p, err
		}
	}
	return p, nil
}

// rank is a kind's place in the archive; no kind is before all.
func rank(kind sessions.ItemKind) int {
	return slices.IndexFunc(sections(), func(s section) bool { return s.kind == kind })
}

func (m mark) cursor() string {
	encoded, _ := json.Marshal(m) //nolint:errchkjson // texts and a number always encode
	return base64.RawURLEncoding.EncodeToString(encoded)
}

func parseMark(cursor string) (m mark, err error) {
	if cursor == "" {
		return m, nil
	}
	text, err := base64.RawURLEncoding.DecodeString(cursor)
	if err == nil {
		err = json.Unmarshal(text, &m)
	}
	if err != nil || rank(m.Kind) < 0 {
		return m, &sessions.InvalidError{What: "cursor", Why: "it is none that this store gave"}
	}
	return m, nil
}
