package api

import (
	"context"
	"net/http"
	"strconv"

	"parley/sessions"
)

// Entries in one answer.
const (
	entriesDefault = 100
	entriesMax     = sessions.EntriesPerCall
	entriesBytes   = 8 << 20 // of payloads; an answer has more by what is read at a time
)

type entriesAnswer struct {
	Session string      `json:"session"`
	Entries []EntryView `json:"entries"` // by seq, or in the order of a path
	// After continues forwards: ask again with ?after=. 0: this was the end.
	After int64 `json:"after,omitempty"`
	// Before continues backwards: ask again with ?before=. 0: this was the beginning.
	Before int64 `json:"before,omitempty"`
	// Leaf continues a path towards the root: ask again with ?leaf=. Empty:
	// this was the beginning, or it is no path.
	Leaf   string `json:"leaf,omitempty"`
	Newest int64  `json:"newest"` // seq of the newest entry there is
	// Cleared: the entries up to this seq were erased. 0: none were.
	Cleared int64 `json:"cleared,omitempty"`
}

// getEntries answers with a page of the log: forwards from ?after= (default:
// the beginning), or the newest before ?before=; before=0 means the end. With
// ?leaf= it is the way from the root to that entry, on whatever branch it stands.
func (s *Server) getEntries(w http.ResponseWriter, r *http.Request) error {
	page, err := pageOf(r)
	if err != nil {
		return err
	}
	if r.URL.Query().Has("leaf") {
		return s.getPath(w, r, page.limit)
	}
	ctx, cancel := context.WithTimeout(r.Context(), storeTimeout)
	defer cancel()
	record, err := s.room.Get(ctx, callerOf(r).Caller, r.PathValue("id"))
	if err != nil {
		return err
	}
	answer := entriesAnswer{Session: record.ID, Newest: record.Seq, Cleared: record.Cleared, Entries: []EntryView{}}
	var entries []sessions.Entry
	if entries, answer.After, answer.Before, err = s.window(ctx, record, page); err != nil {
		return err
	}
	answer.Entries = s.views(entries, wantsHTML(r))
	return writeJSON(w, http.StatusOK, answer)
}

// getPath answers with the end of the way to an entry.
func (s *Server) getPath(w http.ResponseWriter, r *http.Request, limit int64) error {
	query := r.URL.Query()
	if query.Has("after") || query.Has("before") {
		return badRequest("Give either leaf, or after or before: a path goes on with the leaf of its answer.")
	}
	leaf, err := sessions.ParseEntryID(query.Get("leaf"))
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(r.Context(), storeTimeout)
	defer cancel()
	path, err := s.room.Path(ctx, callerOf(r).Caller, r.PathValue("id"), leaf, int(limit))
	if err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, entriesAnswer{Session: path.Record.ID, Entries: s.views(path.Entries, wantsHTML(r)),
		Leaf: sessions.EntryID(path.Before), Newest: path.Record.Seq, Cleared: path.Record.Cleared})
}

// window reads a page of a log, and says where it goes on. What was cleared is
// passed over, however much it was; a page of large entries ends early.
func (s *Server) window(ctx context.Context, record sessions.Record, page page) (entries []sessions.Entry, after, before int64, err error) {
	first := record.Cleared + 1
	from, to := page.bounds(first, record.Seq)
	read := s.readForwards
	if page.backwards {
		read = s.readBackwards
	}
	if entries, from, to, err = read(ctx, record.ID, from, to); err != nil {
		return nil, 0, 0, err
	}
	if page.backwards && from > first {
		before = from
	}
	if !page.backwards && to < record.Seq {
		after = to
	}
	return entries, after, before, nil
}

// readForwards reads from <= seq <= to, or only up to end.
func (s *Server) readForwards(ctx context.Context, session string, from, to int64) (entries []sessions.Entry, begin, end int64, err error) {
	size := 0
	for end = from - 1; end < to && size < entriesBytes; {
		upTo := min(to, end+streamPage)
		more, err := s.config.Store.Range(ctx, session, end+1, upTo)
		if err != nil {
			return nil, 0, 0, err
		}
		entries, size, end = append(entries, more...), size+sizeOf(more), upTo
	}
	return entries, from, end, nil
}

// readBackwards reads from <= seq <= to, or only from begin.
func (s *Server) readBackwards(ctx context.Context, session string, from, to int64) (entries []sessions.Entry, begin, end int64, err error) {
	size := 0
	for begin = to + 1; begin > from && size < entriesBytes; {
		downTo := max(from, begin-streamPage)
		more, err := s.config.Store.Range(ctx, session, downTo, begin-1)
		if err != nil {
			return nil, 0, 0, err
		}
		entries, size, begin = append(more, entries...), size+sizeOf(more), downTo
	}
	return entries, begin, to, nil
}

func sizeOf(entries []sessions.Entry) (size int) {
	for _, entry := range entries {
		size += len(entry.Payload)
	}
	return size
}

// page is a window on the log.
type page struct {
	backwards bool
	cursor    int64 // after or before; 0: from the end that is meant
	limit     int64 // 1 to entriesMax
}

// bounds are the first and last seq of the page in a log that goes from seq
// first to last; from is above to when the page is empty.
func (p page) bounds(first, last int64) (from, to int64) {
	if !p.backwards {
		from = max(min(p.cursor, last)+1, first)
		return from, min(last, from+p.limit-1)
	}
	to = last
	if p.cursor > 0 {
		to = min(last, p.cursor-1)
	}
	return max(first, to-p.limit+1), to
}

func pageOf(r *http.Request) (page, error) {
	query := r.URL.Query()
	if query.Has("after") && query.Has("before") {
		return page{}, badRequest("Give either after or before, not both.")
	}
	p := page{backwards: query.Has("before"), limit: entriesDefault}
	name := "after"
	if p.backwards {
		name = "before"
	}
	var err error
	if p.cursor, err = number(name, query.Get(name), 0); err != nil {
		return p, err
	}
	p.limit, err = number("limit", query.Get("limit"), entriesDefault)
	p.limit = min(max(p.limit, 1), entriesMax)
	return p, err
}

// number reads a decimal that is not negative.
func number(name, text string, missing int64) (int64, error) {
	if text == "" {
		return missing, nil
	}
	value, err := strconv.ParseInt(text, 10, 64)
	if err != nil || value < 0 {
		return 0, badRequest(name + " must be a number that is not negative.")
	}
	return value, nil
}
