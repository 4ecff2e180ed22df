package transcript

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strconv"
	"time"

	"parley/sessions"
)

// Transcript is one that is read, for [sessions.Transcripts].
type Transcript struct {
	Record sessions.Record // its ID may be changed before the import
	// Entries gives the entries once, as Import wants them. An error is the
	// last thing it gives: an *Error, or that of the reader.
	Entries iter.Seq2[sessions.Entry, error]
}

// Read reads the head of a transcript; its entries are read, and
// checked, as they are taken. What [Write] wrote streams in constant
// memory, but for 8 bytes an entry. A transcript of another program, whose
// entries have ids of their own or whose header knows less, is read whole, and
// so is a list of turns; both up to ForeignMax.
func Read(r io.Reader) (*Transcript, error) {
	lines := newLineReader(r)
	head, err := readHeader(lines)
	if err != nil {
		return nil, err
	}
	if head.turns {
		return readForeign(lines, head)
	}
	line, err := lines.next()
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	own := ownReader{lines: lines, header: head.header, line: line}
	if !head.complete() || line != nil && !own.starts() {
		return readForeign(lines, head, line)
	}
	return own.transcript()
}

// Check reads a transcript to its end and gives the record and how
// many entries it has, without keeping anything.
func Check(r io.Reader) (sessions.Record, int64, error) {
	t, err := Read(r)
	if err != nil {
		return sessions.Record{}, 0, err
	}
	count := int64(0)
	for _, err := range t.Entries {
		if err != nil {
			return t.Record, count, err
		}
		count++
	}
	return t.Record, count, nil
}

// complete reports whether nothing about the session has to be found out from
// its entries.
func (h header) complete() bool {
	return h.Source != nil && h.State != "" && !h.Timestamp.IsZero() && !h.LastActivityAt.IsZero() && h.Version == Version
}

// ownReader reads what this package wrote: ids are numbered without gaps.
type ownReader struct {
	lines  *lineReader
	header header
	line   []byte // the first one behind the header, nil: there is none
	before int64  // the number of the first id, less one
	leaf   int64
	last   time.Time

	sequel sessions.Sequel
	ahead  []ahead // parents and references that are not read yet
}

// ahead is an entry that a line counts on.
type ahead struct {
	line   int
	name   string
	seq    int64
	parent bool
}

// starts reports whether the first entry has an id of this package's form.
func (o *ownReader) starts() bool {
	var start struct {
		ID string `json:"id"`
	}
	if json.Unmarshal(o.line, &start) != nil {
		return true // and fails when it is read
	}
	seq, err := sessions.ParseEntryID(start.ID)
	o.before = seq - 1
	return err == nil && seq > 0
}

func (o *ownReader) transcript() (*Transcript, error) {
	record := o.header.record()
	if o.header.LeafID != nil {
		seq, err := sessions.ParseEntryID(*o.header.LeafID)
		if err != nil || seq <= o.before {
			return nil, &Error{Line: 1, Why: "its leaf_id " + strconv.Quote(*o.header.LeafID) + " is no entry of this file"}
		}
		record.Leaf = seq - o.before
		o.leaf = record.Leaf
	}
	if err := checkHeader(record); err != nil {
		return nil, err
	}
	o.last = record.CreatedAt
	return &Transcript{Record: record, Entries: o.entries}, nil
}

func checkHeader(record sessions.Record) error {
	err := sessions.CheckImport(record)
	if invalid, ok := errors.AsType[*sessions.InvalidError](err); ok {
		return &Error{Line: 1, Why: invalid.Error()}
	}
	return err
}

func (o *ownReader) entries(yield func(sessions.Entry, error) bool) {
	line, err := o.line, error(nil)
	if line == nil {
		err = io.EOF
	}
	for err == nil {
		e, wrong := o.entry(line)
		if wrong != nil {
			yield(sessions.Entry{}, wrong)
			return
		}
		if !yield(e, nil) {
			return
		}
		line, err = o.lines.next()
	}
	if errors.Is(err, io.EOF) {
		err = o.end()
	}
	if err != nil {
		yield(sessions.Entry{}, err)
	}
}

func (o *ownReader) entry(line []byte) (sessions.Entry, error) {
	parsed, err := parseLine(o.lines, line)
	if err != nil {
		return sessions.Entry{}, err
	}
	want := o.before + o.sequel.Seq() + 1
	if seq, err := sessions.ParseEntryID(parsed.id); err != nil || seq != want {
		return sessions.Entry{}, o.lines.wrong("its id is %.40q, and %s has to follow; a line is missing, or is there twice", parsed.id, sessions.EntryID(want))
	}
	e := sessions.Entry{Seq: o.sequel.Seq() + 1, Type: parsed.kind, Time: parsed.time}
	if e.Time.IsZero() {
		e.Time = o.last
	}
	o.last = e.Time
	if e.Type.InTree() && parsed.parent != "" {
		if e.Parent, err = o.refer("parent_id", parsed.parent); err != nil {
			return sessions.Entry{}, err
		}
	}
	if e.Payload, err = parsed.body(o.mapped); err != nil {
		return sessions.Entry{}, err
	}
	if e.Parent == e.Seq {
		return sessions.Entry{}, o.lines.wrong("it is its own parent")
	}
	return e, follow(o.lines, &o.sequel, e)
}

// follow checks an entry behind those before it.
func follow(lines *lineReader, sequel *sessions.Sequel, e sessions.Entry) error {
	err := sequel.Next(e)
	if invalid, ok := errors.AsType[*sessions.InvalidError](err); ok {
		return lines.wrong("%s", invalid.Error())
	}
	return err
}

// mapped gives a reference its new id.
func (o *ownReader) mapped(name, id string) (string, error) {
	seq, err := o.refer(name, id)
	return sessions.EntryID(seq), err
}

// refer finds the entry that an id names; one that is still to come is checked
// in the end.
func (o *ownReader) refer(name, id string) (int64, error) {
	seq, err := sessions.ParseEntryID(id)
	if seq -= o.before; err != nil || seq < 1 {
		return 0, o.lines.wrong("its %s %.40q is no entry of this file", name, id)
	}
	parent := name == "parent_id"
	if seq > o.sequel.Seq() {
		o.ahead = append(o.ahead, ahead{line: o.lines.number, name: name, seq: seq, parent: parent})
	} else if parent && !o.sequel.InTree(seq) {
		return 0, o.lines.wrong("its parent_id %.40q is no entry that can have others below it", id)
	}
	return seq, nil
}

// end checks what only the whole file shows.
func (o *ownReader) end() error {
	if o.leaf != 0 && !o.sequel.InTree(o.leaf) {
		return &Error{Line: 1, Why: "its leaf_id " + strconv.Quote(*o.header.LeafID) + " is no entry of the tree"}
	}
	cycle := 0
	for _, a := range o.ahead {
		if a.seq > o.sequel.Seq() || a.parent && !o.sequel.InTree(a.seq) {
			return &Error{Line: a.line, Why: "its " + a.name + " " + strconv.Quote(sessions.EntryID(a.seq+o.before)) + " is no entry of this file that it could be"}
		}
		if a.parent && cycle == 0 {
			cycle = a.line
		}
	}
	if cycle > 0 && o.sequel.Acyclic() != nil {
		return &Error{Line: cycle, Why: "following the parents from here, some entry is its own ancestor"}
	}
	return nil
}

// parsed is a line of an entry.
type parsed struct {
	line      int
	torn      bool
	kind      sessions.EntryType
	id        string
	parent    string // empty: null or missing
	hasParent bool
	time      time.Time // zero: missing
	message   json.RawMessage
	payload   json.RawMessage
	rest      []field
}

// parseLine reads a line as an entry, and checks all that one line shows.
func parseLine(lines *lineReader, line []byte) (parsed, error) {
	p := parsed{line: lines.number, torn: lines.torn}
	fields, err := fieldsOf(line, fieldsMax)
	if err != nil {
		return p, p.wrong("%s", err)
	}
	for _, f := range fields {
		if err := p.set(f); err != nil {
			return p, p.wrong("its %.40s %s", f.name, err)
		}
	}
	switch {
	case p.kind == headerType || p.kind == turnHeaderType:
		return p, p.wrong("a second header; these are two transcripts in one file")
	case !p.kind.Known():
		return p, p.wrong("there is no entry type %.40q", p.kind)
	case p.id == "":
		return p, p.wrong("it has no id")
	case p.kind == sessions.EntryMessage && p.message == nil && p.payload == nil:
		return p, p.wrong("a message without its message")
	case p.payload != nil && len(p.rest) > 0:
		return p, p.wrong("it has a payload, and %.40s beside it", p.rest[0].name)
	}
	return p, nil
}

// wrong says what is wrong with the line. If the file ends within it, that is
// what is wrong.
func (p parsed) wrong(format string, args ...any) error {
	return lineError(p.line, p.torn, fmt.Sprintf(format, args...))
}

var (
	errNoText = errors.New("must be a text")
	errNoID   = errors.New("must be a text of at most 256 bytes")
)

func (p *parsed) set(f field) (err error) {
	switch f.name {
	case "type":
		var kind string
		err = orElse(json.Unmarshal(f.value, &kind), errNoText)
		p.kind = entryType(kind)
	case "id":
		p.id, err = idOf(f.value)
	case "parent_id":
		p.hasParent = true
		p.parent, err = idOf(f.value)
	case "timestamp":
		p.time, err = timeOf(f.value)
	case "message":
		p.message = f.value
	case "payload":
		p.payload = f.value
	case "seq":
	default:
		p.rest = append(p.rest, f)
	}
	return err
}

func orElse(err, instead error) error {
	if err != nil {
		return instead
	}
	return nil
}

// entryType knows the names that some programs have for the same.
func entryType(name string) sessions.EntryType {
	switch name {
	case "branch":
		return sessions.EntryBranchSummary
	case "session_info":
		return sessions.EntrySessionName
	}
	return sessions.EntryType(name)
}

// idOf reads an id; null is none.
func idOf(value json.RawMessage) (string, error) {
	var id string
	if json.Unmarshal(value, &id) != nil || len(id) > sessions.IDMax {
		return "", errNoID
	}
	return id, nil
}

// body is the entry's payload, its references given new ids by mapped.
func (p parsed) body(mapped func(name, id string) (string, error)) (json.RawMessage, error) {
	if p.kind == sessions.EntryMessage {
		return p.messageBody()
	}
	fields := slices.Clone(p.rest)
	if p.payload != nil {
		var err error
		if fields, err = fieldsOf(p.payload, inlineMax); err != nil {
			return p.payload, nil //nolint:nilerr // nothing in it is looked at; that it is an object is checked with the entry
		}
	}
	for i, f := range fields {
		if !reference(p.kind, f.name) {
			continue
		}
		id, err := idOf(f.value)
		if err != nil {
			return nil, p.wrong("its %s %s", f.name, err)
		}
		if id == "" {
			continue
		}
		if id, err = mapped(f.name, id); err != nil {
			return nil, err
		}
		fields[i].value = json.RawMessage(strconv.Quote(id))
	}
	return objectOf(fields), nil
}

// messageBody is a message of this package's form.
func (p parsed) messageBody() (json.RawMessage, error) {
	value := p.message
	if value == nil {
		value = p.payload
	}
	var m sessions.Message
	if err := json.Unmarshal(value, &m); err != nil {
		return nil, p.wrong("its message cannot be read: %s", err)
	}
	switch m.Role {
	case sessions.RoleUser, sessions.RoleAssistant, sessions.RoleTool:
		return value, nil
	}
	return nil, p.wrong("its message has the role %.40q; there are user, assistant and tool", m.Role)
}
