package turns

import (
	"context"
	"slices"

	"parley/sessions"
)

// reachMax is how many entries of a branch are looked at for what stands above
// it: a compaction, a change of settings. In a session that was never
// compacted nothing is further up that history needs; a compaction that far up
// is not found.
const reachMax = 4 * sessions.TailMax

// reading is what a turn's model reads.
type reading struct {
	sessions.Selection
	summary string // of what was compacted away; empty: nothing was
}

// readLog selects what the model reads. Usually all of it is in the cache or came
// with the claim; else as much more of the log is read as is needed.
func (t *Turn) readLog(ctx context.Context, lines []sessions.Line) (reading, error) {
	known := t.runner.Cache.aboveOf(t.Lease.Session)
	first := t.Taken[0].Seq
	var rebuilt sessions.Context
	var selected sessions.Selection
	looked := -1 // how long the path was of which these two are
	look := func(path []sessions.Line) (enough bool) {
		rebuilt, looked = known.complete(path), len(path)
		selected, enough = sessions.Select(rebuilt.Lines, first)
		return enough
	}
	path, err := sessions.ReadBranch(ctx, t.runner.Store, sessions.BranchRequest{
		Session: t.Lease.Session, Leaf: t.Record.Leaf, Held: lines,
		Enough: func(end []sessions.Line) bool {
			return look(end) && (known.under(end) || len(end) >= reachMax)
		},
	})
	if err != nil {
		return reading{}, err
	}
	if len(path) != looked {
		look(path)
	}
	t.runner.Cache.setAbove(t.Lease.Session, aboveFrom(path, rebuilt))
	out := reading{Selection: selected}
	if rebuilt.Compaction != nil {
		out.summary = rebuilt.Compaction.Summary
	}
	return out, nil
}

// above is what stands above an entry on its branch, so that it need not be
// read again. Zero: nothing is known.
type above struct {
	seq        int64 // of the entry; what is known counts for whatever descends from it
	compaction *sessions.Compaction
}

// aboveMax bounds a summary that is kept in memory, in bytes.
const aboveMax = 64 << 10

// aboveFrom keeps what a branch turned out to be, for what comes behind it.
func aboveFrom(path []sessions.Line, rebuilt sessions.Context) above {
	if len(path) == 0 || rebuilt.Compaction != nil && len(rebuilt.Compaction.Summary) > aboveMax {
		return above{}
	}
	return above{seq: path[len(path)-1].Entry.Seq, compaction: rebuilt.Compaction}
}

// under reports whether the end of a branch comes from the entry.
func (a above) under(end []sessions.Line) bool {
	return a.seq != 0 && slices.ContainsFunc(end, func(line sessions.Line) bool { return line.Entry.Seq == a.seq })
}

// complete rebuilds the context of a branch of which the beginning may have
// been left out.
func (a above) complete(path []sessions.Line) sessions.Context {
	rebuilt := sessions.Rebuild(path)
	if rebuilt.Compaction == nil && a.under(path) {
		rebuilt.Compaction = a.compaction
	}
	return rebuilt
}
