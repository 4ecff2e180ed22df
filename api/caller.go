package api

import (
	"context"
	"net/http"
	"strings"

	"parley/adapters"
	"parley/conversations"
	"parley/sessions"
)

// caller is who makes a request. The zero value is nobody, whom no rule lets
// reach anything.
type caller struct {
	conversations.Caller
	maxRole string // of a channel's token: the most that those it speaks for may do
}

// ownerCaller is whoever holds the owner's token, or a browser that is signed in.
func ownerCaller() caller {
	return caller{Caller: conversations.Owner("owner")}
}

type callerKey struct{}

func withCaller(r *http.Request, who caller) *http.Request {
	return r.WithContext(context.WithValue(r.Context(), callerKey{}, who))
}

func callerOf(r *http.Request) caller {
	who, _ := r.Context().Value(callerKey{}).(caller)
	return who
}

// mayName refuses an id that the caller could not reach if there were a
// session with it, as one that is to be made.
func (c caller) mayName(id string) error {
	return sessions.Reach(sessions.Record{ID: id}, c.Caller.Caller)
}

// mayBind refuses a channel's token surfaces of other platforms than its own.
func (c caller) mayBind(surface adapters.Surface) error {
	if c.Namespace != "" && string(surface.Platform) != c.Namespace {
		return forbiddenProblem("This token is for surfaces of " + c.Namespace + " only.")
	}
	return nil
}

// mayBe refuses a channel's token everybody but the people of its own
// platform; whom the gateway itself takes for its owner is none of them.
func (c caller) mayBe(identity adapters.Identity) error {
	if c.Namespace == "" {
		return nil
	}
	if identity == "" {
		return badRequest("This token speaks for the people of " + c.Namespace + ": say for whom in \"sender\", as in {\"id\": \"" + c.Namespace + ":12345\"}.")
	}
	if c.MaySpeakFor(string(identity)) != nil || identity == adapters.Platform(c.Namespace).Owner() {
		return forbiddenProblem("This token speaks for the people of " + c.Namespace + " only.")
	}
	return nil
}

// platformOf is what an id, a surface or an identity begins with.
func platformOf(name string) adapters.Platform {
	platform, _, _ := strings.Cut(name, ":")
	return adapters.Platform(platform)
}
