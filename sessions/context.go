package sessions

import "slices"

// Context is what a model is given of a branch.
type Context struct {
	ModelID       string // of the newest change on the branch; empty: as configured
	ThinkingLevel string // likewise
	// Compaction stands for what was before Lines; nil: nothing was compacted.
	// Its summary has a place of its own in the prompt: it is no line.
	Compaction *Compaction
	// Lines are what is read, oldest first: the tail that the compaction has
	// kept, and everything after it. All have a Message. That of a branch's
	// summary, and of a custom message for the model, is one that stands for
	// it, of RoleUser and Triggered; Entry.Type tells them apart.
	Lines []Line
}

// Rebuild makes the context out of a path (root to leaf, or its end, as
// [ReadBranch] gives it). Settings that changed before the path's first entry
// are known only from its compaction.
func Rebuild(path []Line) Context {
	var c Context
	at, kept := newestCompaction(path), int64(0)
	if at >= 0 {
		c.Compaction, kept = compactionOf(path[at].Entry)
		c.ModelID, c.ThinkingLevel = c.Compaction.ModelID, c.Compaction.ThinkingLevel
	}
	c.Lines = make([]Line, 0, len(path))
	reading := at < 0
	for i, line := range path {
		c.set(line.Entry)
		reading = reading || line.Entry.Seq == kept || i == at
		if told, ok := forModel(line); ok && reading {
			c.Lines = append(c.Lines, told)
		}
	}
	return c
}

// newestCompaction is its index, -1 where there is none.
func newestCompaction(path []Line) int {
	for i, line := range slices.Backward(path) {
		if line.Entry.Type == EntryCompaction {
			return i
		}
	}
	return -1
}

func compactionOf(e Entry) (c *Compaction, kept int64) {
	read, _ := PayloadAs[Compaction](e)
	kept, err := ParseEntryID(read.FirstKeptID)
	if err != nil {
		kept = 0
	}
	return &read, kept
}

func (c *Context) set(e Entry) {
	switch e.Type {
	case EntryModelChange:
		if change, ok := PayloadAs[ModelChange](e); ok {
			c.ModelID = change.ModelID
		}
	case EntryThinking:
		if change, ok := PayloadAs[ThinkingLevelChange](e); ok {
			c.ThinkingLevel = change.ThinkingLevel
		}
	}
}

// forModel is a line as a model reads it; false: it does not.
func forModel(line Line) (Line, bool) {
	text := ""
	switch line.Entry.Type {
	case EntryMessage:
		return line, line.Message != nil
	case EntryBranchSummary:
		summary, _ := PayloadAs[BranchSummary](line.Entry)
		text = summary.Summary
	case EntryCustomMessage:
		if custom, _ := PayloadAs[CustomMessage](line.Entry); custom.ForModel {
			text = custom.Text
		}
	}
	if text == "" {
		return line, false
	}
	line.Message = &Message{Role: RoleUser, Text: text, Triggered: true}
	return line, true
}
