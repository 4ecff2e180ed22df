package sessions

import (
	"crypto/rand"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"parley/internal/places"
)

// IDMax bounds a session id in bytes.
const IDMax = 256

// CheckID refuses what cannot be a session id: empty, longer than [IDMax], not
// valid UTF-8, or with white space, control characters or braces (which would
// move it to another partition). The error is an *InvalidError.
func CheckID(id string) error {
	if id == "" || len(id) > IDMax {
		return &InvalidError{What: "session id", Why: fmt.Sprintf("it must have 1 to %d bytes", IDMax)}
	}
	if !utf8.ValidString(id) {
		return &InvalidError{What: "session id", Why: "it must be valid UTF-8"}
	}
	for i := range len(id) {
		if c := id[i]; c <= ' ' || c == 0x7f || c == '{' || c == '}' || c == '/' {
			return &InvalidError{What: "session id", Why: "it must not contain white space, control characters, braces or slashes"}
		}
	}
	return nil
}

// checkNewID refuses what cannot be the id of a new session: also what a
// terminal or a page would not show as it is. Those that are there already can
// still be read.
func checkNewID(id string) error {
	if err := CheckID(id); err != nil {
		return err
	}
	if strings.ContainsFunc(id, func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r) || unicode.In(r, unicode.Zl, unicode.Zp, unicode.Bidi_Control)
	}) {
		return &InvalidError{What: "session id", Why: "it must not contain white space, control characters or changes of the writing direction"}
	}
	return nil
}

// BareID is the id of the first session of a surface that is a name
// (cli, web, api, schedule); empty for every other surface.
func BareID(surface string) string {
	parts := strings.SplitN(surface, ":", 3)
	if len(parts) == 3 && places.Own(parts[0]) {
		return parts[0] + ":" + parts[2]
	}
	return ""
}

// IDPrefix is what the generated session ids of a surface begin with:
// "platform:YYYY-MM-DD-", or "kind:name~" where the surface is a name.
func IDPrefix(surface string, day time.Time) string {
	if bare := BareID(surface); bare != "" {
		return bare + "~"
	}
	platform, _, _ := strings.Cut(surface, ":")
	return platform + ":" + day.UTC().Format(time.DateOnly) + "-"
}

// ForkPrefix is what the id of a session's fork begins with; [DrawID] ends it.
func ForkPrefix(id string, day time.Time) string {
	platform, rest, _ := strings.Cut(id, ":")
	if places.Own(platform) {
		name, _, _ := strings.Cut(rest, "~")
		return platform + ":" + name + "~"
	}
	if strings.HasPrefix(id, "sub:") || Home(id) != id {
		return id + "~"
	}
	return platform + ":" + day.UTC().Format(time.DateOnly) + "-"
}

// DrawID appends a random ending to prefix, again and again until fits accepts
// the id. A nil fits accepts the first. The ending has 60 random bits.
func DrawID(prefix string, fits func(id string) bool) string {
	for {
		id := prefix + strings.ToLower(rand.Text()[:12])
		if fits == nil || fits(id) {
			return id
		}
	}
}

// Home is what a session's partition is computed from. Sub-agents live with
// their root session ("sub:{parent}…"), the roles of a flow with their flow
// ("{flow}__{role}"), every other session by its own id.
func Home(id string) string {
	for strings.HasPrefix(id, "sub:") {
		id = id[len("sub:"):]
	}
	if flow, _, isRole := strings.Cut(id, "__"); isRole {
		return flow
	}
	return id
}

// SurfaceHome is what a surface's partition is computed from: the bare session
// id where the surface is a name, else the key itself.
func SurfaceHome(surface string) string {
	if bare := BareID(surface); bare != "" {
		return bare
	}
	return surface
}

// EntryID is the id of the entry with number seq: "e" and the number.
func EntryID(seq int64) string {
	if seq == 0 {
		return ""
	}
	return "e" + strconv.FormatInt(seq, 10)
}

// ParseEntryID reads an [EntryID]. The empty id is 0, "no entry".
func ParseEntryID(id string) (int64, error) {
	if id == "" {
		return 0, nil
	}
	digits, ok := strings.CutPrefix(id, "e")
	seq, err := strconv.ParseInt(digits, 10, 64)
	if !ok || err != nil || seq < 1 || EntryID(seq) != id {
		return 0, &InvalidError{What: "entry id", Why: "it must look like e42"}
	}
	return seq, nil
}
