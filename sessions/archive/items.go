package archive

import (
	"encoding/json"
	"time"

	"parley/sessions"
)

// Item kinds, in the order in which Dump gives them.
const (
	ItemChat     sessions.ItemKind = "chat"
	ItemLock     sessions.ItemKind = "lock"
	ItemUser     sessions.ItemKind = "user"
	ItemSession  sessions.ItemKind = "session"
	ItemEntry    sessions.ItemKind = "entry" // right behind its session
	ItemBinding  sessions.ItemKind = "binding"
	ItemTimer    sessions.ItemKind = "timer"
	ItemDead     sessions.ItemKind = "dead"
	ItemRow      sessions.ItemKind = "row"
	ItemSchedule sessions.ItemKind = "schedule"
	ItemRun      sessions.ItemKind = "run"
	ItemKey      sessions.ItemKind = "key"
)

// The bodies of items.
type (
	// ChatItem is an ItemChat.
	ChatItem struct {
		Chat string    `json:"chat"`
		By   string    `json:"by"`
		At   time.Time `json:"at"`
	}
	// LockItem is an ItemLock: a lock's text.
	LockItem struct {
		Name    string    `json:"name"`
		Fence   int64     `json:"fence"`
		Data    string    `json:"data"`
		Expires time.Time `json:"expires,omitzero"` // zero: never
	}
	// SessionItem is an ItemSession.
	SessionItem struct {
		Record  sessions.Record `json:"record"` // Surfaces too; Status as if no lease were held
		Leaf    int64           `json:"leaf"`
		Placed  int64           `json:"placed"` // how many entries ever entered the tree
		Open    *TurnItem       `json:"open,omitempty"`
		Last    *TurnItem       `json:"last,omitempty"` // the last turn that ended; none while one is open
		Queue   []QueuedMessage `json:"queue,omitempty"`
		Waiting []int64         `json:"waiting,omitempty"` // seqs that wait and are not in the queue
		// ReadyAt is when the queue, or the open turn, may be taken up. Zero: at
		// once, also where a lease was given out and has not come back.
		ReadyAt time.Time `json:"ready_at,omitzero"`
	}
	// TurnItem is a turn and the messages it answers.
	TurnItem struct {
		Tip      int64           `json:"tip"` // the leaf when it began
		Messages []QueuedMessage `json:"messages"`
		Attempts int             `json:"attempts,omitempty"` // of an open turn
		Stop     bool            `json:"stop,omitempty"`     // of an open turn
	}
	// QueuedMessage is a message that asks for a turn.
	QueuedMessage struct {
		Seq      int64     `json:"seq"`
		Rights   string    `json:"rights,omitempty"`
		Surface  string    `json:"surface,omitempty"`
		Alone    bool      `json:"alone,omitempty"`
		SentAt   time.Time `json:"sent_at,omitzero"` // milliseconds
		Sequence int64     `json:"sequence,omitempty"`
	}
	// EntryItem is an ItemEntry.
	EntryItem struct {
		Session string         `json:"session"`
		Entry   sessions.Entry `json:"entry"`
	}
	// BindingItem is an ItemBinding.
	BindingItem struct {
		Surface string `json:"surface"`
		Session string `json:"session"`
	}
	// TimerItem is an ItemTimer.
	TimerItem struct {
		Timer sessions.Timer `json:"timer"`
	}
	// DeadItem is an ItemDead.
	DeadItem struct {
		Letter sessions.DeadLetter `json:"letter"`
		Turn   TurnItem            `json:"turn"`
		Placed int64               `json:"placed"` // SessionItem.Placed when it was parked
	}
	// RowItem is an ItemRow; those of one surface come in their order. One that
	// was taken and not settled is MaybeSent. Session is empty where that is
	// not there any more.
	RowItem struct {
		ID        string          `json:"id"`
		Surface   string          `json:"surface"`
		Session   string          `json:"session,omitempty"`
		Entry     int64           `json:"entry,omitempty"`
		Payload   json.RawMessage `json:"payload"`
		Attempt   int             `json:"attempt,omitempty"`
		MaybeSent bool            `json:"maybe_sent,omitempty"`
	}
	// ScheduleItem is an ItemSchedule; its timer is an ItemTimer.
	ScheduleItem struct {
		ID         string          `json:"id"`
		By         string          `json:"by,omitempty"`
		Definition json.RawMessage `json:"definition"`
		State      json.RawMessage `json:"state"`
		Version    int64           `json:"version"`
		CreatedAt  time.Time       `json:"created_at"`
	}
	// RunItem is an ItemRun.
	RunItem struct {
		Schedule string          `json:"schedule"`
		ID       string          `json:"id"`
		At       time.Time       `json:"at"`
		Body     json.RawMessage `json:"body"`
	}
	// KeyItem is an ItemKey: a dedupe key and what it was used for. Session and
	// Seq are empty where the session is not there any more.
	KeyItem struct {
		Home    string    `json:"home"` // the surface or session whose keys it is among
		Key     string    `json:"key"`
		Until   time.Time `json:"until"`
		Session string    `json:"session,omitempty"`
		Seq     int64     `json:"seq,omitempty"`
	}
)
