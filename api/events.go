package api

import (
	"context"
	"errors"
	"net/http"
	"time"

	"parley/adapters"
	"parley/sessions"
	"parley/sessions/view"
)

// eventTimeout is how long one event may take to leave; a reader that is
// slower loses its connection, and continues where it was when it comes back.
const eventTimeout = 15 * time.Second

// A draft whose rendering takes longer than costlyRender rests for renderRest
// times as long before it is rendered again.
const (
	costlyRender = 50 * time.Millisecond
	renderRest   = 10
)

// streamPage is how many entries of a backlog are read at a time.
const streamPage = 100

// getEvents streams a session's log and life: first every entry after
// Last-Event-ID (or ?after=), then what happens. A named place (web:x) can be
// watched before its first message.
func (s *Server) getEvents(w http.ResponseWriter, r *http.Request) error {
	id := r.PathValue("id")
	if err := errors.Join(sessions.CheckID(id), callerOf(r).mayName(id)); err != nil {
		return err
	}
	after, err := resumeAt(r)
	if err != nil {
		return err
	}
	feed, err := flag(r.URL.Query(), "feed")
	if err != nil {
		return err
	}
	surface, named, err := readerAt(r, id)
	if err != nil {
		return err
	}
	if !s.streams.take(callerOf(r)) {
		return &problemError{Status: http.StatusServiceUnavailable, Code: "streams", RetryAfter: 5 * time.Second,
			Detail: "Too many event streams are open. Close some, and try again."}
	}
	defer s.streams.give(callerOf(r))
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	if r.Method == http.MethodHead {
		eventHead(w)
		return nil
	}
	st := &stream{server: s, who: callerOf(r), session: id, surface: surface, named: named, last: after, html: wantsHTML(r), feed: feed,
		out: w, control: http.NewResponseController(w)}
	return st.run(ctx)
}

// readerAt is the place whose moves a stream tells of: the reader's own, which
// may have another place's conversation before it. A reader that does not name
// one is where the session's id says.
func readerAt(r *http.Request, id string) (surface adapters.Surface, named bool, err error) {
	key := r.URL.Query().Get("surface")
	if key == "" {
		surface, named = localSurface(id)
		return surface, named, nil
	}
	if surface, err = surfaceOf(key); err == nil {
		err = callerOf(r).mayBind(surface)
	}
	return surface, true, err
}

// resumeAt is the seq after which a stream begins. The header is a browser's
// own memory of what it has seen, and newer than the address.
func resumeAt(r *http.Request) (int64, error) {
	if id := r.Header.Get("Last-Event-ID"); id != "" {
		return number("Last-Event-ID", id, 0)
	}
	return number("after", r.URL.Query().Get("after"), 0)
}

// stream is one reader's place in one session. One goroutine owns it.
type stream struct {
	server  *Server
	who     caller
	session string
	surface adapters.Surface // where the reader is; only if named
	named   bool
	html    bool
	feed    bool // entries carry their feed items
	out     http.ResponseWriter
	control *http.ResponseController

	last    int64     // seq of the last entry sent
	born    time.Time // when the session was made whose log this is; zero: not yet
	cleared int64     // up to where the reader knows that entries were erased
	hinted  int64     // highest seq whose hint was seen: drafts before that hint are old
	moved   string
	draft   draft
	rest    time.Duration    // how long rendering the draft has to pause
	late    <-chan time.Time // fires when the draft is to be rendered again; nil: nothing waits
}

// run subscribes first and reads the log after, so that nothing falls between;
// what comes twice is recognised by its seq.
func (st *stream) run(ctx context.Context) error {
	hints, err := st.server.config.Store.Watch(ctx, st.session)
	if err != nil {
		return err
	}
	record, err := st.begin(ctx)
	if err != nil {
		return err
	}
	eventHead(st.out)
	if err := st.start(ctx, record); err != nil {
		return st.over(ctx, err)
	}
	return st.over(ctx, st.follow(ctx, hints))
}

// begin reads the record before the answer's head is out, while an error can
// still be said with a status.
func (st *stream) begin(ctx context.Context) (sessions.Record, error) {
	if surface, named := localSurface(st.session); named && firstSession(st.session, surface) {
		return st.recordNow(ctx)
	}
	return st.server.room.Get(ctx, st.who.Caller, st.session)
}

// recordNow reads the record; of a session that is not there yet, or no more,
// it makes one.
func (st *stream) recordNow(ctx context.Context) (sessions.Record, error) {
	record, err := st.server.config.Store.Get(ctx, st.session)
	if errors.Is(err, sessions.ErrNotFound) {
		return sessions.Record{ID: st.session, State: sessions.StateCreated, Status: sessions.StatusIdle}, nil
	}
	return record, err
}

func eventHead(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("X-Accel-Buffering", "no") // proxies that buffer would hold events back
	w.WriteHeader(http.StatusOK)
}

// start sends what the reader has missed. A reader that claims to be ahead of
// the log has another log in mind: it is told, and set to the end.
func (st *stream) start(ctx context.Context, record sessions.Record) error {
	st.born = record.CreatedAt
	if st.last > record.Seq {
		if err := st.anew(record); err != nil {
			return err
		}
	}
	// Who stands at the last erased entry may not know that it was erased.
	if st.last > record.Cleared {
		st.cleared = record.Cleared
	}
	if err := st.show(ctx, record); err != nil {
		return err
	}
	st.hinted = st.last
	return st.soFar(record)
}

// soFar sends what is written already of the running turn's answer.
func (st *stream) soFar(record sessions.Record) error {
	if st.server.config.Drafts == nil || record.Status != sessions.StatusRunning {
		return nil
	}
	if text, known := st.server.config.Drafts.SoFar(st.session); known {
		return st.sendDraft(text)
	}
	return nil
}

// show brings the reader to what the record says: what is gone, the entries,
// the status after the entries that led to it, and where the place has moved.
func (st *stream) show(ctx context.Context, record sessions.Record) error {
	if err := st.update(ctx, record); err != nil {
		return err
	}
	if err := st.sendStatus(record); err != nil {
		return err
	}
	return st.checkMoved(ctx)
}

// update sends the entries up to the record's, and says what is there no more.
func (st *stream) update(ctx context.Context, record sessions.Record) error {
	switch {
	case !st.born.IsZero() && !st.born.Equal(record.CreatedAt):
		if err := st.anew(record); err != nil {
			return err
		}
	case record.Cleared > st.cleared:
		st.last = max(st.last, record.Cleared)
		if err := st.gap(record, gapCleared); err != nil {
			return err
		}
	}
	st.born, st.cleared = record.CreatedAt, record.Cleared
	return st.catchUp(ctx, record.Seq)
}

// anew sets the reader to the end of a log that is not the one it was reading.
func (st *stream) anew(record sessions.Record) error {
	st.last, st.cleared = record.Seq, record.Cleared
	return st.gap(record, gapAhead)
}

func (st *stream) gap(record sessions.Record, reason string) error {
	st.draft = draft{}
	return st.send(eventGap, gapJSON{Seq: st.last, Cleared: record.Cleared, Reason: reason})
}

// over ends a stream. Its head is out, so an error can only be logged; the
// reader comes back by itself.
func (st *stream) over(ctx context.Context, err error) error {
	if err != nil && ctx.Err() == nil {
		st.server.config.Logger.Debug("event stream cut", "session", st.session, "error", err)
	}
	return nil
}

func (st *stream) follow(ctx context.Context, hints <-chan sessions.LiveEvent) error {
	heartbeat := time.NewTicker(st.server.config.Heartbeat)
	defer heartbeat.Stop()
	for {
		var err error
		select {
		case <-st.server.ended:
			return nil
		case hint, open := <-hints:
			if !open {
				return ctx.Err()
			}
			err = st.take(ctx, hint)
		case <-st.late:
			st.late = nil
			if st.draft.text != "" {
				err = st.sendDelta(st.draft.delta())
			}
		case <-heartbeat.C:
			err = st.beat(ctx)
		}
		if err != nil {
			return err
		}
	}
}

// take acts on one hint. Hints only say where to look: entries come from the
// log, status from the record.
func (st *stream) take(ctx context.Context, hint sessions.LiveEvent) error {
	switch hint.Kind {
	case sessions.LiveEntries:
		st.hinted = max(st.hinted, hint.Seq)
		return st.catchUp(ctx, hint.Seq)
	case sessions.LiveDraft:
		return st.sendDraft(hint)
	case sessions.LiveStatus:
		return st.refresh(ctx)
	case sessions.LiveGap:
		return st.missed(ctx)
	}
	st.server.config.Logger.Warn("a hint of an unknown kind was dropped", "kind", string(hint.Kind))
	return nil
}

// beat keeps the connection alive, and makes up for hints that were lost.
func (st *stream) beat(ctx context.Context) error {
	if err := st.write([]byte(": still here\n\n")); err != nil {
		return err
	}
	record, err := st.recordNow(ctx)
	if err != nil {
		return err
	}
	if err := st.update(ctx, record); err != nil {
		return err
	}
	return st.checkMoved(ctx)
}

// catchUp sends every entry after the last one sent, up to seq. It holds few of
// them at a time, because one can be large.
func (st *stream) catchUp(ctx context.Context, seq int64) error {
	for st.last < seq {
		to := min(seq, st.last+streamPage)
		entries, err := st.server.config.Store.Range(ctx, st.session, st.last+1, to)
		if err != nil {
			return err
		}
		for _, entry := range entries {
			if err := st.sendEntry(entry); err != nil {
				return err
			}
		}
		st.last = to // what is missing was cleared
	}
	return nil
}

func (st *stream) sendEntry(entry sessions.Entry) error {
	shown, event := st.server.view(entry, st.html)
	if event == eventMessage || event == eventToolCall || entry.Type == sessions.EntryError {
		st.draft = draft{} // the page drops its draft by the same rule
	}
	if st.feed {
		shown.Feed = view.Feed(entry, st.server.config.Shown)
	}
	st.last = entry.Seq
	return st.sendID(event, entry.Seq, shown)
}

// refresh shows what the record says now.
func (st *stream) refresh(ctx context.Context) error {
	record, err := st.recordNow(ctx)
	if err != nil {
		return err
	}
	return st.show(ctx, record)
}

// missed makes up for hints that were lost because the reader was slow: the
// log has the entries, but drafts and passing states are gone.
func (st *stream) missed(ctx context.Context) error {
	record, err := st.recordNow(ctx)
	if err != nil {
		return err
	}
	if err := st.show(ctx, record); err != nil {
		return err
	}
	st.hinted = st.last
	if err := st.gap(record, gapSlow); err != nil {
		return err
	}
	return st.soFar(record)
}

type statusJSON struct {
	Session string          `json:"session"`
	State   sessions.State  `json:"state"`
	Status  sessions.Status `json:"status"`
	Queued  int             `json:"queued"`
	Cleared int64           `json:"cleared,omitempty"` // the entries up to this seq were erased
}

func (st *stream) sendStatus(record sessions.Record) error {
	if record.Status != sessions.StatusRunning {
		st.draft = draft{}
	}
	return st.send(eventStatus, statusJSON{Session: record.ID, State: record.State, Status: record.Status,
		Queued: record.Queued, Cleared: record.Cleared})
}

// Why a stream has a gap.
const (
	gapSlow    = "slow"    // drafts and passing states were missed, no entries
	gapCleared = "cleared" // entries were erased
	gapAhead   = "ahead"   // the reader's place is not in this log: read it anew
)

type gapJSON struct {
	Seq     int64  `json:"seq"`               // the stream goes on after this entry
	Cleared int64  `json:"cleared,omitempty"` // the entries up to this seq were erased
	Reason  string `json:"reason"`
}

type movedJSON struct {
	Session string `json:"session"`
}

// checkMoved tells the reader, once, that its place has another current
// session now, as after /new.
func (st *stream) checkMoved(ctx context.Context) error {
	if !st.named {
		return nil
	}
	current, err := st.server.currentSession(ctx, st.surface)
	if err != nil || current.ID == st.session || current.ID == st.moved {
		return err
	}
	st.moved = current.ID
	return st.send(eventMoved, movedJSON{Session: current.ID})
}

// sendDraft passes a piece of an answer on, unless the answer is in the log
// already and the piece was only late.
func (st *stream) sendDraft(hint sessions.LiveEvent) error {
	if st.hinted < st.last {
		return nil
	}
	delta, ok := st.draft.add(hint)
	if !ok {
		return nil
	}
	return st.sendDelta(delta)
}

// sendDelta renders the draft, where that is asked for. A draft that is costly
// to render is rendered less often, so that it never takes much of the machine.
func (st *stream) sendDelta(delta deltaJSON) error {
	if !st.html || st.late != nil {
		delta.From = len(st.draft.blocks)
		return st.send(eventDelta, delta)
	}
	if st.rest > 0 {
		st.late, st.rest = time.After(st.rest), 0
		return st.sendDelta(delta)
	}
	started := time.Now()
	delta.From, delta.Blocks = st.draft.changed(st.server.render)
	if took := time.Since(started); took > costlyRender {
		st.rest = renderRest * took
	}
	return st.send(eventDelta, delta)
}
