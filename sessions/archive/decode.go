package archive

import (
	"cmp"
	"encoding/json"
	"fmt"

	"parley/sessions"
)

// NewItem encodes a body as every store does.
func NewItem(kind sessions.ItemKind, body any) (sessions.Item, error) {
	encoded, err := json.Marshal(body)
	return sessions.Item{Kind: kind, Body: encoded}, err
}

// DecodeItems reads and checks the items of one [sessions.Archive] Restore: each result
// is of the type of its item's kind. Too many items, or one that no store gave,
// is an *InvalidError.
func DecodeItems(items []sessions.Item) ([]any, error) {
	if len(items) > sessions.ListMax {
		return nil, &sessions.InvalidError{What: "items", Why: fmt.Sprintf("at most %d go into one call", sessions.ListMax)}
	}
	bodies := make([]any, len(items))
	for i, item := range items {
		var err error
		if bodies[i], err = decode(item); err != nil {
			return nil, err
		}
	}
	return bodies, nil
}

func decode(i sessions.Item) (any, error) {
	switch i.Kind {
	case ItemChat:
		return decodeBody(i, func(b ChatItem) error { return sessions.CheckKey("chat", b.Chat) })
	case ItemLock:
		return decodeBody(i, func(b LockItem) error {
			return cmp.Or(sessions.CheckKey("lock", b.Name), sessions.CheckLockData(b.Data, 0))
		})
	case ItemUser:
		return decodeBody(i, checkUser)
	case ItemSession:
		return decodeBody(i, SessionItem.check)
	case ItemEntry:
		return decodeBody(i, EntryItem.check)
	case ItemBinding:
		return decodeBody(i, func(b BindingItem) error {
			return cmp.Or(sessions.CheckKey("surface", b.Surface), sessions.CheckID(b.Session))
		})
	case ItemTimer:
		return decodeBody(i, func(b TimerItem) error { return sessions.CheckTimerName(b.Timer.Home, b.Timer.Name) })
	case ItemDead:
		return decodeBody(i, DeadItem.check)
	case ItemRow:
		return decodeBody(i, RowItem.check)
	case ItemSchedule:
		return decodeBody(i, ScheduleItem.check)
	case ItemRun:
		return decodeBody(i, func(b RunItem) error {
			return cmp.Or(sessions.CheckScheduleID(b.Schedule), sessions.CheckKey("run id", b.ID))
		})
	case ItemKey:
		return decodeBody(i, func(b KeyItem) error {
			return cmp.Or(sessions.CheckKey("key", b.Key), sessions.CheckKey("home", b.Home))
		})
	}
	return nil, &sessions.InvalidError{What: "item", Why: fmt.Sprintf("%.40q is no kind of item", i.Kind)}
}

func decodeBody[T any](i sessions.Item, check func(T) error) (any, error) {
	var body T
	if err := json.Unmarshal(i.Body, &body); err != nil {
		return nil, &sessions.InvalidError{What: "item", Why: fmt.Sprintf("the body of a %s: %v", i.Kind, err)}
	}
	return body, check(body)
}

func checkUser(u sessions.User) error {
	for _, identity := range u.Identities {
		if err := sessions.CheckIdentity(identity); err != nil {
			return err
		}
	}
	if len(u.Identities) == 0 || u.Identities[0] != u.ID {
		return &sessions.InvalidError{What: "user", Why: "the first identity is the id"}
	}
	if u.Role == "" {
		return nil
	}
	return sessions.CheckKey("role", u.Role)
}

func (b SessionItem) check() error {
	if err := sessions.CheckImport(b.Record); err != nil {
		return err
	}
	for _, surface := range b.Record.Surfaces {
		if err := sessions.CheckKey("surface", surface); err != nil {
			return err
		}
	}
	for _, turn := range []*TurnItem{b.Open, b.Last} {
		if turn != nil && len(turn.Messages) == 0 {
			return &sessions.InvalidError{What: "turn", Why: "it answers no message"}
		}
	}
	return nil
}

func (b EntryItem) check() error {
	if b.Entry.Seq < 1 {
		return &sessions.InvalidError{What: "entry", Why: "it has no seq"}
	}
	return cmp.Or(sessions.CheckID(b.Session), sessions.NewEntry{Type: b.Entry.Type, Payload: b.Entry.Payload}.Check())
}

func (b DeadItem) check() error {
	if len(b.Turn.Messages) == 0 {
		return &sessions.InvalidError{What: "dead letter", Why: "it holds no message"}
	}
	return cmp.Or(sessions.CheckKey("dead letter", b.Letter.ID), sessions.CheckID(b.Letter.Session))
}

func (b RowItem) check() error {
	return cmp.Or(sessions.CheckKey("delivery id", b.ID), sessions.CheckKey("surface", b.Surface), sessions.CheckPayload(b.Payload))
}

func (b ScheduleItem) check() error {
	return cmp.Or(sessions.CheckScheduleID(b.ID), sessions.CheckScheduleBody("definition", b.Definition, true), sessions.CheckScheduleBody("state", b.State, true))
}
