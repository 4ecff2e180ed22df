package sessions

import (
	"context"
	"slices"
)

// heldBytes bounds what a branch's reader holds of entries that were read and
// are not on the branch so far, in bytes of payload. Beyond it they are thrown
// away, and read again if the branch needs them after all.
const heldBytes = 16 << 20

// BranchRequest says which branch to read, and how far. See [ReadBranch].
type BranchRequest struct {
	Session string
	Leaf    int64 // where the branch ends; 0: it is empty
	// Held are lines the caller has already, in any order. They are not read
	// again.
	Held []Line
	// Whole reads what a compaction has closed off too.
	Whole bool
	// Enough is asked before more is read from the log, with the end of the
	// branch that is there, oldest first: true ends the reading. Nil: never.
	Enough func(end []Line) bool
}

// ReadBranch follows the parents from a leaf towards the root, and returns the
// path oldest first. It ends at the root, at the first entry that the newest
// compaction of the branch has kept (with Whole it goes on), or where the log
// was cleared. The log is read backwards, a page at a time; how many entries
// are read depends on the length of the path, not of the log, where the path
// stands together by seq.
func ReadBranch(ctx context.Context, log Log, request BranchRequest) ([]Line, error) {
	r := branchReader{
		request: request, log: log, pages: map[int64]Entry{}, page: TailMax,
		held: make(map[int64]int, len(request.Held)), newest: make([]Line, 0, len(request.Held)),
	}
	for i := range request.Held {
		r.held[request.Held[i].Entry.Seq] = i
		r.note(request.Held[i].Entry)
	}
	if err := r.follow(ctx); err != nil {
		return nil, err
	}
	return r.path(), nil
}

// onPath stands in branchReader.held for an entry that is on the path.
const onPath = -1

type branchReader struct {
	request BranchRequest
	log     Log
	held    map[int64]int    // seq → index in request.Held, or onPath
	pages   map[int64]Entry  // read, and not on the path so far
	bytes   int              // of their payloads
	edits   map[int64]edited // by the seq of the message; nil: none was met
	page    int64            // how many entries the next reading asks for
	newest  []Line           // the path so far, newest first
	oldest  []Line           // the path when it was last asked for, oldest first
}

// edited is an edit and where it stands.
type edited struct {
	Edit
	seq int64
}

// note keeps an edit; of several of one message, the newest.
func (r *branchReader) note(e Entry) {
	if e.Type != EntryEdit {
		return
	}
	edit, ok := PayloadAs[Edit](e)
	target, err := ParseEntryID(edit.TargetID)
	if !ok || err != nil || r.edits[target].seq > e.Seq {
		return
	}
	if r.edits == nil {
		r.edits = map[int64]edited{}
	}
	r.edits[target] = edited{edit, e.Seq}
}

// edit is a line as its newest edit reads. Others' copies stay as they are.
func (r *branchReader) edit(line Line) Line {
	edit, found := r.edits[line.Entry.Seq]
	if !found || line.Message == nil || len(edit.Attachments) == 0 {
		return line
	}
	m := *line.Message
	m.Attachments = edit.Attachments
	line.Message = &m
	return line
}

// path is the path so far, oldest first. What it returns never changes.
func (r *branchReader) path() []Line {
	if len(r.oldest) != len(r.newest) {
		r.oldest = slices.Clone(r.newest)
		slices.Reverse(r.oldest)
	}
	return r.oldest
}

// follow walks until the path is over. Only a broken log has a cycle; it must
// not hang anybody.
func (r *branchReader) follow(ctx context.Context) error {
	compacted, kept := r.request.Whole, int64(0)
	for seq := r.request.Leaf; seq > 0; {
		if r.held[seq] == onPath {
			return nil
		}
		line, found, err := r.line(ctx, seq)
		if err != nil || !found {
			return err
		}
		r.held[seq] = onPath
		r.newest = append(r.newest, r.edit(line))
		if !compacted && line.Entry.Type == EntryCompaction {
			if kept, compacted = closedOff(line.Entry); kept == 0 && compacted {
				return nil
			}
		}
		if seq == kept {
			return nil
		}
		seq = line.Entry.Parent
	}
	return nil
}

// closedOff is the first entry a compaction has kept, 0 for none. Of one that
// cannot be read nothing is known to be closed off.
func closedOff(e Entry) (kept int64, ok bool) {
	c, ok := PayloadAs[Compaction](e)
	if !ok {
		return 0, false
	}
	kept, err := ParseEntryID(c.FirstKeptID)
	return kept, err == nil
}

// line is the line with a seq, from what is there or from the log.
func (r *branchReader) line(ctx context.Context, seq int64) (Line, bool, error) {
	if i, found := r.held[seq]; found {
		return r.request.Held[i], true, nil
	}
	entry, found := r.take(seq)
	if !found {
		if r.request.Enough != nil && r.request.Enough(r.path()) {
			return Line{}, false, nil
		}
		if err := r.read(ctx, seq); err != nil {
			return Line{}, false, err
		}
		entry, found = r.take(seq)
	}
	if !found {
		return Line{}, false, nil // cleared away
	}
	return Lines([]Entry{entry})[0], true, nil
}

func (r *branchReader) take(seq int64) (Entry, bool) {
	entry, found := r.pages[seq]
	if found {
		delete(r.pages, seq)
		r.bytes -= len(entry.Payload)
	}
	return entry, found
}

// read reads a page of the log that ends with seq. The further the path goes,
// the larger the pages.
func (r *branchReader) read(ctx context.Context, seq int64) error {
	entries, err := r.log.Range(ctx, r.request.Session, max(1, seq-r.page+1), seq)
	if err != nil {
		return err
	}
	r.page = min(2*r.page, EntriesPerCall)
	if r.bytes > heldBytes {
		clear(r.pages)
		r.bytes = 0
	}
	for _, entry := range entries {
		r.note(entry)
		if _, known := r.pages[entry.Seq]; !known && entry.Type.InTree() {
			r.pages[entry.Seq] = entry
			r.bytes += len(entry.Payload)
		}
	}
	return nil
}
