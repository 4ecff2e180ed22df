package turns

import (
	"cmp"
	"container/list"
	"slices"
	"sync"

	"parley/sessions"
)

// Bounds of the cache: sessions, and of each its entries and their bytes.
const (
	cacheSessions = 256
	cacheEntries  = 64
	cacheBytes    = 256 << 10
)

// Cache keeps the ends of the logs of recently active sessions, so that the
// store need not send again what this process has seen. It holds, per session,
// entries without gaps by seq, none of which can change any more.
type Cache struct {
	mu      sync.Mutex
	order   *list.List // of *tail, the most recently used first
	bySess  map[string]*list.Element
	current map[string]string // surface → the session it was last seen with
	maxSess int
}

type tail struct {
	session string
	lines   []sessions.Line
	above   above
}

func newCache(limit int) *Cache {
	return &Cache{order: list.New(), bySess: map[string]*list.Element{}, current: map[string]string{}, maxSess: limit}
}

// KnownOf says what is held of the session that a surface was last seen with.
func (c *Cache) KnownOf(surface string) sessions.Known {
	c.mu.Lock()
	session := c.current[surface]
	c.mu.Unlock()
	return c.Known(session)
}

// Moved notes that a surface has another session.
func (c *Cache) Moved(surface, session string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, found := c.current[surface]; found {
		c.current[surface] = session
	}
}

// Known says what of a session is held.
func (c *Cache) Known(session string) sessions.Known {
	c.mu.Lock()
	defer c.mu.Unlock()
	element, found := c.bySess[session]
	if !found {
		return sessions.Known{}
	}
	lines := element.Value.(*tail).lines
	if len(lines) == 0 {
		return sessions.Known{}
	}
	return sessions.Known{Session: session, Seq: lines[len(lines)-1].Entry.Seq}
}

// join puts a claim's entries behind what is held, and between them what the
// caller wrote since, and returns all of it by seq. What is kept ends before
// the first entry that waits, since that one will still change.
func (c *Cache) join(turn *sessions.Turn, surface string, written []sessions.Entry) []sessions.Line {
	news := sessions.Lines(inOrder(written, turn.Taken, turn.Tail))
	c.mu.Lock()
	defer c.mu.Unlock()
	var held []sessions.Line
	if element, found := c.bySess[turn.Lease.Session]; found && turn.TailFrom != 0 {
		held = upTo(element.Value.(*tail).lines, turn.TailFrom)
	}
	all := mergeLines(held, news)
	c.keep(turn.Lease.Session, contiguous(all))
	if surface != "" {
		if len(c.current) >= 2*c.maxSess {
			clear(c.current)
		}
		c.current[surface] = turn.Lease.Session
	}
	return all
}

// add puts entries just written behind what is held, if they continue it.
func (c *Cache) add(session string, entries []sessions.Entry) {
	if len(entries) == 0 {
		return
	}
	news := sessions.Lines(entries)
	c.mu.Lock()
	defer c.mu.Unlock()
	element, found := c.bySess[session]
	if !found {
		return
	}
	held := element.Value.(*tail).lines
	if len(held) == 0 || held[len(held)-1].Entry.Seq+1 != news[0].Entry.Seq {
		return
	}
	c.keep(session, contiguous(mergeLines(held, news)))
}

// aboveOf is what was last found above a branch of a session.
func (c *Cache) aboveOf(session string) above {
	c.mu.Lock()
	defer c.mu.Unlock()
	if element, found := c.bySess[session]; found {
		return element.Value.(*tail).above
	}
	return above{}
}

func (c *Cache) setAbove(session string, found above) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if element, held := c.bySess[session]; held {
		element.Value.(*tail).above = found
	}
}

// Drop forgets a session.
func (c *Cache) Drop(session string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if element, found := c.bySess[session]; found {
		c.order.Remove(element)
		delete(c.bySess, session)
	}
}

// keep stores lines; the slice is never changed afterwards.
func (c *Cache) keep(session string, lines []sessions.Line) {
	lines = newest(lines)
	if element, found := c.bySess[session]; found {
		element.Value.(*tail).lines = lines
		c.order.MoveToFront(element)
		return
	}
	c.bySess[session] = c.order.PushFront(&tail{session: session, lines: lines})
	for c.order.Len() > c.maxSess {
		oldest := c.order.Back()
		c.order.Remove(oldest)
		delete(c.bySess, oldest.Value.(*tail).session)
	}
}

// newest is the end of lines that the bounds allow. Long lines that are left
// out are freed.
func newest(lines []sessions.Line) []sessions.Line {
	from, bytes := len(lines), 0
	for from > 0 && len(lines)-from < cacheEntries {
		if bytes += size(lines[from-1]); bytes > cacheBytes {
			return slices.Clone(lines[from:])
		}
		from--
	}
	return lines[from:]
}

// size is about how many bytes a line holds.
func size(line sessions.Line) int {
	bytes := len(line.Entry.Payload)
	if m := line.Message; m != nil {
		bytes += len(m.Text)
		for _, call := range m.ToolCalls {
			bytes += len(call.Arguments)
		}
	}
	return bytes
}

// inOrder merges entries by seq, each once; of two with one seq the later list's.
func inOrder(lists ...[]sessions.Entry) []sessions.Entry {
	all := slices.Concat(lists...)
	slices.SortStableFunc(all, func(a, b sessions.Entry) int { return cmp.Compare(a.Seq, b.Seq) })
	out := all[:0]
	for _, entry := range all {
		if last := len(out) - 1; last >= 0 && out[last].Seq == entry.Seq {
			out[last] = entry
			continue
		}
		out = append(out, entry)
	}
	return out
}

// mergeLines puts news into held, both by seq; of two with one seq the new one.
// The result shares nothing with held, which readers may still have.
func mergeLines(held, news []sessions.Line) []sessions.Line {
	out := make([]sessions.Line, 0, len(held)+len(news))
	for len(held) > 0 && len(news) > 0 {
		switch h, n := held[0].Entry.Seq, news[0].Entry.Seq; {
		case h < n:
			out, held = append(out, held[0]), held[1:]
		case h > n:
			out, news = append(out, news[0]), news[1:]
		default:
			held = held[1:]
		}
	}
	return append(append(out, held...), news...)
}

// upTo is the part of lines (ascending) with seq <= last.
func upTo(lines []sessions.Line, last int64) []sessions.Line {
	for len(lines) > 0 && lines[len(lines)-1].Entry.Seq > last {
		lines = lines[:len(lines)-1]
	}
	return lines
}

// contiguous is the longest beginning of lines that has no waiting entry and no
// gap.
func contiguous(lines []sessions.Line) []sessions.Line {
	for i := range lines {
		if lines[i].Entry.Waiting || i > 0 && lines[i].Entry.Seq != lines[i-1].Entry.Seq+1 {
			return lines[:i:i]
		}
	}
	return lines
}
