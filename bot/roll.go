package bot

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"parley/adapters"
	"parley/sessions"
)

// askWithin bounds asking a platform who is in a chat.
const askWithin = 5 * time.Second

// roll keeps who takes part in groups' conversations true to who is in the
// groups.
type roll struct {
	store    sessions.Store
	adapters []adapters.Adapter
	log      *slog.Logger
}

func rollOf(c Config) roll { return roll{store: c.Store, adapters: c.Adapters, log: c.Log} }

// left takes somebody off the conversations of a chat that they are not in any
// more. Done once more, it changes nothing.
func (r roll) left(ctx context.Context, event adapters.Event) error {
	if event.Sender.Self || event.Sender.Unverified || event.Sender.ID == "" {
		return nil
	}
	user, err := r.store.Who(ctx, string(event.Sender.ID))
	if err != nil {
		return fmt.Errorf("who left could not be looked up: %w", err)
	}
	conversations := 0
	query := sessions.Query{Participant: user.ID, Type: sessions.Group, Limit: sessions.ListMax}
	for {
		page, err := r.store.Find(ctx, query)
		if err != nil {
			return fmt.Errorf("the conversations of who left could not be found: %w", err)
		}
		for _, record := range page.Records {
			if !heldIn(record, event.Surface) {
				continue
			}
			if _, err := r.store.Leave(ctx, record.ID, user.ID); err != nil && !errors.Is(err, sessions.ErrNotFound) {
				return fmt.Errorf("who left %s could not be taken off it: %w", record.ID, err)
			}
			conversations++
		}
		if page.Next == "" {
			break
		}
		query.Cursor = page.Next
	}
	r.log.Info("somebody is not in a chat any more", "surface", event.Surface, "user", user.ID, "conversations", conversations)
	return nil
}

// present reports whether somebody is still in the chat of a conversation, as
// its platform says. Where nobody can be asked they are taken to be: a platform
// that can tell of who leaves has not done so.
func (r roll) present(ctx context.Context, record sessions.Record, user sessions.User) (bool, error) {
	i := slices.IndexFunc(r.adapters, func(a adapters.Adapter) bool {
		return string(a.Capabilities().Platform) == record.Source.Platform
	})
	if i < 0 {
		return true, nil
	}
	asked, can := r.adapters[i].(adapters.Roll)
	chat, known := beganIn(record, r.adapters[i].Account())
	if !can || !known {
		return true, nil
	}
	ctx, cancel := context.WithTimeout(ctx, askWithin)
	defer cancel()
	there := true
	for _, identity := range user.Identities {
		if adapters.Identity(identity).User(chat.Platform) == "" {
			continue
		}
		in, err := asked.InChat(ctx, chat, adapters.Identity(identity))
		if err != nil || in {
			return in, err
		}
		there = false
	}
	return there, nil
}

// beganIn is the chat in which a group's conversation began. A copy is whose it
// is, and has none.
func beganIn(record sessions.Record, account string) (adapters.Surface, bool) {
	platform := adapters.Platform(record.Source.Platform)
	chat, _ := record.Metadata[platform.Traits().ChatKey].(string)
	if chat == "" || record.ParentSession != "" {
		return adapters.Surface{}, false
	}
	return adapters.Surface{Platform: platform, Account: account, Chat: chat}, true
}

// heldIn reports whether a conversation began in the chat of a surface, or is
// held there.
func heldIn(record sessions.Record, surface adapters.Surface) bool {
	if began, known := beganIn(record, surface.Account); known && began.ChatKey() == surface.ChatKey() {
		return true
	}
	return slices.ContainsFunc(record.Surfaces, func(key string) bool {
		held, err := adapters.ParseSurface(key)
		return err == nil && held.ChatKey() == surface.ChatKey()
	})
}
