package sqlitestore

import (
	"context"
	"iter"
	"time"

	"parley/sessions"
)

// How much of an import is written in one operation, so that nobody waits long
// for the writer.
const (
	importEntries = 200
	importBytes   = 256 << 10
)

// Import makes a session from a record and its log. The entries are written
// into a log that belongs to nobody, until the last operation gives it to the
// session.
func (s *Store) Import(ctx context.Context, record sessions.Record, entries iter.Seq2[sessions.Entry, error]) (sessions.Record, error) {
	if err := sessions.CheckImport(record); err != nil {
		return sessions.Record{}, err
	}
	log, err := written(ctx, s, func(t *tx) (int64, error) { return t.stage(record.ID) })
	if err != nil {
		return sessions.Record{}, err
	}
	i := &importing{store: s, log: log}
	imported, err := i.run(ctx, record, entries)
	if err != nil {
		i.undo(context.WithoutCancel(ctx))
	}
	return imported, err
}

// stage makes a log that belongs to nobody.
func (t *tx) stage(id string) (log int64, err error) {
	if taken, err := t.exists(id); err != nil || taken {
		return 0, conflict(err)
	}
	if log, err = t.fence(); err != nil {
		return 0, err
	}
	_, err = t.exec("INSERT INTO erasures (log, staged) VALUES (?, 1)", log)
	return log, err
}

func conflict(err error) error {
	if err == nil {
		return sessions.ErrConflict
	}
	return err
}

// importing is one import that runs.
type importing struct {
	store  *Store
	log    int64
	sequel sessions.Sequel
	batch  []sessions.Entry
	bytes  int
}

func (i *importing) run(ctx context.Context, record sessions.Record, entries iter.Seq2[sessions.Entry, error]) (sessions.Record, error) {
	for e, err := range entries {
		if err == nil {
			err = i.add(ctx, e)
		}
		if err != nil {
			return sessions.Record{}, err
		}
	}
	if err := i.flush(ctx); err != nil {
		return sessions.Record{}, err
	}
	if err := i.sequel.End(record.Leaf); err != nil {
		return sessions.Record{}, err
	}
	return written(ctx, i.store, func(t *tx) (sessions.Record, error) { return t.adopt(i, record) })
}

// add checks an entry and writes it together with those before it.
func (i *importing) add(ctx context.Context, e sessions.Entry) (err error) {
	if err := i.sequel.Next(e); err != nil {
		return err
	}
	if e.Payload, err = (sessions.NewEntry{Type: e.Type, Payload: e.Payload}).Body(); err != nil {
		return err
	}
	i.batch = append(i.batch, e)
	if i.bytes += len(e.Payload); i.bytes < importBytes && len(i.batch) < importEntries {
		return nil
	}
	return i.flush(ctx)
}

func (i *importing) flush(ctx context.Context) error {
	batch := i.batch
	i.batch, i.bytes = nil, 0
	if len(batch) == 0 {
		return nil
	}
	return i.store.write(ctx, func(t *tx) error {
		for _, e := range batch {
			if err := t.putEntry(i.log, e); err != nil {
				return err
			}
		}
		return nil
	})
}

// putEntry writes an entry as it is.
func (t *tx) putEntry(log int64, e sessions.Entry) error {
	_, err := t.exec(`INSERT INTO entries (log, seq, parent, waiting, time, type, payload) VALUES (?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT DO UPDATE SET parent = excluded.parent, waiting = excluded.waiting, time = excluded.time, type = excluded.type, payload = excluded.payload`,
		log, e.Seq, e.Parent, e.Waiting, e.Time.UnixMilli(), e.Type, string(e.Payload))
	return err
}

// adopt makes the session, and the log its own.
func (t *tx) adopt(i *importing, record sessions.Record) (sessions.Record, error) {
	if taken, err := t.exists(record.ID); err != nil || taken {
		return sessions.Record{}, conflict(err)
	}
	r := rowOf(record)
	r.log, r.seq, r.leaf, r.placed = i.log, i.sequel.Seq(), record.Leaf, i.sequel.Placed()
	r.version = 1
	r.rest()
	if err := t.add(r); err != nil {
		return sessions.Record{}, err
	}
	if err := t.saveDetail(r); err != nil {
		return sessions.Record{}, err
	}
	if err := t.saveParticipants(r, record.Participants); err != nil {
		return sessions.Record{}, err
	}
	if _, err := t.exec("DELETE FROM erasures WHERE log = ?", i.log); err != nil {
		return sessions.Record{}, err
	}
	return t.record(r)
}

// undo leaves what was written to be erased. Where that fails, the next start
// does it.
func (i *importing) undo(ctx context.Context) {
	err := i.store.write(ctx, func(t *tx) error {
		_, err := t.exec("UPDATE erasures SET staged = 0 WHERE log = ?", i.log)
		return err
	})
	if err == nil {
		i.store.chores.wake()
	}
}

// rowOf is what a record says of a session at rest; log and tree are left out.
func rowOf(record sessions.Record) *row {
	return &row{
		id: record.ID, state: record.State, status: record.Status, userID: record.UserID, workspaceID: record.WorkspaceID,
		createdAt: toMillis(record.CreatedAt), activeAt: toMillis(record.LastActivityAt), changedAt: toMillis(record.StateChangedAt),
		messages: record.MessageCount, turns: record.TurnCount, preview: record.Preview, described: record.DescriptionSource != "",
		kind: typeOf(record.Source),
		details: &details{
			Source: record.Source, Metadata: sessions.MergeMetadata(nil, record.Metadata), Name: record.Name,
			Description: record.Description, DescriptionSource: record.DescriptionSource, WorkingMemory: record.WorkingMemory,
			Agent: record.Agent, ParentSession: record.ParentSession, ContextTokens: record.ContextTokens,
			Checkpoint: record.Checkpoint,
		},
	}
}

func toMillis(at time.Time) int64 {
	if at.IsZero() {
		return 0
	}
	return at.UnixMilli()
}

// saveParticipants writes them as they are, in the place of those there are.
func (t *tx) saveParticipants(r *row, users []string) error {
	if _, err := t.exec("DELETE FROM participants WHERE session = ?", r.num); err != nil {
		return err
	}
	for place, user := range users {
		if _, err := t.exec("INSERT INTO participants (session, user_id, place, hour) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
			r.num, user, place, hourOf(r.activeAt)); err != nil {
			return err
		}
	}
	return nil
}
