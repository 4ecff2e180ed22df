package redisstore

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"strings"
	"time"

	"parley/sessions"
	"parley/sessions/archive"
)

// Pieces in which an import is sent.
const (
	stageEntries = 500
	stageBytes   = 256 << 10
	stageFor     = 10 * time.Minute // without another piece; then it is forgotten
)

// Import stages the entries under a key that lapses by itself, and makes the
// session of them in one script.
func (s *Store) Import(ctx context.Context, record sessions.Record, entries iter.Seq2[sessions.Entry, error]) (sessions.Record, error) {
	if err := sessions.CheckImport(record); err != nil {
		return sessions.Record{}, err
	}
	p := s.of(record.ID)
	there, err := s.command(ctx, p, "exists", p.key("s", record.ID))
	if err != nil {
		return sessions.Record{}, err
	}
	if there != int64(0) {
		return sessions.Record{}, sessions.ErrConflict
	}
	st := stage{store: s, partition: p, name: newToken()}
	made, err := s.implant(ctx, &st, record, entries)
	if err != nil {
		st.drop(context.WithoutCancel(ctx))
	}
	return made, err
}

func (s *Store) implant(ctx context.Context, st *stage, record sessions.Record, entries iter.Seq2[sessions.Entry, error]) (sessions.Record, error) {
	var sequel sessions.Sequel
	for entry, err := range entries {
		if err == nil {
			err = sequel.Next(entry)
		}
		if err == nil {
			err = st.add(ctx, entry)
		}
		if err != nil {
			return sessions.Record{}, err
		}
	}
	if err := sequel.End(record.Leaf); err != nil {
		return sessions.Record{}, err
	}
	if err := st.flush(ctx); err != nil {
		return sessions.Record{}, err
	}
	record.Seq, record.Cleared, record.Epoch, record.Version, record.Queued, record.Surfaces = sequel.Seq(), 0, 0, 1, 0, nil
	record.Status = sessions.StatusIdle
	if record.State == sessions.StateSuspended || record.State == sessions.StateExpired {
		record.Status = sessions.StatusInactive
	}
	return s.plant(ctx, st, archive.SessionItem{Record: record, Leaf: record.Leaf, Placed: sequel.Placed()}, -1)
}

// plant makes a session of a record, what waits in it, and staged entries.
// ready is when its turn is due in ms; 0: now, -1: it has none.
func (s *Store) plant(ctx context.Context, st *stage, item archive.SessionItem, ready int64) (sessions.Record, error) {
	record := item.Record
	coldText, err := coldOfRecord(record)
	if err != nil {
		return sessions.Record{}, err
	}
	var others []any
	if len(record.Participants) > 1 {
		for _, user := range record.Participants[1:] {
			others = append(others, user)
		}
	}
	args := []any{record.ID, st.name, st.sent, packHot(item), coldText, ready, len(others)}
	args = append(append(args, others...), len(item.Queue))
	for _, m := range item.Queue {
		args = append(args, queuedText(m))
	}
	args = append(args, len(item.Waiting))
	for _, seq := range item.Waiting {
		args = append(args, seq)
	}
	return s.recordOf(ctx, st.partition, s.scripts.implant, "import", args...)
}

// coldOfRecord is the cold part of a record that was elsewhere.
func coldOfRecord(r sessions.Record) (string, error) {
	source, err := json.Marshal(r.Source)
	if err != nil {
		return "", err
	}
	c := cold{surfaces: r.Surfaces, texts: map[string]string{
		"src": string(source), "us": r.UserID, "ws": r.WorkspaceID, "nm": r.Name, "ds": r.Description,
		"dss": string(r.DescriptionSource), "wm": r.WorkingMemory, "ag": r.Agent, "ps": r.ParentSession,
		"ks": checkpointText(r.Checkpoint),
	}}
	c.metadata, err = members(r.Metadata)
	return c.pack(), err
}

// packHot is the part of a record that changes often: see lua/lib/record.lua.
func packHot(item archive.SessionItem) string {
	r := item.Record
	texts := map[string]string{
		"st": string(r.State), "su": string(r.Status), "pv": r.Preview, "ws": r.WorkspaceID,
		"ty": map[sessions.Type]string{sessions.Direct: "d", sessions.Group: "g"}[r.Source.Type],
	}
	numbers := map[string]int64{
		"ac": millis(r.LastActivityAt), "cr": millis(r.CreatedAt), "ch": millis(r.StateChangedAt), "n": r.Seq, "cl": r.Cleared,
		"mc": r.MessageCount, "tc": r.TurnCount, "lf": item.Leaf, "tn": item.Placed, "vr": r.Version, "ep": r.Epoch,
		"ct": r.ContextTokens, "pm": int64(max(len(r.Participants)-1, 0)), "qn": int64(len(item.Queue)), "wn": int64(len(item.Waiting)),
	}
	first := ""
	if len(r.Participants) > 0 {
		first = r.Participants[0]
		texts["us"] = first
	}
	other := first != r.UserID
	if r.Description != "" {
		numbers["dd"] = 1
	}
	if t := item.Last; t != nil {
		texts["la"] = turnText(*t)
	}
	if t := item.Open; t != nil {
		texts["la"], numbers["tp"], numbers["at"] = turnText(*t), t.Tip, int64(t.Attempts)
		if t.Stop {
			numbers["sp"] = 1
		}
	}
	return packFields(texts, numbers, other, r.UserID)
}

// packFields leaves out what is empty, which the scripts read as such; the
// user id is written, even if empty, where it is not the first participant.
func packFields(texts map[string]string, numbers map[string]int64, other bool, user string) string {
	var fields packer
	count := 0
	for name, text := range texts {
		if text != "" {
			fields.text(name)
			fields.text(text)
			count++
		}
	}
	for name, number := range numbers {
		if number != 0 || name == "ac" || name == "cr" {
			fields.text(name)
			fields.number(number)
			count++
		}
	}
	if other {
		fields.text("ui")
		fields.text(user)
		count++
	}
	var p packer
	p.mapOf(count)
	return string(append(p.out, fields.out...))
}

func millis(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

// stage gathers the entries of an import.
type stage struct {
	store     *Store
	partition partition
	name      string
	pending   []any
	bytes     int
	sent      int
}

func (st *stage) add(ctx context.Context, e sessions.Entry) error {
	text, err := entryText(e)
	if err != nil {
		return err
	}
	st.pending = append(st.pending, text)
	if st.bytes += len(text); st.bytes < stageBytes && len(st.pending) < stageEntries {
		return nil
	}
	return st.flush(ctx)
}

func (st *stage) flush(ctx context.Context) error {
	if len(st.pending) == 0 {
		return nil
	}
	args := append([]any{st.name, stageFor.Milliseconds()}, st.pending...)
	count, err := st.store.run(ctx, st.partition, st.store.scripts.stage, args...)
	if err != nil {
		return err
	}
	st.sent += len(st.pending)
	st.pending, st.bytes = nil, 0
	if count != int64(st.sent) {
		return fmt.Errorf("a piece of the import was lost: %w", sessions.ErrUnavailable)
	}
	return nil
}

// drop forgets what was staged; if that fails, it lapses.
func (st *stage) drop(ctx context.Context) {
	if _, err := st.store.command(ctx, st.partition, "unlink", st.partition.key("il", st.name)); err != nil {
		st.store.config.Logger.DebugContext(ctx, "what is left of an import lapses by itself", "error", err)
	}
}

// entryText is an entry as stored: see lua/lib/log.lua.
func entryText(e sessions.Entry) (string, error) {
	body, err := sessions.NewEntry{Type: e.Type, Payload: e.Payload}.Body()
	if err != nil {
		return "", err
	}
	place := beside
	switch {
	case e.Waiting:
		place = waiting
	case e.Type.InTree():
		place = inTree
	}
	return fmt.Sprintf("%d;%d;%s;%s;\n%s", e.Parent, millis(e.Time), e.Type, place, body), nil
}

// queuedText is a message that waits: see lua/lib/turn.lua.
func queuedText(m archive.QueuedMessage) string {
	return fmt.Sprintf("%d\n%s\n%d\n%s\n%s", m.Seq, orderText(m.SentAt, m.Sequence), bit(m.Alone), m.Rights, m.Surface)
}

// turnText is a turn: see lua/lib/turn.lua.
func turnText(t archive.TurnItem) string {
	var seqs []string
	for _, m := range t.Messages {
		seqs = append(seqs, fmt.Sprintf("%d:%s", m.Seq, orderText(m.SentAt, m.Sequence)))
	}
	first := t.Messages[0] // there is always one
	return fmt.Sprintf("%d\n%s\n%d\n%s\n%s", t.Tip, strings.Join(seqs, ","), bit(first.Alone), first.Rights, first.Surface)
}
