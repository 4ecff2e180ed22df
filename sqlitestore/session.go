package sqlitestore

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"parley/sessions"
)

// row is a session as the table sessions has it: what changes with every
// message, and the state of its turn.
type row struct {
	num                            int64
	id                             string
	state                          sessions.State
	status                         sessions.Status
	userID, workspaceID            string
	createdAt, activeAt, changedAt int64
	seq, leaf, epoch, version      int64
	messages, turns                int64
	preview                        string
	described                      bool
	queued, loggedWaiting          int
	readyAt                        int64
	taken, last                    string
	attempts                       int
	stop                           bool
	nonce                          string
	leaseUntil, settled            int64
	log, cleared, placed           int64
	kind                           sessions.Type
	was                            status // as it was read
	details                        *details
}

// status is what of a row has an effect elsewhere when it changes.
type status struct {
	state  sessions.State
	status sessions.Status
	seq    int64
	hour   int64
}

func (r *row) now() status { return status{r.state, r.status, r.seq, hourOf(r.activeAt)} }

// hourOf is the hour by which participants find a session.
func hourOf(millis int64) int64 { return millis / time.Hour.Milliseconds() }

// details is the rest of the record, as JSON in the table details.
type details struct {
	Source            sessions.Source            `json:"source"`
	Surfaces          []string                   `json:"surfaces,omitempty"`
	Metadata          map[string]any             `json:"metadata,omitempty"`
	Name              string                     `json:"name,omitempty"`
	Description       string                     `json:"description,omitempty"`
	DescriptionSource sessions.DescriptionSource `json:"description_source,omitempty"`
	WorkingMemory     string                     `json:"working_memory,omitempty"`
	Agent             string                     `json:"agent,omitempty"`
	ParentSession     string                     `json:"parent_session,omitempty"`
	ContextTokens     int64                      `json:"context_tokens,omitempty"`
	Checkpoint        sessions.Checkpoint        `json:"checkpoint,omitzero"`
}

const rowColumns = `s.num, s.id, s.state, s.status, s.user_id, s.workspace_id, s.created_at, s.active_at, s.changed_at,
	s.seq, s.leaf, s.epoch, s.version, s.messages, s.turns, s.preview, s.described, s.queued, s.logged_waiting, s.ready_at,
	s.taken, s.last, s.attempts, s.stop, s.nonce, s.lease_until, s.settled, s.log, s.cleared, s.placed, s.type`

func (r *row) columns() []any {
	return []any{
		&r.num, &r.id, &r.state, &r.status, &r.userID, &r.workspaceID, &r.createdAt, &r.activeAt, &r.changedAt,
		&r.seq, &r.leaf, &r.epoch, &r.version, &r.messages, &r.turns, &r.preview, &r.described, &r.queued, &r.loggedWaiting, &r.readyAt,
		&r.taken, &r.last, &r.attempts, &r.stop, &r.nonce, &r.leaseUntil, &r.settled,
		&r.log, &r.cleared, &r.placed, &r.kind,
	}
}

// find reads the row of a session; nil when there is none.
func (t *tx) find(id string) (*row, error) {
	return t.findBy("SELECT "+rowColumns+" FROM sessions s WHERE s.id = ?", id)
}

// findBound reads the row of a surface's current session; nil when there is none.
func (t *tx) findBound(surface string) (*row, error) {
	return t.findBy("SELECT "+rowColumns+" FROM bindings b JOIN sessions s ON s.num = b.session WHERE b.surface = ?", surface)
}

func (t *tx) findNum(num int64) (*row, error) {
	return t.findBy("SELECT "+rowColumns+" FROM sessions s WHERE s.num = ?", num)
}

func (t *tx) findBy(query string, arg any) (*row, error) {
	r := &row{}
	found, err := t.one(query, []any{arg}, r.columns())
	if err != nil || !found {
		return nil, err
	}
	r.was = r.now()
	return r, nil
}

// load is find for a session that has to be there.
func (t *tx) load(id string) (*row, error) {
	r, err := t.find(id)
	if err == nil && r == nil {
		err = sessions.ErrNotFound
	}
	return r, err
}

// save writes the row back with its next version, and hints what changed.
func (t *tx) save(r *row) error {
	r.version++
	due := r.due()
	_, err := t.exec(`UPDATE sessions SET state = ?, status = ?, user_id = ?, active_at = ?, changed_at = ?,
		seq = ?, leaf = ?, epoch = ?, version = ?, messages = ?, turns = ?, preview = ?, described = ?, queued = ?, logged_waiting = ?, ready_at = ?,
		taken = ?, last = ?, attempts = ?, stop = ?, nonce = ?, lease_until = ?, settled = ?, log = ?, cleared = ?, placed = ?, due_at = ? WHERE num = ?`,
		r.state, r.status, r.userID, r.activeAt, r.changedAt,
		r.seq, r.leaf, r.epoch, r.version, r.messages, r.turns, r.preview, r.described, r.queued, r.loggedWaiting, r.readyAt,
		r.taken, r.last, r.attempts, r.stop, r.nonce, r.leaseUntil, r.settled, r.log, r.cleared, r.placed, due, r.num)
	if err == nil && hourOf(r.activeAt) != r.was.hour {
		_, err = t.exec("UPDATE participants SET hour = ? WHERE session = ?", hourOf(r.activeAt), r.num)
	}
	if err != nil {
		return err
	}
	t.hint(r, due)
	return nil
}

// due is when there is a turn of this session to claim; not valid: never.
func (r *row) due() sql.NullInt64 {
	switch {
	case r.open():
		return sql.NullInt64{Int64: r.leaseUntil, Valid: true}
	case r.queued > 0:
		return sql.NullInt64{Int64: r.readyAt, Valid: true}
	}
	return sql.NullInt64{}
}

func (t *tx) hint(r *row, due sql.NullInt64) {
	if r.seq != r.was.seq {
		t.events = append(t.events, sessions.LiveEvent{Session: r.id, Kind: sessions.LiveEntries, Seq: r.seq})
	}
	if r.state != r.was.state || r.status != r.was.status {
		t.events = append(t.events, sessions.LiveEvent{Session: r.id, Kind: sessions.LiveStatus})
	}
	if due.Valid && due.Int64 <= t.now {
		t.wakes = append(t.wakes, sessions.WorkItem{Kind: sessions.WorkTurn, ID: r.id, Due: fromMillis(due.Int64)})
	}
	r.was = r.now()
}

// open reports whether a turn is open.
func (r *row) open() bool { return r.taken != "" }

// held reports whether lease is the present one of an open turn.
func (r *row) held(lease sessions.Lease) bool {
	return r != nil && r.open() && r.nonce != "" && r.nonce == lease.Nonce && r.epoch == lease.Epoch
}

func (r *row) setState(state sessions.State, now int64) {
	if r.state != state {
		r.state, r.changedAt = state, now
	}
}

// rest puts the status back that a session has when no turn of it runs.
func (r *row) rest() {
	r.status = sessions.StatusIdle
	if r.state == sessions.StateSuspended || r.state == sessions.StateExpired {
		r.status = sessions.StatusInactive
	}
}

// revive makes the session active because of a message, or of what counts as one.
func (r *row) revive(now int64, triggers bool) {
	if r.status == sessions.StatusInactive && (triggers || r.state != sessions.StateActive) {
		r.status = sessions.StatusIdle
		if r.nonce != "" {
			r.status = sessions.StatusRunning
		}
	}
	r.setState(sessions.StateActive, now)
	r.activeAt = now
}

func (r *row) refuse(attempted string) error {
	return &sessions.StateError{Session: r.id, State: r.state, Status: r.status, Attempted: attempted}
}

// detail reads the row's details, once.
func (t *tx) detail(r *row) (*details, error) {
	if r.details != nil {
		return r.details, nil
	}
	var body string
	if _, err := t.one("SELECT body FROM details WHERE session = ?", []any{r.num}, []any{&body}); err != nil {
		return nil, err
	}
	err := r.setDetails(body)
	return r.details, err
}

func (r *row) setDetails(body string) error {
	r.details = &details{}
	if err := json.Unmarshal([]byte(body), r.details); err != nil {
		return fmt.Errorf("details of session %s are damaged: %w", r.id, err)
	}
	return nil
}

// saveDetail writes the row's details back.
func (t *tx) saveDetail(r *row) error {
	body, err := json.Marshal(r.details)
	if err != nil {
		return fmt.Errorf("encode details of session %s: %w", r.id, err)
	}
	_, err = t.exec("INSERT INTO details (session, body) VALUES (?, ?) ON CONFLICT DO UPDATE SET body = excluded.body", r.num, string(body))
	return err
}

// record is the whole record of a row.
func (t *tx) record(r *row) (sessions.Record, error) {
	if _, err := t.detail(r); err != nil {
		return sessions.Record{}, err
	}
	participants, err := t.participants(r)
	return r.record(participants), err
}

// record is the whole record of a row whose details were read.
func (r *row) record(participants []string) sessions.Record {
	d := r.details
	return sessions.Record{
		ID: r.id, Source: d.Source, UserID: r.userID, WorkspaceID: r.workspaceID, State: r.state, Status: r.status,
		CreatedAt: fromMillis(r.createdAt), LastActivityAt: fromMillis(r.activeAt), StateChangedAt: fromMillis(r.changedAt),
		Surfaces: slices.Clone(d.Surfaces), Participants: participants, Metadata: sessions.MergeMetadata(d.Metadata, nil),
		MessageCount: r.messages, TurnCount: r.turns, Name: d.Name, Description: d.Description, DescriptionSource: d.DescriptionSource,
		Preview: r.preview, WorkingMemory: d.WorkingMemory, Agent: d.Agent, ParentSession: d.ParentSession, ContextTokens: d.ContextTokens,
		Checkpoint: d.Checkpoint, Seq: r.seq, Cleared: r.cleared, Leaf: r.leaf, Epoch: r.epoch, Version: r.version, Queued: r.queued,
	}
}

// patch applies a change to row and details; save both after it.
func (t *tx) patch(r *row, p sessions.Patch) error {
	record, err := t.record(r)
	if err != nil {
		return err
	}
	if err := p.Apply(&record); err != nil {
		return err
	}
	r.preview, r.described = record.Preview, record.DescriptionSource != ""
	d := r.details
	d.Metadata, d.Name, d.Description, d.DescriptionSource = record.Metadata, record.Name, record.Description, record.DescriptionSource
	d.WorkingMemory, d.Agent, d.ContextTokens, d.Checkpoint = record.WorkingMemory, record.Agent, record.ContextTokens, record.Checkpoint
	return t.saveDetail(r)
}

func (t *tx) participants(r *row) ([]string, error) {
	var users []string
	err := t.each(func(rows *sql.Rows) error {
		var user string
		err := rows.Scan(&user)
		users = append(users, user)
		return err
	}, "SELECT user_id FROM participants WHERE session = ? ORDER BY place", r.num)
	return users, err
}

// join makes a user a participant, in order of place, and the session's user
// where it has none. One who became another user, which the caller has not
// heard yet, is that one.
func (t *tx) join(r *row, user string, place int64) error {
	if user == "" {
		return nil
	}
	fresh, err := t.exec("INSERT INTO participants (session, user_id, place, hour) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING", r.num, user, place, hourOf(r.activeAt))
	if err != nil {
		return err
	}
	former := user
	if fresh > 0 {
		if user, err = t.userOf(user); err != nil {
			return err
		}
	}
	if r.userID == "" || r.userID == former {
		r.userID = user
	}
	if user == former {
		return nil
	}
	return t.renameParticipant(r.num, former, user)
}

// message is one of a turn's messages, as it waited.
type message struct {
	Seq      int64  `json:"s"`
	Rights   string `json:"r,omitempty"`
	Surface  string `json:"f,omitempty"`
	Alone    bool   `json:"a,omitempty"`
	SentAt   int64  `json:"t,omitempty"`
	Sequence int64  `json:"q,omitempty"`
}

func encodeMessages(messages []message) (string, error) {
	data, err := json.Marshal(messages)
	return string(data), err
}

func decodeMessages(text string) ([]message, error) {
	var messages []message
	if text == "" {
		return nil, nil
	}
	if err := json.Unmarshal([]byte(text), &messages); err != nil {
		return nil, fmt.Errorf("messages of a turn are damaged: %w", err)
	}
	return messages, nil
}

func seqs(messages []message) []int64 {
	out := make([]int64, len(messages))
	for i, m := range messages {
		out[i] = m.Seq
	}
	return out
}

// parseRowID is the number of a row that callers know by its number.
func parseRowID(id string) (int64, bool) {
	num, err := strconv.ParseInt(id, 10, 64)
	return num, err == nil && num > 0 && !strings.HasPrefix(id, "+")
}
