package sessions

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"
	"unicode/utf8"
)

// The checks refuse what no state of a store would accept, with an
// *InvalidError. Every backend calls them first, so all refuse the same.

// CheckKey refuses a name (surface, lock, chat, owner …) that is empty, longer
// than [KeyMax], or not valid UTF-8.
func CheckKey(what, key string) error {
	if key == "" {
		return &InvalidError{What: what, Why: "it must not be empty"}
	}
	return checkOptional(what, key)
}

// CheckWorkspace refuses what cannot be a workspace's id; an empty one is none.
func CheckWorkspace(id string) error { return checkOptional("workspace id", id) }

func checkOptional(what, key string) error {
	if len(key) > KeyMax {
		return &InvalidError{What: what, Why: fmt.Sprintf("it must have at most %d bytes", KeyMax)}
	}
	if !utf8.ValidString(key) {
		return &InvalidError{What: what, Why: "it must be valid UTF-8"}
	}
	return nil
}

// CheckList refuses a limit that is not 1 to [ListMax].
func CheckList(limit int) error {
	if limit < 1 || limit > ListMax {
		return &InvalidError{What: "limit", Why: fmt.Sprintf("it must be 1 to %d", ListMax)}
	}
	return nil
}

// checkMetadata refuses metadata that is longer than [MetadataMax] as JSON.
// A record's merged metadata has to pass it too.
func checkMetadata(metadata map[string]any) error {
	if len(metadata) == 0 {
		return nil
	}
	if deeper(metadata, MetadataDepth) {
		return &InvalidError{What: "metadata", Why: fmt.Sprintf("it must be nested at most %d deep", MetadataDepth)}
	}
	encoded, err := json.Marshal(metadata)
	if err != nil {
		return &InvalidError{What: "metadata", Why: err.Error()}
	}
	if len(encoded) > MetadataMax {
		return &InvalidError{What: "metadata", Why: fmt.Sprintf("it must have at most %d bytes as JSON", MetadataMax)}
	}
	return nil
}

// deeper reports whether objects and lists are nested more than so deep. It
// looks no deeper than that.
func deeper(value any, most int) bool {
	switch value := value.(type) {
	case map[string]any:
		for _, inner := range value {
			if most == 0 || deeper(inner, most-1) {
				return true
			}
		}
	case []any:
		return most == 0 && len(value) > 0 || slices.ContainsFunc(value, func(inner any) bool { return deeper(inner, most-1) })
	}
	return false
}

// Check refuses a claimer without owner or time.
func (c Claimer) Check() error {
	if c.For < time.Millisecond {
		return &InvalidError{What: "claim", Why: "its time must be at least a millisecond"}
	}
	return CheckKey("owner", c.Owner)
}

func checkClaimer(c *Claimer) error {
	if c == nil {
		return nil
	}
	return c.Check()
}

// Check refuses a session that cannot be: no home, a bad id, or an id that is
// not of its surface's home.
func (n NewSession) Check() error {
	if n.ID == "" && n.Surface == "" {
		return &InvalidError{What: "session", Why: "it needs an id or a surface"}
	}
	if n.Surface != "" {
		if err := n.checkSurface(n.Surface); err != nil {
			return err
		}
	}
	return n.checkRest()
}

// checkSurface checks the surface, and that the session's id (or the bare id
// it would get) fits it.
func (n NewSession) checkSurface(surface string) error {
	if err := CheckKey("surface", surface); err != nil {
		return err
	}
	if bare := BareID(surface); bare != "" {
		if err := checkNewID(bare); err != nil {
			return err
		}
	}
	if n.ID != "" && Home(n.ID) != Home(SurfaceHome(surface)) {
		return &InvalidError{What: "session id", Why: "it is not of the home of surface " + surface + "; leave it empty to have one drawn"}
	}
	return nil
}

func (n NewSession) checkRest() error {
	if n.ID != "" {
		if err := checkNewID(n.ID); err != nil {
			return err
		}
	}
	if err := checkOptional("user id", n.UserID); err != nil {
		return err
	}
	if err := CheckWorkspace(n.WorkspaceID); err != nil {
		return err
	}
	if err := checkOptional("name", n.Name); err != nil {
		return err
	}
	if err := checkOptional("agent", n.Agent); err != nil {
		return err
	}
	return checkMetadata(n.Metadata)
}

// Check refuses a patch that exceeds a limit.
func (p Patch) Check() error {
	for what, text := range map[string]*string{"name": p.Name, "agent": p.Agent} {
		if text != nil {
			if err := checkOptional(what, *text); err != nil {
				return err
			}
		}
	}
	if p.WorkingMemory != nil && len(*p.WorkingMemory) > MetadataMax {
		return &InvalidError{What: "working memory", Why: fmt.Sprintf("it must have at most %d bytes", MetadataMax)}
	}
	if p.Checkpoint != nil && (p.Checkpoint.Seq < 0 || p.Checkpoint.Turns < 0) {
		return &InvalidError{What: "checkpoint", Why: "it must not be negative"}
	}
	if p.Description != nil && descriptionRank(p.Description.Source) == 0 {
		return &InvalidError{What: "description source", Why: "it must be fallback, agent or user"}
	}
	return checkMetadata(p.Metadata)
}

// Check refuses a rotation without surface, or with deliveries for others.
func (r RotateRequest) Check() error {
	if err := CheckKey("surface", r.New.Surface); err != nil {
		return err
	}
	if err := r.New.Check(); err != nil {
		return err
	}
	if err := checkOptional("key", r.Key); err != nil {
		return err
	}
	if err := checkDeliveries(r.Deliveries, r.New.Surface, -1); err != nil {
		return err
	}
	return checkClaimer(r.Send)
}

// Check refuses a post without a place, or beyond a limit.
func (r PostRequest) Check() error {
	if err := r.checkPlace(); err != nil {
		return err
	}
	for what, key := range map[string]string{"key": r.Key, "user id": r.UserID, "rights": r.Rights} {
		if err := checkOptional(what, key); err != nil {
			return err
		}
	}
	if r.Message.Role == "" {
		return &InvalidError{What: "message", Why: "it needs a role"}
	}
	if r.Debounce < 0 {
		return &InvalidError{What: "debounce", Why: "it must not be negative"}
	}
	if r.Debounce > 0 {
		return nil
	}
	return checkClaimer(r.Claim)
}

func (r PostRequest) checkPlace() error {
	if r.Held != "" && r.Session != "" {
		return &InvalidError{What: "post", Why: "it names a session and asks what its surface has"}
	}
	if r.Session != "" {
		if err := CheckID(r.Session); err != nil {
			return err
		}
		return checkOptional("surface", r.Surface)
	}
	if err := r.New.checkSurface(r.Surface); err != nil {
		return err
	}
	return r.New.checkRest()
}

// Shows is what the post shows of its surface: Direct, Group, or empty where
// it shows nothing. What was addressed by its session's id is no witness for
// the surfaces of that session.
func (r PostRequest) Shows() Type {
	if r.Session != "" || r.New.Source.Assumed {
		return ""
	}
	return r.New.Source.Type
}

// Mended is the source as a message from one of the session's surfaces shows it
// to be; changed is false where it is right as it is. See [Turns.Post].
func (s Source) Mended(shown Type, surfaces []string) (mended Source, changed bool) {
	mended = s
	mended.Type, mended.Assumed = shown, false
	switch {
	case s.Type == Direct && shown == Group, s.Type == Group && shown == Direct && s.Assumed && len(surfaces) == 1:
		return mended, true
	}
	return s, false
}

// Stranger reports whether a post must not go into the session of its surface
// unless its user takes part there: it shows the surface to be direct, and the
// session is a group's for certain.
func (r PostRequest) Stranger(source Source, surfaces []string) bool {
	if r.Anywhere || r.UserID == "" || r.Shows() != Direct || source.Type != Group {
		return false
	}
	_, mends := source.Mended(Direct, surfaces)
	return !mends
}

// Entry encodes the message that a post stores: with the request's Surface and
// Trigger.
func (r PostRequest) Entry() (NewEntry, error) {
	m := r.Message
	m.Surface, m.Triggered = r.Surface, r.Trigger
	entry, err := NewMessage(m)
	if err != nil {
		return entry, &InvalidError{What: "message", Why: err.Error()}
	}
	return entry, entry.Check()
}

// Check refuses a claim without session or claimer.
func (r ClaimRequest) Check() error {
	if err := CheckID(r.Session); err != nil {
		return err
	}
	return r.Claimer.Check()
}

// Check refuses an entry of an unknown type, or whose payload is no JSON
// object or too long.
func (e NewEntry) Check() error {
	if !e.Type.Known() {
		return &InvalidError{What: "entry type", Why: fmt.Sprintf("%.40q is none", e.Type)}
	}
	if e.Target < 0 || e.Target != 0 && e.Type != EntryLeaf {
		return &InvalidError{What: "entry", Why: "only a leaf entry has a target"}
	}
	if e.Payload == nil {
		return nil
	}
	if err := CheckPayload(e.Payload); err != nil {
		return err
	}
	if e.Payload[firstByte(e.Payload)] != '{' {
		return &InvalidError{What: "payload", Why: "it must be a JSON object"}
	}
	return nil
}

// Body is the entry's payload as it is stored: see NewEntry.Payload.
func (e NewEntry) Body() (json.RawMessage, error) {
	if e.Payload != nil {
		return e.Payload, nil
	}
	if e.Type != EntryLeaf {
		return json.RawMessage("{}"), nil
	}
	return json.Marshal(LeafEntry{TargetID: EntryID(e.Target)})
}

func firstByte(valid json.RawMessage) int {
	for i, c := range valid {
		if c != ' ' && c != '\t' && c != '\n' && c != '\r' {
			return i
		}
	}
	return 0
}

// CheckPayload refuses a payload that is longer than [PayloadMax], or no JSON.
func CheckPayload(payload json.RawMessage) error {
	if len(payload) > PayloadMax {
		return &InvalidError{What: "payload", Why: fmt.Sprintf("it must have at most %d bytes", PayloadMax)}
	}
	if !json.Valid(payload) {
		return &InvalidError{What: "payload", Why: "it must be valid JSON"}
	}
	return nil
}

// CheckEntries refuses more than [EntriesPerCall] entries, or a bad one.
func CheckEntries(entries []NewEntry) error {
	if len(entries) > EntriesPerCall {
		return &InvalidError{What: "entries", Why: fmt.Sprintf("at most %d go into one call", EntriesPerCall)}
	}
	for _, e := range entries {
		if err := e.Check(); err != nil {
			return err
		}
	}
	return nil
}

// checkDeliveries checks rows; surface, if any, must be that of all; entries
// is how many entries they may point to, or -1 where Entry does not count.
func checkDeliveries(deliveries []NewDelivery, surface string, entries int) error {
	if len(deliveries) > EntriesPerCall {
		return &InvalidError{What: "deliveries", Why: fmt.Sprintf("at most %d go into one call", EntriesPerCall)}
	}
	for _, d := range deliveries {
		if err := CheckKey("surface", d.Surface); err != nil {
			return err
		}
		if surface != "" && d.Surface != surface {
			return &InvalidError{What: "deliveries", Why: "all must be for one surface"}
		}
		if entries >= 0 && (d.Entry < -1 || d.Entry >= entries) {
			return &InvalidError{What: "delivery", Why: "its entry is not one of the call's"}
		}
		if err := CheckPayload(d.Payload); err != nil {
			return err
		}
	}
	return nil
}
