package bot

import (
	"context"
	"errors"
	"strings"
	"time"
	"unicode"

	"parley/routing"
	"parley/sessions"
)

// Limits of what these commands take and show.
const (
	nameMax     = 80  // runes
	labelMax    = 200 // bytes
	treeWidth   = 40  // runes: a phone's screen
	treeLines   = 24
	treeNodes   = 200
	forkMax     = 20_000 // entries: more take longer than a chat should wait
	beforeFirst = "start"
)

// here gives the session that a command is about, or the answer that there is
// none to be changed.
func (b *Bot) here(ctx context.Context, a arrival) (record sessions.Record, answer string, err error) {
	record, err = b.current(ctx, a)
	switch {
	case errors.Is(err, sessions.ErrNotFound):
		return record, noSessionText(a.event.Surface), nil
	case err != nil:
		return record, "", err
	case record.State == sessions.StateExpired:
		return record, textEnded, nil
	}
	return record, "", nil
}

// write notes entries in a session, under the event's key. Its refusals are
// answers: said tells them from what was written.
func (b *Bot) write(ctx context.Context, a arrival, request sessions.NoteRequest) (said string, err error) {
	if a.key != "" {
		request.Key = a.key + ":note"
	}
	_, err = b.store.Note(ctx, request)
	state, refused := errors.AsType[*sessions.StateError](err)
	switch {
	case refused && state.State == sessions.StateExpired:
		return textEnded, nil
	case refused:
		return textStillRunning, nil
	case errors.Is(err, sessions.ErrNotFound):
		return textNoSuchEntry, nil
	}
	return "", err
}

// commandName names the session.
func (b *Bot) commandName(ctx context.Context, a arrival, _ *memory) (done, error) {
	record, answer, err := b.here(ctx, a)
	if err != nil || answer != "" {
		return done{Answer: answer}, err
	}
	name := a.decision.Command.Args
	switch {
	case name == "":
		return look(nameText(record.Name))
	case !fits(name, nameMax):
		return tell(textNameTooLong)
	}
	entry, err := sessions.NewNote(sessions.EntrySessionName, sessions.SessionName{Name: name})
	if err != nil {
		return done{}, err
	}
	said, err := b.write(ctx, a, sessions.NoteRequest{Session: record.ID, Entries: []sessions.NewEntry{entry}, Patch: sessions.Patch{Name: &name}})
	if err != nil || said != "" {
		return done{Answer: said}, err
	}
	return tell(namedText(name, record.Name))
}

// fits: one line of so many runes, that shows.
func fits(text string, limit int) bool {
	return len([]rune(text)) <= limit && !strings.ContainsFunc(text, unicode.IsControl)
}

// commandLabel labels an entry, or the newest message.
func (b *Bot) commandLabel(ctx context.Context, a arrival, _ *memory) (done, error) {
	record, answer, err := b.here(ctx, a)
	if err != nil || answer != "" {
		return done{Answer: answer}, err
	}
	seq, label := entryAndText(a.decision.Command.Args)
	switch {
	case seq == 0 && label == "":
		return look(textLabelHow)
	case len(label) > labelMax || !fits(label, labelMax):
		return tell(textLabelTooLong)
	case seq == 0:
		if seq, err = b.newestMessage(ctx, record); err != nil {
			return done{}, err
		}
	}
	if found, err := b.inTree(ctx, record, seq); err != nil || !found {
		return done{Answer: textNoSuchEntry}, err
	}
	entry, err := sessions.NewNote(sessions.EntryLabel, sessions.Label{TargetID: sessions.EntryID(seq), Label: label})
	if err != nil {
		return done{}, err
	}
	said, err := b.write(ctx, a, sessions.NoteRequest{Session: record.ID, Entries: []sessions.NewEntry{entry}})
	if err != nil || said != "" {
		return done{Answer: said}, err
	}
	return tell(labelledText(seq, label))
}

// entryAndText splits "e12 some text": without an entry seq is 0.
func entryAndText(args string) (seq int64, text string) {
	head, rest, _ := strings.Cut(args, " ")
	if seq, ok := entryOf(head); ok {
		return seq, strings.TrimSpace(rest)
	}
	return 0, args
}

// entryOf reads an entry as people write it.
func entryOf(text string) (int64, bool) {
	seq, err := sessions.ParseEntryID(strings.ToLower(strings.Trim(text, "`")))
	return seq, err == nil && seq > 0
}

// newestMessage is the newest one of the branch, 0 where there is none.
func (b *Bot) newestMessage(ctx context.Context, record sessions.Record) (seq int64, err error) {
	message := func(path []sessions.Line) bool {
		for _, line := range path {
			if line.Message != nil {
				seq = line.Entry.Seq
			}
		}
		return seq != 0
	}
	path, err := sessions.ReadBranch(ctx, b.store, sessions.BranchRequest{Session: record.ID, Leaf: record.Leaf, Enough: message})
	message(path)
	return seq, err
}

// inTree reports whether an entry is there and has its place in the tree.
func (b *Bot) inTree(ctx context.Context, record sessions.Record, seq int64) (bool, error) {
	if seq <= record.Cleared || seq > record.Seq {
		return false, nil
	}
	entries, err := b.store.Range(ctx, record.ID, seq, seq)
	if err != nil || len(entries) != 1 {
		return false, err
	}
	return !entries[0].Waiting && entries[0].Type.InTree(), nil
}

// commandTree draws the session's tree.
func (b *Bot) commandTree(ctx context.Context, a arrival) (string, error) {
	record, err := b.current(ctx, a)
	if errors.Is(err, sessions.ErrNotFound) {
		return noSessionText(a.event.Surface), nil
	}
	if err != nil {
		return "", err
	}
	group := record.Source.Type == sessions.Group
	shown := func(text string) (string, bool) {
		visible, silent, _ := routing.StripReply(text, group)
		return visible, silent
	}
	tree, err := sessions.ReadTree(ctx, b.store, record, treeNodes, shown)
	if err != nil {
		return "", err
	}
	return treeText(tree.Draw(sessions.Drawing{Width: treeWidth, Lines: treeLines})), nil
}

// commandBranch moves the leaf.
func (b *Bot) commandBranch(ctx context.Context, a arrival, _ *memory) (done, error) {
	record, answer, err := b.here(ctx, a)
	if err != nil || answer != "" {
		return done{Answer: answer}, err
	}
	seq, ok := entryOf(a.decision.Command.Args)
	if !ok && a.decision.Command.Args != beforeFirst {
		return look(textBranchHow)
	}
	said, err := b.write(ctx, a, sessions.NoteRequest{Session: record.ID, Entries: []sessions.NewEntry{{Type: sessions.EntryLeaf, Target: seq}}})
	if err != nil || said != "" {
		return done{Answer: said}, err
	}
	return tell(branchedText(seq, record.Leaf))
}

// commandFork copies the session, up to an entry of it, and goes on in the
// copy.
func (b *Bot) commandFork(ctx context.Context, a arrival, _ *memory) (done, error) {
	record, err := b.current(ctx, a)
	if errors.Is(err, sessions.ErrNotFound) {
		return tell(noSessionText(a.event.Surface))
	}
	if err != nil {
		return done{}, err
	}
	leaf := record.Leaf
	if args := a.decision.Command.Args; args != "" {
		seq, ok := entryOf(args)
		if !ok && args != beforeFirst {
			return look(textForkHow)
		}
		leaf = seq
	}
	return b.goOnWithCopy(ctx, a, record, leaf)
}

// goOnWithCopy makes a copy of a session up to an entry, this surface's. Its id
// is drawn from the event's key: delivered again, it is the same.
func (b *Bot) goOnWithCopy(ctx context.Context, a arrival, from sessions.Record, leaf int64) (done, error) {
	switch {
	case from.Status == sessions.StatusRunning || from.Queued > 0:
		return tell(textStillRunning)
	case from.Seq-from.Cleared > forkMax:
		return tell(textForkTooLong)
	case from.Source.Type == sessions.Direct && !a.direct():
		return tell(textDirectInGroup)
	}
	transcript, err := sessions.Fork(ctx, b.store, sessions.ForkRequest{From: from, Leaf: leaf, ID: copyID(a, from), Now: time.Now()})
	if errors.Is(err, sessions.ErrNotFound) {
		return tell(textNoSuchEntry)
	}
	if err != nil {
		return done{}, err
	}
	copied := transcript.Record
	if _, err := b.store.Import(ctx, copied, transcript.Entries); err != nil && !errors.Is(err, sessions.ErrConflict) {
		return done{}, err
	}
	return b.attach(ctx, a, copied, func(string) string { return forkedText(from, leaf) })
}

// copyID is the id of the copy that an event makes.
func copyID(a arrival, from sessions.Record) string {
	prefix := sessions.ForkPrefix(from.ID, from.CreatedAt)
	if a.key == "" {
		return sessions.DrawID(prefix, nil)
	}
	return prefix + ending(a.key+" "+from.ID)
}

// commandClear erases the session's entries.
func (b *Bot) commandClear(ctx context.Context, a arrival, _ *memory) (done, error) {
	record, answer, err := b.here(ctx, a)
	if err != nil || answer != "" {
		return done{Answer: answer}, err
	}
	_, err = b.store.Clear(ctx, record.ID)
	if _, refused := errors.AsType[*sessions.StateError](err); refused {
		return tell(textStillRunning)
	}
	if err != nil {
		return done{}, err
	}
	b.tails.drop(record.ID)
	return tell(textCleared)
}
