package agent

import (
	"errors"
	"fmt"
	"time"
)

// ErrorKind classifies why a model gave no answer.
type ErrorKind string

// Kinds of failure. What fits no other is KindUnavailable.
const (
	KindUnauthorized  ErrorKind = "unauthorized"   // the key is missing or not accepted
	KindNotFound      ErrorKind = "not_found"      // no such model, or no such endpoint
	KindQuota         ErrorKind = "quota"          // the account has nothing left to spend
	KindRateLimited   ErrorKind = "rate_limited"   // too many calls; see RetryAfter
	KindUnavailable   ErrorKind = "unavailable"    // not reached, overloaded, or broken on its side
	KindTimeout       ErrorKind = "timeout"        // reached, but silent for too long
	KindContextLength ErrorKind = "context_length" // the request is longer than the model reads
	KindRefused       ErrorKind = "refused"        // the endpoint does not accept the request
	KindFiltered      ErrorKind = "content_filter" // a content filter withheld the answer
	KindBrokenStream  ErrorKind = "broken_stream"  // the answer broke off
	KindTooLong       ErrorKind = "too_long"       // the answer passed the limit
	KindEmpty         ErrorKind = "empty"          // the model said nothing, not even the silence marker
)

// ModelError is why one model call failed. Its text names no secret and is for
// operators; people get ForPeople.
type ModelError struct {
	Kind       ErrorKind
	Temporary  bool          // the same request can succeed later
	RetryAfter time.Duration // not before this has passed; 0: not said
	Started    bool          // some text was already handed to onText
	Reason     string        // the provider's words or what happened, scrubbed; and the remedy, if there is one
	Err        error         // the cause, scrubbed; may be nil
}

// Error names kind and reason.
func (e *ModelError) Error() string {
	if e.RetryAfter > 0 {
		return fmt.Sprintf("model: %s: %s (again after %s)", e.Kind, e.Reason, e.RetryAfter)
	}
	return fmt.Sprintf("model: %s: %s", e.Kind, e.Reason)
}

// Unwrap gives the cause.
func (e *ModelError) Unwrap() error { return e.Err }

// ForPeople is one sentence for the chat: what it means to whoever asked, and
// what they can do. It holds nothing of Reason.
func (e *ModelError) ForPeople() string {
	switch e.Kind {
	case KindUnauthorized, KindNotFound, KindQuota:
		return "I can't answer right now: my language model isn't set up properly. Whoever runs me has to look into it."
	case KindRateLimited:
		return "I'm being asked too much at once and couldn't answer. Please try again in a moment."
	case KindTimeout:
		return "My language model took too long, so I gave up waiting. Please try again."
	case KindContextLength:
		return "This conversation has grown too long for me to read. Start a new one with /new."
	case KindRefused:
		return "My language model did not accept this request, so I have no answer."
	case KindFiltered:
		return "A content filter held my answer back. Putting it differently may help."
	case KindBrokenStream:
		return "My answer broke off before it was complete. Please try again."
	case KindTooLong:
		return "My answer grew too long and was cut off. Please ask for something shorter."
	case KindEmpty:
		return "My language model gave an empty answer. Please try again."
	default:
		return "I couldn't reach my language model. Please try again in a moment."
	}
}

// AsModelError finds a *ModelError in err. An error that is none is classed
// KindUnavailable and not temporary: nothing is known that would make trying
// again sensible.
func AsModelError(err error) *ModelError {
	if failure, ok := errors.AsType[*ModelError](err); ok {
		return failure
	}
	return &ModelError{Kind: KindUnavailable, Reason: err.Error(), Err: err}
}
