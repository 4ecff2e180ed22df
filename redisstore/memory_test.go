package redisstore

import (
	"fmt"
	"strings"
	"testing"

	"parley/sessions"
)

// idleMax is the budget of an idle session besides its entries, in bytes.
const idleMax = 2 << 10

// An idle session that has had a turn, with all it needs besides its entries:
// record, binding, indexes. It holds no queue and no lane.
func TestIdleSessionIsSmall(t *testing.T) {
	t.Parallel()
	s := openStore(t, testConfig(t))
	ctx := t.Context()
	const chats = 20
	for chat := range chats {
		request := benchPost(chat, true)
		request.New.UserID, request.New.WorkspaceID, request.New.Name = "telegram:123456789", "T0123ABCD", "Trip to Lisbon"
		request.New.Metadata = map[string]any{"telegram_chat_id": "-1001234567890", "language": "en"}
		posted, err := s.Post(ctx, request)
		if err != nil {
			t.Fatal(err)
		}
		commit := quickCommit(posted.Turn, &sessions.Claimer{Owner: "w", For: sessions.LeaseFor})
		preview := strings.Repeat("preview ", 20)
		commit.Patch = sessions.Patch{Preview: &preview, Description: &sessions.Description{Text: strings.Repeat("about it ", 9), Source: sessions.DescriptionAgent}}
		done, err := s.Commit(ctx, commit)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Settle(ctx, sessions.Settlement{Delivery: done.Sends[0], State: sessions.DeliverySent}, sessions.Claimer{}); err != nil {
			t.Fatal(err)
		}
	}
	client := shared.Client()
	defer client.Close()
	total := int64(0)
	kinds := map[string]int64{}
	keys := client.Scan(ctx, 0, s.config.Prefix+"*", 1000).Iterator()
	for keys.Next(ctx) {
		_, rest, _ := strings.Cut(keys.Val(), "}:")
		kind, _, _ := strings.Cut(rest, ":")
		if kind == "l" || kind == "d" || kind == "meta" { // entries and dedupe keys have budgets of their own
			continue
		}
		bytes, err := client.MemoryUsage(ctx, keys.Val(), 0).Result()
		if err != nil {
			t.Fatal(err)
		}
		total += bytes
		kinds[kind] += bytes / chats
	}
	if err := keys.Err(); err != nil {
		t.Fatal(err)
	}
	t.Logf("%d bytes per idle session: %v", total/chats, kinds)
	if total/chats > idleMax {
		t.Errorf("%d bytes per idle session, at most %d", total/chats, idleMax)
	}
	for _, kind := range []string{"q", "c", "w", "o", "oh", "due", "f"} {
		if kinds[kind] != 0 {
			t.Errorf("an idle session holds %s: %s", kind, fmt.Sprint(kinds))
		}
	}
}
