package sessions

import "slices"

// Line is an entry as the reader of a branch needs it.
type Line struct {
	Entry   Entry    // of a message: without its payload
	Message *Message // nil: the entry is no message, or cannot be read
}

// Lines decodes entries, once for as often as they are read.
func Lines(entries []Entry) []Line {
	out := make([]Line, len(entries))
	for i, entry := range entries {
		out[i].Entry = entry
		if entry.Type != EntryMessage {
			continue
		}
		if m, err := entry.Message(); err == nil {
			out[i].Entry.Payload, out[i].Message = nil, &m
		}
	}
	return out
}

// Branch follows the parents from leaf towards the root, through lines that
// are given (in any order). It returns the path oldest first. missing is the seq
// of the first parent that is not among the lines, 0 when the path reaches
// the root: read around missing and call again with more.
func Branch(lines []Line, leaf int64) (path []Line, missing int64) {
	bySeq := make(map[int64]int, len(lines))
	for i := range lines {
		bySeq[lines[i].Entry.Seq] = i
	}
	for seq := leaf; seq != 0; {
		i, found := bySeq[seq]
		if !found {
			missing = seq
			break
		}
		// A message that had to wait may have a parent that is younger by
		// seq. Only a broken log has a cycle; it must not hang the turn.
		if len(path) == len(lines) {
			break
		}
		path = append(path, lines[i])
		seq = lines[i].Entry.Parent
	}
	slices.Reverse(path)
	return path, missing
}
