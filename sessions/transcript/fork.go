package transcript

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strconv"
	"time"

	"parley/sessions"
)

// ForkRequest says what to make a new session of. See [Fork].
type ForkRequest struct {
	From sessions.Record
	Leaf int64     // the entry where the new session stands; 0: before the first
	ID   string    // of the new session
	Now  time.Time // when it was made
	// UserID and Participants are the new session's; without a UserID they are
	// those of From.
	UserID       string
	Participants []string
}

// Fork makes a session of the entries on one branch of another, for
// [sessions.Transcripts]: numbered anew, each below the one before it, with
// their times. It names the other as its ParentSession. The labels of its
// entries move along wherever in the log they were given, and so do what
// people edited, deleted and reacted to. What an entry refers to outside of
// the branch it refers to no more.
//
// It reads the log twice, and needs 17 bytes for each entry, and labels and changes whole.
// ErrNotFound: Leaf is no entry of the tree.
func Fork(ctx context.Context, log sessions.Log, request ForkRequest) (*Transcript, error) {
	f := fork{ctx: ctx, log: log, request: request, labels: map[int64]sessions.Entry{}, given: map[int64]int64{}, own: map[int64]int64{}}
	if err := f.survey(); err != nil {
		return nil, err
	}
	if err := f.choose(); err != nil {
		return nil, err
	}
	record, err := f.record()
	if err != nil {
		return nil, err
	}
	return &Transcript{Record: record, Entries: f.entries}, nil
}

// kindOf is what the fork's counters ask of an entry.
type forkKind byte

const (
	forkBeside forkKind = iota // not in the tree
	forkPlain
	forkUser
	forkAnswer
)

type fork struct {
	ctx     context.Context //nolint:containedctx // one fork is one call, and an iterator has no place for it
	log     sessions.Log
	request ForkRequest
	parents []int64                  // by seq, less the first
	kinds   []forkKind               // likewise
	places  []int64                  // likewise: the seq in the fork; 0: none
	path    []int64                  // seqs, the root's first
	labels  map[int64]sessions.Entry // target → the newest of its labels
	given   map[int64]int64          // label → target; 0: it can be none
	own     map[int64]int64          // target → seq of the newest of its labels on the path
	changes []sessions.Entry         // edits, deletes and reactions, by seq
	extra   []sessions.Entry         // what is written behind the path
	counts  sessions.Record
}

func (f *fork) at(seq int64) int64 { return seq - f.request.From.Cleared - 1 }

func (f *fork) known(seq int64) bool {
	return seq > f.request.From.Cleared && f.at(seq) < int64(len(f.parents))
}

// survey reads the shape of the log.
func (f *fork) survey() error {
	from := f.request.From
	for next := from.Cleared + 1; next <= from.Seq; {
		entries, err := f.log.Range(f.ctx, from.ID, next, min(next+exportPage-1, from.Seq))
		if err != nil {
			return err
		}
		for _, e := range entries {
			if e.Seq != next {
				return errCleared
			}
			next++
			f.note(e)
		}
		if len(entries) == 0 {
			return errCleared
		}
	}
	return nil
}

func (f *fork) note(e sessions.Entry) {
	kind := forkBeside
	if e.Type.InTree() && !e.Waiting {
		kind = forkPlain
	}
	switch e.Type {
	case sessions.EntryMessage:
		kind = max(kind, roleOf(e, kind))
	case sessions.EntryLabel:
		target := targetOf(e)
		f.given[e.Seq] = target
		if kind != forkBeside {
			f.labels[target] = e
		}
	case sessions.EntryEdit, sessions.EntryDelete, sessions.EntryReaction:
		f.changes = append(f.changes, e)
	}
	f.parents, f.kinds = append(f.parents, e.Parent), append(f.kinds, kind)
}

func roleOf(e sessions.Entry, kind forkKind) forkKind {
	var m sessions.Message
	if kind == forkBeside || json.Unmarshal(e.Payload, &m) != nil {
		return kind
	}
	switch {
	case m.Role == sessions.RoleUser:
		return forkUser
	case m.EndsTurn():
		return forkAnswer
	}
	return kind
}

// targetOf is the entry that a label or a change is of, 0 where there is none.
func targetOf(e sessions.Entry) int64 {
	label, _ := sessions.PayloadAs[sessions.Label](e)
	target, err := sessions.ParseEntryID(label.TargetID)
	if err != nil {
		return 0
	}
	return target
}

// choose finds the path, what moves along with it, and the place of each.
func (f *fork) choose() error {
	for seq := f.request.Leaf; seq != 0; seq = f.parents[f.at(seq)] {
		if !f.known(seq) || f.kinds[f.at(seq)] == forkBeside {
			return fmt.Errorf("entry %s: %w", sessions.EntryID(seq), sessions.ErrNotFound)
		}
		if len(f.path) > len(f.parents) {
			return &sessions.InvalidError{What: "log", Why: sessions.EntryID(seq) + " is its own ancestor"}
		}
		f.path = append(f.path, seq)
	}
	slices.Reverse(f.path)
	f.places = make([]int64, len(f.parents))
	for _, seq := range f.path {
		f.places[f.at(seq)] = -1 // on the path, its place still to be found
	}
	f.leaveOut()
	for i, seq := range f.path {
		f.places[f.at(seq)] = int64(i) + 1
		f.tally(seq)
	}
	f.moveAlong()
	return nil
}

func (f *fork) tally(seq int64) {
	switch f.kinds[f.at(seq)] {
	case forkUser:
		f.counts.MessageCount++
	case forkAnswer:
		f.counts.TurnCount++
	case forkBeside, forkPlain:
	}
}

func (f *fork) placed(seq int64) bool { return f.known(seq) && f.places[f.at(seq)] != 0 }

// leaveOut takes labels of other branches' entries off the path.
func (f *fork) leaveOut() {
	kept := f.path[:0]
	for _, seq := range f.path {
		target, label := f.given[seq]
		switch {
		case label && f.placed(target):
			f.own[target] = seq
		case label:
			f.places[f.at(seq)] = 0
			continue
		}
		kept = append(kept, seq)
	}
	f.path = kept
}

// moveAlong finds what is written behind the path: labels that were given
// elsewhere, and changes.
func (f *fork) moveAlong() {
	for _, target := range slices.Sorted(maps.Keys(f.labels)) {
		label := f.labels[target]
		read, _ := sessions.PayloadAs[sessions.Label](label)
		if f.placed(target) && f.own[target] != label.Seq && (read.Label != "" || f.own[target] != 0) {
			f.extra = append(f.extra, label)
		}
	}
	slices.SortFunc(f.extra, func(a, b sessions.Entry) int { return cmp.Compare(a.Seq, b.Seq) })
	for _, e := range f.changes {
		if f.placed(targetOf(e)) {
			f.extra = append(f.extra, e)
		}
	}
}

func (f *fork) record() (sessions.Record, error) {
	from, now := f.request.From, milli(f.request.Now)
	r := sessions.Record{ID: f.request.ID, Source: from.Source, UserID: from.UserID, WorkspaceID: from.WorkspaceID, State: sessions.StateCreated,
		CreatedAt: now, LastActivityAt: now, Participants: slices.Clone(from.Participants), Metadata: from.Metadata,
		MessageCount: f.counts.MessageCount, TurnCount: f.counts.TurnCount, Name: from.Name, WorkingMemory: from.WorkingMemory,
		Agent: from.Agent, ParentSession: from.ID}
	if f.request.UserID != "" {
		r.UserID, r.Participants = f.request.UserID, f.request.Participants
	}
	if len(f.path) > 0 {
		r.State, r.Description, r.DescriptionSource = sessions.StateActive, from.Description, from.DescriptionSource
		r.Leaf = int64(len(f.path))
		for _, e := range f.extra {
			if e.Type.InTree() {
				r.Leaf++
			}
		}
	}
	if f.request.Leaf == from.Leaf {
		r.Preview, r.ContextTokens = from.Preview, from.ContextTokens
		return r, sessions.CheckImport(r)
	}
	r.WorkingMemory = "" // of what came later, too
	if r.DescriptionSource == sessions.DescriptionAgent {
		r.Description, r.DescriptionSource = "", ""
	}
	preview, err := f.preview()
	r.Preview = preview
	return r, cmp.Or(err, sessions.CheckImport(r))
}

// preview is of the newest message of a person on the path.
func (f *fork) preview() (string, error) {
	for _, seq := range slices.Backward(f.path) {
		if f.kinds[f.at(seq)] != forkUser {
			continue
		}
		entries, err := f.log.Range(f.ctx, f.request.From.ID, seq, seq)
		if err != nil || len(entries) == 0 {
			return "", err
		}
		m, err := entries[0].Message()
		return sessions.PreviewOf(m.Text), err
	}
	return "", nil
}

// entries gives the entries of the fork.
func (f *fork) entries(yield func(sessions.Entry, error) bool) {
	seq, tree := int64(0), int64(0)
	for e, err := range f.read() {
		if err != nil {
			yield(sessions.Entry{}, err)
			return
		}
		seq++
		out := sessions.Entry{Seq: seq, Type: e.Type, Time: e.Time, Payload: f.renumbered(e)}
		if e.Type.InTree() {
			out.Parent, tree = tree, seq
		}
		if !yield(out, nil) {
			return
		}
	}
}

// read gives the entries of the path as they are in the log, and the extra
// ones.
func (f *fork) read() iter.Seq2[sessions.Entry, error] {
	return func(yield func(sessions.Entry, error) bool) {
		var page []sessions.Entry
		for _, seq := range f.path {
			i, found := slices.BinarySearchFunc(page, seq, bySeq)
			if !found {
				var err error
				if page, err = f.log.Range(f.ctx, f.request.From.ID, seq, seq+exportPage-1); err != nil {
					yield(sessions.Entry{}, err)
					return
				}
				if i, found = slices.BinarySearchFunc(page, seq, bySeq); !found {
					yield(sessions.Entry{}, errCleared)
					return
				}
			}
			if !yield(page[i], nil) {
				return
			}
		}
		for _, e := range f.extra {
			if !yield(e, nil) {
				return
			}
		}
	}
}

func bySeq(e sessions.Entry, seq int64) int { return cmp.Compare(e.Seq, seq) }

// renumbered is the payload with the fork's numbers in its references.
func (f *fork) renumbered(e sessions.Entry) json.RawMessage {
	if e.Type == sessions.EntryMessage {
		return e.Payload
	}
	fields, err := fieldsOf(e.Payload, inlineMax)
	if err != nil {
		return e.Payload
	}
	changed := false
	for i, field := range fields {
		if !reference(e.Type, field.name) {
			continue
		}
		changed = true
		fields[i].value = json.RawMessage("null")
		id, _ := idOf(field.value) // what is no id refers to nothing
		if seq, err := sessions.ParseEntryID(id); err == nil && f.placed(seq) {
			fields[i].value = json.RawMessage(strconv.Quote(sessions.EntryID(f.places[f.at(seq)])))
		}
	}
	if !changed {
		return e.Payload
	}
	return objectOf(fields)
}
