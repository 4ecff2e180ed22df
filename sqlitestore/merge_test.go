package sqlitestore

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"parley/sessions"
)

// linked makes the user of identity one with the user of to.
func linked(t *testing.T, store *Store, to, identity string) {
	t.Helper()
	code, err := store.OfferLink(t.Context(), to)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := store.TakeLink(t.Context(), code, identity); err != nil {
		t.Fatal(err)
	}
}

func TestAMergeOfManySessionsGoesOnAfterARestart(t *testing.T) {
	t.Parallel()
	const count = 5 * mergeSessions
	path := filepath.Join(t.TempDir(), "gateway.db")
	store := open(t, Config{Path: path})
	err := store.write(t.Context(), func(x *tx) error {
		for i := range count {
			if _, err := x.create(sessions.NewSession{ID: fmt.Sprintf("api:%d", i), UserID: "slack:U1"}, ""); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	linked(t, store, "telegram:1", "slack:U1")
	linked(t, store, "discord:9", "telegram:1") // before all of them are rewritten
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	store = open(t, Config{Path: path})
	settles(t, store, "SELECT count(*) FROM merges")
	for _, query := range []sessions.Query{{UserID: "discord:9"}, {Participant: "discord:9"}} {
		query.Limit = sessions.ListMax
		if page, err := store.Find(t.Context(), query); err != nil || len(page.Records) != count {
			t.Errorf("%+v: %d sessions, %v", query, len(page.Records), err)
		}
	}
}

// TestWhoHasNotHeardOfAMergeChangesNothing posts and opens as a user who is
// another one by now.
func TestWhoHasNotHeardOfAMergeChangesNothing(t *testing.T) {
	t.Parallel()
	store := open(t, Config{Path: Memory})
	linked(t, store, "telegram:1", "slack:U1")
	opened, _, err := store.Open(t.Context(), sessions.NewSession{ID: "api:s", UserID: "slack:U1"})
	if err != nil || opened.UserID != "telegram:1" || !slices.Equal(opened.Participants, []string{"telegram:1"}) {
		t.Errorf("opened %+v, %v", opened, err)
	}
	for _, user := range []string{"telegram:8", "slack:U1", "telegram:1", "slack:U1"} {
		if _, err := store.Post(t.Context(), sessions.PostRequest{Surface: "telegram:1:1", UserID: user, Message: sessions.Message{Role: sessions.RoleUser, Text: "x"}}); err != nil {
			t.Fatal(err)
		}
	}
	posted, err := store.Bound(t.Context(), "telegram:1:1")
	if err != nil || posted.UserID != "telegram:8" || !slices.Equal(posted.Participants, []string{"telegram:8", "telegram:1"}) {
		t.Errorf("posted %+v, %v", posted, err)
	}
}
