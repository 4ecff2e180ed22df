package sqlitestore

import (
	"context"
	"database/sql"
	"time"

	"parley/sessions"
)

// Due lists what is due. It reads three indexes from their beginnings.
func (s *Store) Due(ctx context.Context, limit int) ([]sessions.WorkItem, error) {
	if err := sessions.CheckList(limit); err != nil {
		return nil, err
	}
	return read(ctx, s, func(t *tx) ([]sessions.WorkItem, error) {
		var items []sessions.WorkItem
		err := t.each(func(rows *sql.Rows) error {
			var item sessions.WorkItem
			var due int64
			err := rows.Scan(&item.Kind, &item.ID, &item.Home, &due)
			item.Due = time.UnixMilli(due).UTC()
			items = append(items, item)
			return err
		}, `SELECT * FROM (SELECT 'turn', id, '', due_at FROM sessions WHERE due_at <= ?1 ORDER BY due_at LIMIT ?2)
			UNION ALL SELECT * FROM (SELECT 'lane', surface, '', due_at FROM lanes WHERE due_at <= ?1 ORDER BY due_at LIMIT ?2)
			UNION ALL SELECT * FROM (SELECT 'timer', name, home, due_at FROM timers WHERE due_at <= ?1 ORDER BY due_at LIMIT ?2)
			ORDER BY 4`, t.now, limit)
		return items, err
	})
}

// Wakes gives hints of what became due.
func (s *Store) Wakes(ctx context.Context) (<-chan sessions.WorkItem, error) {
	return s.hub.wakes(ctx)
}

// Publish sends a draft to whoever watches.
func (s *Store) Publish(ctx context.Context, event sessions.LiveEvent) error {
	if err := event.Check(); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	return s.hub.send(event)
}

// Watch gives the hints of one session.
func (s *Store) Watch(ctx context.Context, session string) (<-chan sessions.LiveEvent, error) {
	if err := sessions.CheckID(session); err != nil {
		return nil, err
	}
	return s.hub.watch(ctx, session)
}
