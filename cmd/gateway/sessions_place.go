package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"time"

	"parley/cmd/gateway/client"
	"parley/cmd/gateway/config"
	"parley/sessions"
	"parley/sqlitestore"
)

// sessionPlace is where sessions are reached: through the gateway that runs
// here, or straight on the store where none does.
type sessionPlace interface {
	Find(ctx context.Context, query sessions.Query) (client.Found, error)
	Session(ctx context.Context, id string) (client.Session, error)
	Tree(ctx context.Context, id string, limit int) (sessions.Tree, error)
	Feed(ctx context.Context, id string, limit int) ([]sessions.FeedItem, error)
	Export(ctx context.Context, id string, w io.Writer) error
	Import(ctx context.Context, r io.Reader, newID bool) (client.Session, error)
	Fork(ctx context.Context, id string, at *string, name string) (client.Session, error)
	Clear(ctx context.Context, id string) (client.Session, error)
	Delete(ctx context.Context, id string) error
}

var (
	_ sessionPlace = (*client.Client)(nil)
	_ sessionPlace = storePlace{}
)

// withSessions reaches the sessions of this data folder. A command that only
// looks leaves nothing behind where nothing is yet.
func (p *program) withSessions(ctx context.Context, flags *common, looks bool, use func(context.Context, sessionPlace) error) error {
	loaded, err := p.load(flags)
	if err != nil {
		return err
	}
	running, found, err := p.running(ctx, loaded.Config.Data)
	if err != nil {
		return err
	}
	if found {
		c, err := client.New(running.Address, running.secret())
		if err != nil {
			return err
		}
		defer c.Close()
		return use(ctx, c)
	}
	store, err := openIdle(ctx, loaded.Config, looks)
	if err != nil {
		return err
	}
	return errors.Join(use(ctx, storePlace{store: store, now: time.Now}), store.Close())
}

// openIdle opens the store of a gateway that does not run.
func openIdle(ctx context.Context, c config.Config, looks bool) (sessions.Store, error) {
	if looks && notMadeYet(c) {
		c.Store.URL = sqliteScheme + "://" + sqlitestore.Memory
	}
	store, err := openStore(ctx, c, slog.New(slog.DiscardHandler))
	if errors.Is(err, sessions.ErrLocked) {
		return nil, fmt.Errorf("another process holds the store %s and cannot be asked; leave its `gateway chat`, or stop it, and try again", c.Store.URL)
	}
	if err != nil {
		return nil, storeError(c.Store.URL, err)
	}
	return store, nil
}

// storePlace does on a store what the API does through a gateway.
type storePlace struct {
	store sessions.Store
	now   func() time.Time
}

// Find lists sessions.
func (s storePlace) Find(ctx context.Context, query sessions.Query) (client.Found, error) {
	if err := s.asUsers(ctx, &query.UserID, &query.Participant); err != nil {
		return client.Found{}, err
	}
	page, err := s.store.Find(ctx, query)
	found := client.Found{Sessions: make([]client.Session, 0, len(page.Records)), Next: page.Next}
	for _, record := range page.Records {
		found.Sessions = append(found.Sessions, client.View(record))
	}
	return found, err
}

// asUsers replaces identities by the users behind them, which records hold.
func (s storePlace) asUsers(ctx context.Context, ids ...*string) error {
	for _, id := range ids {
		if sessions.CheckIdentity(*id) != nil {
			continue
		}
		user, err := s.store.Who(ctx, *id)
		if err != nil {
			return err
		}
		*id = user.ID
	}
	return nil
}

func (s storePlace) record(ctx context.Context, id string) (sessions.Record, error) {
	if err := sessions.CheckID(id); err != nil {
		return sessions.Record{}, err
	}
	return s.store.Get(ctx, id)
}

// Session reads a record.
func (s storePlace) Session(ctx context.Context, id string) (client.Session, error) {
	record, err := s.record(ctx, id)
	return client.View(record), err
}

// Tree reads the newest part of the tree.
func (s storePlace) Tree(ctx context.Context, id string, limit int) (sessions.Tree, error) {
	record, err := s.record(ctx, id)
	if err != nil {
		return sessions.Tree{}, err
	}
	return sessions.ReadTree(ctx, s.store, record, limit, shown)
}

// Feed derives the items of the newest entries.
func (s storePlace) Feed(ctx context.Context, id string, limit int) ([]sessions.FeedItem, error) {
	record, err := s.record(ctx, id)
	if err != nil {
		return nil, err
	}
	entries, err := s.store.Range(ctx, id, max(record.Cleared, record.Seq-int64(limit))+1, record.Seq)
	items := []sessions.FeedItem{}
	for _, entry := range entries {
		items = append(items, sessions.Feed(entry, shown)...)
	}
	return items, err
}

// Export writes the transcript.
func (s storePlace) Export(ctx context.Context, id string, w io.Writer) error {
	record, err := s.record(ctx, id)
	if err != nil {
		return err
	}
	return sessions.WriteTranscript(ctx, w, s.store, record)
}

// Import reads a transcript.
func (s storePlace) Import(ctx context.Context, r io.Reader, newID bool) (client.Session, error) {
	transcript, err := sessions.ReadTranscript(r)
	if err != nil {
		return client.Session{}, err
	}
	if newID {
		transcript.Record.ID = s.copyID(transcript.Record.ID)
	}
	record, err := s.store.Import(ctx, transcript.Record, transcript.Entries)
	return client.View(record), err
}

func (s storePlace) copyID(of string) string {
	return sessions.DrawID(sessions.ForkPrefix(of, s.now()), nil)
}

// Fork copies a branch.
func (s storePlace) Fork(ctx context.Context, id string, at *string, name string) (client.Session, error) {
	from, err := s.record(ctx, id)
	if err != nil {
		return client.Session{}, err
	}
	leaf := from.Leaf
	if at != nil {
		if leaf, err = sessions.ParseEntryID(*at); err != nil {
			return client.Session{}, err
		}
	}
	transcript, err := sessions.Fork(ctx, s.store, sessions.ForkRequest{From: from, Leaf: leaf, ID: s.copyID(id), Now: s.now()})
	if err != nil {
		return client.Session{}, err
	}
	if name != "" {
		transcript.Record.Name = name
	}
	record, err := s.store.Import(ctx, transcript.Record, transcript.Entries)
	return client.View(record), err
}

// Clear erases the entries.
func (s storePlace) Clear(ctx context.Context, id string) (client.Session, error) {
	if _, err := s.record(ctx, id); err != nil {
		return client.Session{}, err
	}
	record, err := s.store.Clear(ctx, id)
	return client.View(record), err
}

// Delete removes the session.
func (s storePlace) Delete(ctx context.Context, id string) error {
	if err := sessions.CheckID(id); err != nil {
		return err
	}
	return s.store.Delete(ctx, id)
}
