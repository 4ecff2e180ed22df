package sessions

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// FindDefault is how many records a [Query] without a limit finds at most.
const FindDefault = 50

// Query says which sessions to find. What is left empty does not count; what
// is given must all hold.
type Query struct {
	UserID      string  // the record's UserID
	Participant string  // one of the record's Participants
	WorkspaceID string  //
	States      []State // any of these; none: every state
	Surface     string  // the surface's current session, at most one
	Type        Type    //
	ActiveAfter time.Time
	Limit       int    // 1 to ListMax; 0: FindDefault
	Cursor      string // Page.Next of the page before; empty: the first page
}

// Page is what was found: the newest LastActivityAt first, of equal ones the
// greater id.
type Page struct {
	Records []Record `json:"sessions"`
	// Next is the Cursor of the page behind this one; empty: there is none.
	// Following it, a session that no post, claim or end of a turn moves in
	// the meantime comes exactly once.
	Next string `json:"next,omitempty"`
}

// Check refuses what no session could match, and a cursor that is none.
func (q Query) Check() error {
	for what, text := range map[string]string{
		"user id": q.UserID, "participant": q.Participant, "workspace id": q.WorkspaceID, "surface": q.Surface,
	} {
		if err := checkOptional(what, text); err != nil {
			return err
		}
	}
	for _, state := range q.States {
		if !state.known() {
			return &InvalidError{What: "state", Why: fmt.Sprintf("%.40q is none; there are created, active, suspended and expired", state)}
		}
	}
	if q.Type != "" && q.Type != Direct && q.Type != Group {
		return &InvalidError{What: "type", Why: fmt.Sprintf("%.40q is none; there are direct and group", q.Type)}
	}
	if q.Limit != 0 {
		if err := CheckList(q.Limit); err != nil {
			return err
		}
	}
	_, err := ParsePosition(q.Cursor)
	return err
}

// Most is how many records the query finds at most.
func (q Query) Most() int {
	if q.Limit == 0 {
		return FindDefault
	}
	return q.Limit
}

// Matches reports whether a record is one of those the query asks for, but for
// Surface and Cursor.
func (q Query) Matches(r Record) bool {
	return (q.UserID == "" || r.UserID == q.UserID) &&
		(q.Participant == "" || slices.Contains(r.Participants, q.Participant)) &&
		(q.WorkspaceID == "" || r.WorkspaceID == q.WorkspaceID) &&
		(len(q.States) == 0 || slices.Contains(q.States, r.State)) &&
		(q.Type == "" || r.Source.Type == q.Type) &&
		(q.ActiveAfter.IsZero() || r.LastActivityAt.After(q.ActiveAfter))
}

func (s State) known() bool {
	switch s {
	case StateCreated, StateActive, StateSuspended, StateExpired:
		return true
	}
	return false
}

// Position is a place in the order of a [Page].
type Position struct {
	At time.Time // LastActivityAt, milliseconds
	ID string
}

// Position is where a record stands.
func (r Record) Position() Position { return Position{At: r.LastActivityAt, ID: r.ID} }

// Before reports whether p comes earlier in a page than q.
func (p Position) Before(q Position) bool {
	if !p.At.Equal(q.At) {
		return p.At.After(q.At)
	}
	return p.ID > q.ID
}

// Cursor is the position as a text that is safe in a URL.
func (p Position) Cursor() string {
	return base64.RawURLEncoding.EncodeToString([]byte(strconv.FormatInt(p.At.UnixMilli(), 10) + ":" + p.ID))
}

// ParsePosition reads a [Position.Cursor]. The empty cursor is the zero
// Position, which stands before every page.
func ParsePosition(cursor string) (Position, error) {
	if cursor == "" {
		return Position{}, nil
	}
	wrong := &InvalidError{What: "cursor", Why: "it is none that this gateway gave; leave it out to begin with the newest"}
	if len(cursor) > 2*(IDMax+24) {
		return Position{}, wrong
	}
	text, err := base64.RawURLEncoding.DecodeString(cursor)
	if err != nil {
		return Position{}, wrong
	}
	millis, id, found := strings.Cut(string(text), ":")
	at, err := strconv.ParseInt(millis, 10, 64)
	if !found || err != nil || at < 0 || CheckID(id) != nil {
		return Position{}, wrong
	}
	return Position{At: time.UnixMilli(at).UTC(), ID: id}, nil
}
