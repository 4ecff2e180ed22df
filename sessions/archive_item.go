package sessions

import (
	"cmp"
	"encoding/json"
	"fmt"
)

// NewItem encodes a body as every store does.
func NewItem(kind ItemKind, body any) (Item, error) {
	encoded, err := json.Marshal(body)
	return Item{Kind: kind, Body: encoded}, err
}

// DecodeItems reads and checks the items of one [Archive.Restore]: each result
// is of the type of its item's kind. Too many items, or one that no store gave,
// is an *InvalidError.
func DecodeItems(items []Item) ([]any, error) {
	if len(items) > ListMax {
		return nil, &InvalidError{What: "items", Why: fmt.Sprintf("at most %d go into one call", ListMax)}
	}
	bodies := make([]any, len(items))
	for i, item := range items {
		var err error
		if bodies[i], err = item.decode(); err != nil {
			return nil, err
		}
	}
	return bodies, nil
}

func (i Item) decode() (any, error) {
	switch i.Kind {
	case ItemChat:
		return decodeBody(i, func(b ChatItem) error { return CheckKey("chat", b.Chat) })
	case ItemLock:
		return decodeBody(i, func(b LockItem) error { return cmp.Or(CheckKey("lock", b.Name), CheckLockData(b.Data)) })
	case ItemUser:
		return decodeBody(i, User.check)
	case ItemSession:
		return decodeBody(i, SessionItem.check)
	case ItemEntry:
		return decodeBody(i, EntryItem.check)
	case ItemBinding:
		return decodeBody(i, func(b BindingItem) error { return cmp.Or(CheckKey("surface", b.Surface), CheckID(b.Session)) })
	case ItemTimer:
		return decodeBody(i, func(b TimerItem) error { return CheckTimerName(b.Timer.Home, b.Timer.Name) })
	case ItemDead:
		return decodeBody(i, DeadItem.check)
	case ItemRow:
		return decodeBody(i, RowItem.check)
	case ItemSchedule:
		return decodeBody(i, ScheduleItem.check)
	case ItemRun:
		return decodeBody(i, func(b RunItem) error { return cmp.Or(CheckScheduleID(b.Schedule), CheckKey("run id", b.ID)) })
	case ItemKey:
		return decodeBody(i, func(b KeyItem) error { return cmp.Or(CheckKey("key", b.Key), CheckKey("home", b.Home)) })
	}
	return nil, &InvalidError{What: "item", Why: fmt.Sprintf("%.40q is no kind of item", i.Kind)}
}

func decodeBody[T any](i Item, check func(T) error) (any, error) {
	var body T
	if err := json.Unmarshal(i.Body, &body); err != nil {
		return nil, &InvalidError{What: "item", Why: fmt.Sprintf("the body of a %s: %v", i.Kind, err)}
	}
	return body, check(body)
}

func (u User) check() error {
	for _, identity := range u.Identities {
		if err := CheckIdentity(identity); err != nil {
			return err
		}
	}
	if len(u.Identities) == 0 || u.Identities[0] != u.ID {
		return &InvalidError{What: "user", Why: "the first identity is the id"}
	}
	return checkOptional("role", u.Role)
}

func (b SessionItem) check() error {
	if err := CheckImport(b.Record); err != nil {
		return err
	}
	for _, surface := range b.Record.Surfaces {
		if err := CheckKey("surface", surface); err != nil {
			return err
		}
	}
	for _, turn := range []*TurnItem{b.Open, b.Last} {
		if turn != nil && len(turn.Messages) == 0 {
			return &InvalidError{What: "turn", Why: "it answers no message"}
		}
	}
	return nil
}

func (b EntryItem) check() error {
	if b.Entry.Seq < 1 {
		return &InvalidError{What: "entry", Why: "it has no seq"}
	}
	return cmp.Or(CheckID(b.Session), NewEntry{Type: b.Entry.Type, Payload: b.Entry.Payload}.Check())
}

func (b DeadItem) check() error {
	if len(b.Turn.Messages) == 0 {
		return &InvalidError{What: "dead letter", Why: "it holds no message"}
	}
	return cmp.Or(CheckKey("dead letter", b.Letter.ID), CheckID(b.Letter.Session))
}

func (b RowItem) check() error {
	return cmp.Or(CheckKey("delivery id", b.ID), CheckKey("surface", b.Surface), checkPayload(b.Payload))
}

func (b ScheduleItem) check() error {
	return cmp.Or(CheckScheduleID(b.ID), checkScheduleBody("definition", b.Definition, true), checkScheduleBody("state", b.State, true))
}
