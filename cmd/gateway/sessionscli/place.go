package sessionscli

import (
	"context"
	"io"

	"parley/cmd/gateway/cli"
	"parley/cmd/gateway/client"
	"parley/cmd/gateway/config"
	"parley/cmd/gateway/wiring"
	"parley/conversations"
	"parley/sessions"
	"parley/sessions/view"
)

// Place is where sessions are reached: through the gateway that runs
// here, or straight on the store where none does.
type Place interface {
	Find(ctx context.Context, query sessions.Query) (client.Found, error)
	Session(ctx context.Context, id string) (client.Session, error)
	Tree(ctx context.Context, id string, limit int) (view.Tree, error)
	Feed(ctx context.Context, id string, limit int) ([]view.FeedItem, error)
	Export(ctx context.Context, id string, w io.Writer) error
	Import(ctx context.Context, r io.Reader, newID bool) (client.Session, error)
	Fork(ctx context.Context, id string, at *string, name string) (client.Session, error)
	Clear(ctx context.Context, id string) (client.Session, error)
	Delete(ctx context.Context, id string) error
}

var (
	_ Place = (*client.Client)(nil)
	_ Place = storePlace{}
)

// withSessions reaches the sessions of this data folder. A command that only
// looks leaves nothing behind where nothing is yet.
func (p command) withSessions(ctx context.Context, flags *cli.Flags, looks bool, use func(context.Context, Place) error) error {
	return p.Reach(ctx, flags, func(ctx context.Context, c *client.Client) error { return use(ctx, c) }, func(c config.Config) error {
		return wiring.WithIdle(ctx, c, looks, func(store sessions.Store) error { return use(ctx, AtRest(store)) })
	})
}

// AtRest handles the sessions of a store that no gateway uses.
func AtRest(store conversations.Store) Place { return storePlace{&conversations.Room{Store: store}} }

// storePlace is a store at rest. Whoever can open it is its owner.
type storePlace struct{ room *conversations.Room }

func owner() conversations.Caller { return conversations.Owner("command line") }

func viewed(result conversations.Result, err error) (client.Session, error) {
	return client.View(result.Record), err
}

// Find lists sessions.
func (s storePlace) Find(ctx context.Context, query sessions.Query) (client.Found, error) {
	page, err := s.room.Find(ctx, owner(), query)
	found := client.Found{Sessions: make([]client.Session, 0, len(page.Records)), Next: page.Next}
	for _, record := range page.Records {
		found.Sessions = append(found.Sessions, client.View(record))
	}
	return found, err
}

// Session reads a record.
func (s storePlace) Session(ctx context.Context, id string) (client.Session, error) {
	record, err := s.room.Get(ctx, owner(), id)
	return client.View(record), err
}

// Tree reads the newest part of the tree.
func (s storePlace) Tree(ctx context.Context, id string, limit int) (view.Tree, error) {
	return s.room.Tree(ctx, owner(), id, limit)
}

// Feed derives the items of the newest entries.
func (s storePlace) Feed(ctx context.Context, id string, limit int) ([]view.FeedItem, error) {
	return s.room.Feed(ctx, owner(), id, limit)
}

// Export writes the transcript.
func (s storePlace) Export(ctx context.Context, id string, w io.Writer) error {
	return s.room.Export(ctx, owner(), id, w)
}

// Import reads a transcript.
func (s storePlace) Import(ctx context.Context, r io.Reader, newID bool) (client.Session, error) {
	return viewed(s.room.Import(ctx, owner(), r, newID, ""))
}

// Fork copies a branch.
func (s storePlace) Fork(ctx context.Context, id string, at *string, name string) (client.Session, error) {
	request := conversations.ForkRequest{Name: name}
	if at != nil {
		entry, err := sessions.ParseEntryID(*at)
		if err != nil {
			return client.Session{}, err
		}
		request.Entry = &entry
	}
	return viewed(s.room.Fork(ctx, owner(), id, request, ""))
}

// Clear erases the entries.
func (s storePlace) Clear(ctx context.Context, id string) (client.Session, error) {
	return viewed(s.room.Clear(ctx, owner(), id, ""))
}

// Delete removes the session.
func (s storePlace) Delete(ctx context.Context, id string) error {
	_, err := s.room.Delete(ctx, owner(), id)
	return err
}
