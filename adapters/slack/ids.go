package slack

import (
	"strconv"
	"strings"
	"time"

	"parley/adapters"
)

// idMax is longer than any id of Slack's.
const idMax = 64

// isID reports whether text can be the id of a user, a channel or a team:
// capital letters and digits.
func isID(text string) bool {
	return text != "" && len(text) <= idMax && strings.Trim(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789") == ""
}

// microseconds reads a message's ts, "1716000000.123456": seconds and
// microseconds since 1970, unique within a channel.
func microseconds(ts string) (int64, bool) {
	const secondsMax, fraction = 12, 6
	whole, part, found := strings.Cut(ts, ".")
	if !found || len(part) != fraction || whole == "" || len(whole) > secondsMax || strings.Trim(whole+part, "0123456789") != "" {
		return 0, false
	}
	n, err := strconv.ParseInt(whole+part, 10, 64)
	return n, err == nil
}

func isTS(ts string) bool {
	_, ok := microseconds(ts)
	return ok
}

// timeOf is when a ts was; the zero time where it is none.
func timeOf(ts string) time.Time {
	n, ok := microseconds(ts)
	if !ok {
		return time.Time{}
	}
	return time.UnixMicro(n).UTC()
}

func sequenceOf(ts string) int64 {
	n, _ := microseconds(ts)
	return n
}

func identity(user string) adapters.Identity { return adapters.NewIdentity(adapters.Slack, user) }
