package people

import (
	"crypto/rand"
	"errors"
	"slices"
	"strings"
	"time"
	"unicode"

	"parley/adapters"
)

// Limits of requests.
const (
	WaitMax    = 3              // requests that wait for one account of the bot
	allMax     = 100            // for all of them
	RequestFor = 24 * time.Hour // a request that nobody answers is forgotten then
	nameMax    = 64             // runes of what a stranger calls themselves
	codeLength = 6
)

// Request is a stranger's wish to be let in.
type Request struct {
	Code     string    `json:"code"`           // what owners answer with
	Identity string    `json:"identity"`       // who asks, as in telegram:12345
	Name     string    `json:"name,omitempty"` // what they call themselves: outside input, one line
	Surface  string    `json:"surface"`        // where they wrote: a direct chat
	At       time.Time `json:"at"`
	Until    time.Time `json:"until"`
}

// ErrFull is returned when as many strangers wait for this account as may.
var ErrFull = errors.New("too many people wait to be let in")

// account is the account of the bot that the stranger wrote to.
func (r Request) account() string {
	surface, err := adapters.ParseSurface(r.Surface)
	if err != nil {
		return r.Surface
	}
	return string(surface.Platform) + ":" + surface.Account
}

// add puts a request among those that wait, unless who asks waits already:
// then theirs is the result. Pure but for the code, which is drawn.
func add(waiting []Request, request Request, now time.Time) (kept []Request, mine Request, err error) {
	kept = current(waiting, now)
	same, account := 0, request.account()
	for _, other := range kept {
		if other.Identity == request.Identity {
			return kept, other, nil
		}
		if other.account() == account {
			same++
		}
	}
	if same >= WaitMax || len(kept) >= allMax {
		return kept, Request{}, ErrFull
	}
	request.Name, request.At, request.Until = oneLine(request.Name), now.UTC(), now.Add(RequestFor).UTC()
	for request.Code == "" || slices.ContainsFunc(kept, func(r Request) bool { return r.Code == request.Code }) {
		request.Code = rand.Text()[:codeLength]
	}
	return append(kept, request), request, nil
}

// current are the requests that have not expired.
func current(waiting []Request, now time.Time) []Request {
	return slices.DeleteFunc(slices.Clone(waiting), func(r Request) bool { return !now.Before(r.Until) })
}

// find is the request with a code, in any letter case.
func find(waiting []Request, code string) (Request, bool) {
	at := slices.IndexFunc(waiting, func(r Request) bool { return strings.EqualFold(r.Code, code) })
	if at < 0 {
		return Request{}, false
	}
	return waiting[at], true
}

// oneLine makes what a stranger calls themselves harmless in a line.
func oneLine(name string) string {
	var out strings.Builder
	count := 0
	for _, r := range strings.Join(strings.Fields(name), " ") {
		if count == nameMax {
			break
		}
		if r != unicode.ReplacementChar && unicode.IsGraphic(r) {
			out.WriteRune(r)
			count++
		}
	}
	return out.String()
}
