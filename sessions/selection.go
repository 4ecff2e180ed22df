package sessions

import (
	"slices"
	"unicode/utf8"
)

// What a model reads of a branch at most.
const (
	HistoryMessages  = 20   // messages before the present ones, tool units whole
	HistoryExchanges = 3    // the newest exchanges are whole, even above HistoryMessages
	UnheardLines     = 50   // lines of one block of logged-only messages
	UnheardChars     = 8000 // characters of such a block
)

// Block is a piece of a branch that is shown to a model whole or not at all: one message, a tool
// call with its results, or a run of messages that were only logged.
type Block struct {
	Lines []Line
	// Unheard: people talked among themselves; the lines are one message to
	// the model.
	Unheard bool
}

// messages is what a block counts as against HistoryMessages.
func (b Block) messages() int {
	if b.Unheard {
		return 1
	}
	return len(b.Lines)
}

func (b Block) triggers() bool {
	return len(b.Lines) == 1 && b.Lines[0].Message.Role == RoleUser && !b.Unheard
}

// Selection is what a turn's model reads of the branch, oldest first.
type Selection struct {
	History []Block // what was said before the last answer
	Unheard []Line  // what was only logged since, the newest lines
	Present []Block // the messages to be answered, and what this turn did already
}

// Select chooses from a path (root to leaf, or its end) what a model reads for
// the turn that answers the entry present and those after it on the path.
// Entries that are no messages are passed over.
//
// The newest UnheardLines lines or UnheardChars characters of what was logged
// since the last turn stand apart from the history, whose newest
// HistoryMessages messages are taken; the newest HistoryExchanges exchanges are
// whole. enough is false when a longer path could change the selection.
func Select(path []Line, present int64) (selected Selection, enough bool) {
	lines := messages(path)
	at := slices.IndexFunc(lines, func(l Line) bool { return l.Entry.Seq == present })
	if at < 0 {
		return Selection{Present: blocks(lines)}, false
	}
	past := blocks(lines[:at])
	selected.Present = blocks(lines[at:])
	if last := len(past) - 1; last >= 0 && past[last].Unheard {
		selected.Unheard = newestLines(past[last].Lines)
		past = past[:last]
	}
	selected.History = newestBlocks(past)
	// The oldest block may be torn by the end of what was read: it must not be
	// among the chosen.
	return selected, len(past) > 1 && len(selected.History) < len(past)
}

// messages is path without the entries that are none; path itself where all are.
func messages(path []Line) []Line {
	other := func(line Line) bool { return line.Message == nil }
	if !slices.ContainsFunc(path, other) {
		return path
	}
	return slices.DeleteFunc(slices.Clone(path), other)
}

// blocks groups lines so that what belongs together cannot be torn apart. A
// tool result that follows no call is left out: its call is beyond the end of
// what was read, or missing.
func blocks(lines []Line) []Block {
	out := make([]Block, 0, len(lines))
	for i, line := range lines {
		unheard := line.Message.Role == RoleUser && !line.Message.Triggered
		if last := len(out) - 1; last >= 0 && joins(out[last], line, unheard) {
			out[last].Lines = append(out[last].Lines, line)
			continue
		}
		if line.Message.Role != RoleTool {
			out = append(out, Block{Lines: lines[i : i+1 : i+1], Unheard: unheard})
		}
	}
	return out
}

func joins(block Block, line Line, unheard bool) bool {
	if block.Unheard || unheard {
		return block.Unheard && unheard
	}
	return line.Message.Role == RoleTool && len(block.Lines[0].Message.ToolCalls) > 0
}

// newestLines keeps the newest lines within UnheardLines and UnheardChars; the
// newest one is always kept.
func newestLines(lines []Line) []Line {
	from, chars := len(lines), 0
	for from > 0 && len(lines)-from < UnheardLines {
		size := utf8.RuneCountInString(lines[from-1].Message.Text)
		if from < len(lines) && chars+size > UnheardChars {
			break
		}
		chars += size
		from--
	}
	return lines[from:]
}

// newestBlocks keeps the newest blocks within HistoryMessages, and in any case
// the newest HistoryExchanges exchanges.
func newestBlocks(past []Block) []Block {
	from, count, exchanges := len(past), 0, 0
	for from > 0 {
		block := past[from-1]
		if exchanges >= HistoryExchanges && count+block.messages() > HistoryMessages {
			break
		}
		count += block.messages()
		from--
		// The messages of one turn stand next to each other: the first of
		// them begins the exchange.
		if block.triggers() && (from == 0 || !past[from-1].triggers()) {
			exchanges++
		}
	}
	out := slices.Clone(past[from:])
	for i := range out {
		if out[i].Unheard {
			out[i].Lines = newestLines(out[i].Lines)
		}
	}
	return out
}
