package discord

import (
	"errors"
	"fmt"
	"time"

	"github.com/gorilla/websocket"
)

// closeResumable is the code with which we close. Any but 1000 and 1001 keeps
// the session, so that we or a successor can resume it.
const closeResumable = 4900

// next is what to do after a connection has ended.
type next int

const (
	nextResume next = iota // the session goes on
	nextFresh              // the session is over: identify
	nextNever              // no retry mends it
)

// ending is how a connection ended.
type ending struct {
	next    next
	wait    time.Duration // Discord wants at least this pause
	planned bool          // Discord asked for it: no fault
	reason  error         // for logs and health; with nextNever it contains the remedy
}

// Why we end a connection ourselves.
var (
	errZombie    = errors.New("the connection hangs: a heartbeat was not acknowledged")
	errNotReady  = errors.New("the session was not confirmed by Discord in time")
	errBehind    = errors.New("too many events wait to be taken in; the connection is dropped until they are, and then resumed")
	errReconnect = errors.New("a reconnect was asked for by Discord")
)

// Codes with which Discord closes.
const (
	closeAuthenticationFailed = 4004
	closeInvalidSeq           = 4007
	closeSessionTimedOut      = 4009
	closeInvalidShard         = 4010
	closeShardingRequired     = 4011
	closeInvalidAPIVersion    = 4012
	closeInvalidIntents       = 4013
	closeDisallowedIntents    = 4014
)

// endingOf judges the error that ended the reading of a connection.
func endingOf(err error) ending {
	closed, ok := errors.AsType[*websocket.CloseError](err)
	if !ok {
		return ending{next: nextResume, reason: fmt.Errorf("the connection broke: %w", err)}
	}
	if remedy, fatal := fatalClose(closed.Code); fatal {
		return ending{next: nextNever, reason: errors.New(remedy)}
	}
	out := ending{next: nextResume, reason: fmt.Errorf("the connection was closed by Discord with code %d", closed.Code)}
	switch closed.Code {
	case closeInvalidSeq, closeSessionTimedOut:
		out.next = nextFresh
	}
	return out
}

// fatalClose is the line for an operator about a code after which Discord
// wants no reconnect.
func fatalClose(code int) (remedy string, fatal bool) {
	switch code {
	case closeAuthenticationFailed:
		return "Discord does not accept the token: " + remedyToken, true
	case closeInvalidShard, closeShardingRequired:
		return fmt.Sprintf("Discord refuses the number of shards (code %d): restart the gateway, so that it asks for the number anew", code), true
	case closeInvalidAPIVersion:
		return "Discord no longer speaks version " + apiVersion + " of the gateway's protocol: update the gateway", true
	case closeInvalidIntents:
		return "Discord does not know the intents that were asked for (code 4013): update the gateway", true
	case closeDisallowedIntents:
		return "Discord refuses the message content intent: " + remedyContent, true
	}
	return "", false
}
