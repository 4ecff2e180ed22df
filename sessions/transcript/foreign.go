package transcript

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"parley/sessions"
)

// readForeign reads a transcript whole. pending are lines that were read
// already.
func readForeign(lines *lineReader, head head, pending ...[]byte) (*Transcript, error) {
	f := foreignReader{lines: lines, ids: map[string]int{}}
	take := f.tree
	if head.turns {
		take = f.turn
	}
	if err := f.read(pending, take); err != nil {
		return nil, err
	}
	entries, err := f.entries()
	if err != nil {
		return nil, err
	}
	record, err := f.record(head, entries)
	if err != nil {
		return nil, err
	}
	return &Transcript{Record: record, Entries: func(yield func(sessions.Entry, error) bool) {
		for _, e := range entries {
			if !yield(e, nil) {
				return
			}
		}
	}}, nil
}

// foreignReader keeps the lines of a transcript until all are known.
type foreignReader struct {
	lines  *lineReader
	parsed []foreign
	ids    map[string]int // index in parsed
	count  int64          // entries of all that was parsed
	bytes  int
}

// foreign is a line and the entries it stands for: one, or several where its
// message holds several of ours.
type foreign struct {
	parsed
	seq    int64 // of the first entry
	bodies []json.RawMessage
}

// last is the entry that stands for the line.
func (f foreign) last() int64 { return f.seq + int64(len(f.bodies)) - 1 }

func (r *foreignReader) read(pending [][]byte, take func([]byte) error) error {
	for _, line := range pending {
		if line == nil {
			return nil
		}
		if err := take(line); err != nil {
			return err
		}
	}
	for {
		line, err := r.lines.next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if r.bytes += len(line); r.bytes > ForeignMax {
			return r.lines.wrong("a transcript of another program can have at most %d bytes up to here; split it", ForeignMax)
		}
		if err := take(line); err != nil {
			return err
		}
	}
}

// tree takes a line of a tree of entries.
func (r *foreignReader) tree(line []byte) error {
	p, err := parseLine(r.lines, line)
	if err != nil {
		return err
	}
	if _, taken := r.ids[p.id]; taken {
		return p.wrong("the id %.40q is there twice", p.id)
	}
	if p.kind.InTree() && !p.hasParent {
		return p.wrong("it has no parent_id; the first entry has null")
	}
	f := foreign{parsed: p, bodies: []json.RawMessage{nil}}
	if p.kind == sessions.EntryMessage {
		if f.bodies, err = messagesFrom(orPayload(p)); err != nil {
			return p.wrong("its message %s", err)
		}
	}
	r.ids[p.id] = len(r.parsed)
	r.keep(f)
	return nil
}

func orPayload(p parsed) json.RawMessage {
	if p.message == nil {
		return p.payload
	}
	return p.message
}

func (r *foreignReader) keep(f foreign) {
	f.seq = r.count + 1
	r.count += int64(len(f.bodies))
	r.parsed = append(r.parsed, f)
}

// entries makes the entries of all lines.
func (r *foreignReader) entries() ([]sessions.Entry, error) {
	entries := make([]sessions.Entry, 0, r.count)
	var sequel sessions.Sequel
	last := time.Time{}
	for i := range r.parsed {
		f := &r.parsed[i]
		if f.time.IsZero() {
			f.time = last
		}
		last = f.time
		made, err := r.entriesOf(f)
		if err != nil {
			return nil, err
		}
		for _, e := range made {
			if err := sequel.Next(e); err != nil {
				return nil, f.wrong("%s", err)
			}
		}
		entries = append(entries, made...)
	}
	if sequel.Acyclic() != nil {
		return nil, &Error{Line: r.inCycle(entries), Why: "following the parents from here, some entry is its own ancestor"}
	}
	return entries, nil
}

func (r *foreignReader) entriesOf(f *foreign) ([]sessions.Entry, error) {
	parent := int64(0)
	if f.kind.InTree() {
		var err error
		if parent, err = r.above(f); err != nil {
			return nil, err
		}
	}
	var made []sessions.Entry
	for i, body := range f.bodies {
		if body == nil {
			var err error
			if body, err = f.body(func(name, id string) (string, error) { return r.mapped(f, name, id) }); err != nil {
				return nil, err
			}
		}
		seq := f.seq + int64(i)
		made = append(made, sessions.Entry{Seq: seq, Parent: parent, Type: f.kind, Time: f.time, Payload: body})
		parent = seq
	}
	return made, nil
}

func (r *foreignReader) mapped(f *foreign, name, id string) (string, error) {
	i, found := r.ids[id]
	if !found {
		return "", f.wrong("its %s %.40q is no entry of this file", name, id)
	}
	return sessions.EntryID(r.parsed[i].last()), nil
}

// above is the entry of the tree below which a line stands. A parent that is
// beside our tree stands for the one it has itself, or leads to.
func (r *foreignReader) above(f *foreign) (int64, error) {
	at := f
	for range len(r.parsed) {
		id := at.parent
		if at.kind == sessions.EntryLeaf && at != f {
			id = at.target()
		}
		if id == "" {
			return 0, nil
		}
		i, found := r.ids[id]
		if !found {
			return 0, f.wrong("its parent_id %.40q is no entry of this file", id)
		}
		if at = &r.parsed[i]; at.kind.InTree() {
			return at.last(), nil
		}
	}
	return 0, f.wrong("following the parents from here, some entry is its own ancestor")
}

// target is where a leaf entry leads.
func (f foreign) target() string {
	fields := f.rest
	if f.payload != nil {
		fields, _ = fieldsOf(f.payload, inlineMax)
	}
	if target := fieldNamed(fields, "target_id"); target != nil {
		id, _ := idOf(target.value) // read before, with the entry's body
		return id
	}
	return ""
}

// inCycle is the line of an entry that is its own ancestor.
func (r *foreignReader) inCycle(entries []sessions.Entry) int {
	for i := range r.parsed {
		seq, steps := entries[r.parsed[i].seq-1].Parent, 0
		for ; seq != 0 && seq != r.parsed[i].seq && steps < len(entries); steps++ {
			seq = entries[seq-1].Parent
		}
		if seq == r.parsed[i].seq {
			return r.parsed[i].line
		}
	}
	return 1
}

// record completes the header by what the entries show.
func (r *foreignReader) record(head head, entries []sessions.Entry) (sessions.Record, error) {
	record := head.record()
	if record.Source.Kind == "" {
		record.Source = sessions.Source{Kind: kindImport, Type: sessions.Direct}
	}
	leaf, err := r.leaf(head)
	if err != nil {
		return record, err
	}
	record.Leaf = leaf
	found := summarise(entries)
	if record.CreatedAt.IsZero() {
		record.CreatedAt = found.CreatedAt
	}
	if record.LastActivityAt.IsZero() {
		record.LastActivityAt = found.LastActivityAt
	}
	if record.LastActivityAt.IsZero() {
		record.LastActivityAt = record.CreatedAt
	}
	if record.State == "" {
		record.State, record.MessageCount, record.TurnCount = found.State, found.MessageCount, found.TurnCount
	}
	record.Preview = cmp.Or(record.Preview, found.Preview)
	if record.Description == "" {
		record.Description, record.DescriptionSource = found.Description, found.DescriptionSource
	}
	for i := range entries {
		if entries[i].Time.IsZero() {
			entries[i].Time = record.CreatedAt
		}
	}
	return record, checkHeader(record)
}

// leaf is where the conversation stands: where the header says, else where the
// last line leads.
func (r *foreignReader) leaf(head head) (int64, error) {
	if head.LeafID != nil {
		i, found := r.ids[*head.LeafID]
		if !found || !r.parsed[i].kind.InTree() {
			return 0, &Error{Line: 1, Why: fmt.Sprintf("its leaf_id %.40q is no entry of the tree", *head.LeafID)}
		}
		return r.parsed[i].last(), nil
	}
	leaf := int64(0)
	for i := range r.parsed {
		f := &r.parsed[i]
		switch {
		case f.kind.InTree():
			leaf = f.last()
		case f.kind == sessions.EntryLeaf:
			leaf = 0
			if id := f.target(); id != "" {
				target := &r.parsed[r.ids[id]] // there: it was mapped
				leaf = target.last()
				if !target.kind.InTree() {
					return 0, f.wrong("its target_id %.40q is no entry of the tree", id)
				}
			}
		}
	}
	return leaf, nil
}

// summarise is what a record would say of a log: of those fields that follow
// from its messages.
func summarise(entries []sessions.Entry) sessions.Record {
	r := sessions.Record{State: sessions.StateCreated}
	for _, e := range entries {
		if r.CreatedAt.IsZero() {
			r.CreatedAt = e.Time
		}
		if e.Time.After(r.LastActivityAt) {
			r.LastActivityAt = e.Time
		}
		if m, err := e.Message(); err == nil {
			count(&r, m)
		}
	}
	return r
}

// count takes a message of a log into a record.
func count(r *sessions.Record, m sessions.Message) {
	r.State = sessions.StateActive
	switch {
	case m.Role == sessions.RoleUser:
		r.MessageCount++
		if m.Text != "" {
			r.Preview = sessions.PreviewOf(m.Text)
		}
		if r.Description == "" && m.Text != "" {
			r.Describe(sessions.Description{Text: m.Text, Source: sessions.DescriptionFallback})
		}
	case m.Role == sessions.RoleAssistant && len(m.ToolCalls) == 0:
		r.TurnCount++
	}
}
