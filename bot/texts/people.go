package texts

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"parley/adapters"
	"parley/people"
	"parley/routing"
	"parley/sessions"
)

// What is said about letting people in.
const (
	LetIn = "You may talk to me now. Just write; /help lists what else I understand."

	PeopleAlone = "Only in a direct chat with me: who asks to be let in is nobody else's business."
	PairUsage   = "`/pair list` shows who asks to be let in, `/pair allow CODE` lets them in, `/pair block CODE` blocks them for good. " +
		"`/people` shows who may talk to me."
	PeopleUsage = "`/people` shows who may talk to me; `/people allow|block|remove ID` and `/people role ID owner|member|guest|blocked` change it. " +
		"An ID is one such as `telegram:12345`, or the code of a request."
	NobodyAsks = "Nobody asks to be let in."
	NoSuchCode = "Nobody waits with that code. `/pair list` shows who does."
)

// Knocked is what became of a stranger's wish to be let in.
type Knocked struct {
	Code string // empty: it was not kept
	Told bool   // owners were told
	Full bool   // too many wait already
}

// Stranger is the one line to somebody who is not known.
func Stranger(sender adapters.Identity, knocked Knocked) string {
	switch {
	case knocked.Code != "" && knocked.Told:
		return fmt.Sprintf("I don't know you yet, so I have asked an owner of this bot to let you in. Your id is `%s`, your code `%s`.", sender, knocked.Code)
	case knocked.Code != "":
		return fmt.Sprintf("I don't know you yet. Give an owner of this bot your code `%s` to let you in; your id is `%s`.", knocked.Code, sender)
	case knocked.Full:
		return fmt.Sprintf("I don't know you yet, and too many people already wait to be let in. Your id is `%s`: give it to an owner of this bot.", sender)
	}
	return fmt.Sprintf("I don't know you yet. Your id is `%s`: ask an owner of this bot to let you in.", sender)
}

// AsksToComeIn tells an owner of a request.
func AsksToComeIn(request people.Request) string {
	return fmt.Sprintf("%s asks to talk to me. `/pair allow %s` lets them in, `/pair block %s` blocks them. Without an answer the request ends in %d hours.",
		requester(request), request.Code, request.Code, int(people.RequestFor/time.Hour))
}

func requester(request people.Request) string {
	if request.Name == "" {
		return "`" + request.Identity + "`"
	}
	return "“" + Plain(request.Name) + "” (`" + request.Identity + "`)"
}

// AllowPerson answers /allow for the chat of one person: it is for groups.
func AllowPerson(code string) string {
	if code != "" {
		return "That is the chat of one person who asks to be let in: `/pair allow " + code + "` does it. /allow is for groups."
	}
	return "That is the chat of one person. /allow is for groups; `/people allow ID` lets a person in."
}

// Requests lists who waits to be let in.
func Requests(waiting []people.Request, now time.Time) string {
	if len(waiting) == 0 {
		return NobodyAsks
	}
	var out strings.Builder
	for _, request := range waiting {
		left := max(1, int(request.Until.Sub(now).Round(time.Hour)/time.Hour))
		fmt.Fprintf(&out, "- `%s` %s, for %d h more\n", request.Code, requester(request), left)
	}
	out.WriteString("\n" + PairUsage)
	return out.String()
}

// peopleShown bounds how many people are listed in a chat.
const peopleShown = 50

// People lists who is known, and who waits.
func People(list []people.Person, waiting int) string {
	var out strings.Builder
	for i, person := range list {
		if i == peopleShown {
			out.WriteString("\n… and more; `gateway people list` shows all.")
			break
		}
		fmt.Fprintf(&out, "- `%s` %s", strings.Join(person.Identities, "`, `"), person.Role)
		if person.Configured != "" {
			out.WriteString(", by the configuration")
		}
		out.WriteString("\n")
	}
	if waiting > 0 {
		fmt.Fprintf(&out, "\n%s to be let in: `/pair list`.", count(int64(waiting), "person")+" asks")
	}
	return out.String()
}

// Given says what somebody may do now.
func Given(person people.Person) string {
	id := "`" + person.ID + "`"
	switch person.Role {
	case routing.Owner:
		return id + " is an owner now."
	case routing.Member:
		return id + " may talk to me now."
	case routing.Blocked:
		return id + " is blocked: I never answer them."
	}
	return id + " is a guest, as everybody whom nobody has let in."
}

// NotGiven is what an owner is told of an error that is their own; empty: it is
// not.
func NotGiven(err error) string {
	configured, isConfigured := errors.AsType[*people.ConfiguredError](err)
	invalid, isInvalid := errors.AsType[*sessions.InvalidError](err)
	switch {
	case isConfigured:
		return "Nothing was changed: " + configured.Error() + "."
	case isInvalid:
		return "Nothing was changed: " + invalid.Why + "."
	case errors.Is(err, people.ErrNoRole), errors.Is(err, people.ErrSelf):
		return "Nothing was changed: " + err.Error() + "."
	case errors.Is(err, sessions.ErrNotFound):
		return NoSuchCode
	}
	return ""
}
