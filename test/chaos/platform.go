package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
)

// platform is one strict fake and the people on it, as the driver uses it; or
// the programs that use the gateways' own API, which is no fake and is sent
// nothing.
type platform struct {
	name    string
	backend string // base URL of the fake's HTTP API; empty: no fake
	// environment points a gateway at the platform, by way of a URL that
	// leads to backend.
	environment func(via string) map[string]string
	chats       []*chat
	shown       func(*chat) []string // what people see of the bot, in order
	// sends finds out whether a request sends a message: where, and what.
	sends func(r *http.Request, body []byte) (surface, text string, yes bool)
	// resolves: the platform has a means to find out what became of a send, so
	// nothing may be shown twice.
	resolves bool
	// looksUp: that means is to look. Who gives up waiting and looks too soon may
	// not see what is carried out later.
	looksUp bool
	// busy is this platform's answer to a request that comes too soon.
	busy func(w http.ResponseWriter)
	// hears: whoever speaks from now on is heard, now or later. Nil: always.
	hears func() bool
	// acknowledged returns nil when the gateways have acknowledged all that was
	// said, or ctx's end.
	acknowledged func(ctx context.Context) error
	// guest is one more person with a chat of their own, whom no oracle looks
	// at. Nil: there are none here.
	guest      func(i int) *chat
	violations func() []string
	close      func()
}

// chat is one place where people talk to the bot.
type chat struct {
	platform *platform
	surface  string // its key in the store
	group    bool   // the bot has to be named, or only listens
	call     string // how a message names the bot in a group
	post     func(text string)

	mu sync.Mutex // held while something is numbered and said
}

// groupEvery: each so-manieth chat is a group.
const groupEvery = 5

func isGroup(i int) bool { return i%groupEvery == groupEvery-1 }

// busyJSON answers that there were too many requests.
func busyJSON(w http.ResponseWriter, body map[string]any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusTooManyRequests)
	_ = json.NewEncoder(w).Encode(body)
}

// platformNames are those that messages can be said on.
func platformNames() []string { return []string{"telegram", "discord", "slack", apiName} }

// openPlatform starts a fake, or the programs that use the API of the gateways
// in these folders.
func openPlatform(name string, chats int, l *ledger, folders []string) (*platform, error) {
	switch name {
	case apiName:
		return newAPI(chats, l, folders), nil
	case "telegram":
		return newTelegram(chats), nil
	case "discord":
		return newDiscord(chats)
	case "slack":
		return newSlack(chats), nil
	}
	return nil, fmt.Errorf("there is no platform %q", name)
}

// say says something with a number that asks for an answer.
func (c *chat) say(l *ledger, words string, special bool) *said {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := l.next(c, true, special)
	c.post(c.calling(words + " m" + itoa(s.number)))
	return s
}

func (c *chat) calling(text string) string {
	if c.group {
		return c.call + text
	}
	return text
}

// mutter says something in a group that asks for no answer.
func (c *chat) mutter(l *ledger) {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := l.next(c, false, false)
	c.post("among us u" + itoa(s.number))
}
