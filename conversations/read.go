package conversations

import (
	"context"
	"io"
	"slices"

	"parley/routing"
	"parley/sessions"
	"parley/sessions/transcript"
	"parley/sessions/view"
)

// entry refuses an entry that has no place in a session's tree: NoEntry. The
// record is one that the caller may reach.
func (r *Room) entry(ctx context.Context, record sessions.Record, entry int64) error {
	if entry <= record.Cleared || entry > record.Seq || entry < 1 {
		return noEntry(entry)
	}
	entries, err := r.Store.Range(ctx, record.ID, entry, entry)
	if err != nil {
		return err
	}
	if len(entries) != 1 || entries[0].Waiting || !entries[0].Type.InTree() {
		return noEntry(entry)
	}
	return nil
}

// newest is the newest message of a session's branch. NoEntry: there is none.
// The record is one that the caller may reach.
func (r *Room) newest(ctx context.Context, record sessions.Record) (entry int64, err error) {
	message := func(path []sessions.Line) bool {
		for _, line := range path {
			if line.Message != nil {
				entry = line.Entry.Seq
			}
		}
		return entry != 0
	}
	path, err := sessions.ReadBranch(ctx, r.Store, sessions.BranchRequest{Session: record.ID, Leaf: record.Leaf, Enough: message})
	if err != nil {
		return 0, err
	}
	if message(path); entry == 0 {
		return 0, noEntry(0)
	}
	return entry, nil
}

// pathBytes bounds how much of a path is read at a time, in bytes of payload.
const pathBytes = 8 << 20

// Path is a part of the way from the root of a session's tree to an entry.
type Path struct {
	Record  sessions.Record
	Entries []sessions.Entry // the end of the way, oldest first
	Before  int64            // the entry that the rest of the way ends at; 0: this was the beginning
}

// Path reads the way to an entry of the tree, whatever branch it stands on: its
// end, at most limit entries. It begins at the root, or where the log was
// cleared. NoEntry.
func (r *Room) Path(ctx context.Context, by Caller, id string, to int64, limit int) (Path, error) {
	record, err := r.Get(ctx, by, id)
	if err != nil {
		return Path{}, err
	}
	if err := r.entry(ctx, record, to); err != nil {
		return Path{}, err
	}
	lines, err := sessions.ReadBranch(ctx, r.Store, sessions.BranchRequest{Session: record.ID, Leaf: to, Whole: true, Enough: func(end []sessions.Line) bool {
		size := 0
		for _, line := range end {
			size += sizeOf(line)
		}
		return len(end) >= limit || size >= pathBytes
	}})
	if err != nil {
		return Path{}, err
	}
	path := Path{Record: record}
	lines = lines[max(0, len(lines)-limit):]
	if len(lines) > 0 && lines[0].Entry.Parent > record.Cleared {
		path.Before = lines[0].Entry.Parent
	}
	path.Entries, err = r.whole(ctx, record.ID, lines)
	return path, err
}

func sizeOf(line sessions.Line) int {
	if line.Message == nil {
		return len(line.Entry.Payload)
	}
	return len(line.Message.Text)
}

// nearby is how far apart two entries may stand that are read at once.
const nearby = 16

// whole reads the entries that lines were made of, in their order.
func (r *Room) whole(ctx context.Context, session string, lines []sessions.Line) ([]sessions.Entry, error) {
	seqs := make([]int64, len(lines))
	for i, line := range lines {
		seqs[i] = line.Entry.Seq
	}
	slices.Sort(seqs)
	read := map[int64]sessions.Entry{}
	for len(seqs) > 0 {
		n := 1
		for n < len(seqs) && seqs[n]-seqs[n-1] <= nearby && seqs[n]-seqs[0] < sessions.EntriesPerCall {
			n++
		}
		entries, err := r.Store.Range(ctx, session, seqs[0], seqs[n-1])
		if err != nil {
			return nil, err
		}
		for _, entry := range entries {
			read[entry.Seq] = entry
		}
		seqs = seqs[n:]
	}
	var out []sessions.Entry
	for _, line := range lines {
		if entry, found := read[line.Entry.Seq]; found { // else it was cleared meanwhile
			out = append(out, entry)
		}
	}
	return out, nil
}

// Tree reads the newest part of a session's tree: at most limit entries, and
// never more than view.TreeMax.
func (r *Room) Tree(ctx context.Context, by Caller, id string, limit int) (view.Tree, error) {
	record, err := r.Get(ctx, by, id)
	if err != nil {
		return view.Tree{}, err
	}
	return view.ReadTree(ctx, r.Store, record, min(limit, view.TreeMax), shown(record))
}

// shown gives a model's text in a session as people may see it.
func shown(record sessions.Record) func(text string) (shown string, silent bool) {
	group := record.Source.Type == sessions.Group
	return func(text string) (string, bool) {
		visible, silent, _ := routing.StripReply(text, group)
		return visible, silent
	}
}

// Feed is what people watch of a session's newest entries, at most limit of
// them.
func (r *Room) Feed(ctx context.Context, by Caller, id string, limit int) ([]view.FeedItem, error) {
	record, err := r.Get(ctx, by, id)
	if err != nil {
		return nil, err
	}
	entries, err := r.Store.Range(ctx, record.ID, max(record.Cleared, record.Seq-int64(limit))+1, record.Seq)
	items := []view.FeedItem{}
	for _, entry := range entries {
		items = append(items, view.Feed(entry, shown(record))...)
	}
	return items, err
}

// Export writes a session as a transcript. After the first byte an error leaves
// a part of it written.
func (r *Room) Export(ctx context.Context, by Caller, id string, w io.Writer) error {
	record, err := r.Get(ctx, by, id)
	if err != nil {
		return err
	}
	return transcript.Write(ctx, w, r.Store, record)
}

// Find lists sessions that the caller may reach. UserID and Participant may be
// any identity of the person. A caller with a namespace has to ask for a person
// or a surface of it: Forbidden. A page's Next names a session of the page.
func (r *Room) Find(ctx context.Context, by Caller, query sessions.Query) (sessions.Page, error) {
	if err := query.Check(); err != nil {
		return sessions.Page{}, err
	}
	if err := mayFind(by, query); err != nil {
		return sessions.Page{}, err
	}
	for _, id := range []*string{&query.UserID, &query.Participant} {
		if sessions.CheckIdentity(*id) != nil {
			continue
		}
		user, err := r.Store.Who(ctx, *id)
		if err != nil {
			return sessions.Page{}, err
		}
		*id = user.ID
	}
	if by.Owner && by.Namespace == "" {
		return r.Store.Find(ctx, query)
	}
	return r.reachable(ctx, by, query)
}

// reachable fills a page with what the caller may reach. What they may not
// reach shows nowhere, in the cursor neither.
func (r *Room) reachable(ctx context.Context, by Caller, query sessions.Query) (page sessions.Page, err error) {
	most := query.Most()
	query.Limit = sessions.ListMax
	for {
		found, err := r.Store.Find(ctx, query)
		if err != nil {
			return sessions.Page{}, err
		}
		for _, record := range found.Records {
			if sessions.Reach(record, by.Caller) != nil {
				continue
			}
			if len(page.Records) == most {
				page.Next = page.Records[most-1].Position().Cursor()
				return page, nil
			}
			page.Records = append(page.Records, record)
		}
		if found.Next == "" {
			return page, nil
		}
		query.Cursor = found.Next
	}
}

func mayFind(by Caller, query sessions.Query) error {
	if by.Namespace == "" || by.User.ID != "" && by.User.Is(query.Participant) {
		return nil
	}
	named := []string{query.UserID, query.Participant, query.Surface}
	if slices.ContainsFunc(named, func(name string) bool { return mayName(by, name) == nil }) {
		return nil
	}
	return refuse(Forbidden, "This token lists the sessions of one person or place at a time: give participant, user or surface, beginning with "+by.Namespace+":.", nil)
}
