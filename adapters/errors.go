package adapters

import (
	"errors"
	"fmt"
	"time"
)

// SendKind classifies why a message was not delivered.
type SendKind string

// Send kinds. Everything that is not known is SendUnknown.
const (
	SendRateLimited SendKind = "rate_limited" // certainly not sent; again after RetryAfter
	SendUnavailable SendKind = "unavailable"  // certainly not sent (dial, DNS, TLS, refused before the body); again with back-off
	SendUnknown     SendKind = "unknown"      // may have been sent (time-out, reset, 5xx after the body)
	SendMoved       SendKind = "moved"        // certainly not sent; the chat is MovedTo now: again there
	SendGone        SendKind = "gone"         // permanent for this chat: blocked, kicked, deleted
	SendRefused     SendKind = "refused"      // permanent for this message: the platform does not accept it
	SendDenied      SendKind = "denied"       // permanent for the account: the token is not accepted
)

// SendError is why one attempt to send failed. Its text names no secret and
// is for operators, not for the chat.
type SendError struct {
	Kind       SendKind
	RetryAfter time.Duration // SendRateLimited: not before this has passed
	// Global is true when RetryAfter holds for the whole account, not just
	// for this chat.
	Global  bool
	MovedTo Surface // SendMoved
	Reason  string  // the platform's words, or what happened
	Err     error   // the cause, scrubbed; may be nil
}

// Error names kind and reason.
func (e *SendError) Error() string {
	if e.Kind == SendRateLimited {
		return fmt.Sprintf("send: %s for %s: %s", e.Kind, e.RetryAfter, e.Reason)
	}
	return fmt.Sprintf("send: %s: %s", e.Kind, e.Reason)
}

// Unwrap gives the cause.
func (e *SendError) Unwrap() error { return e.Err }

// AsSendError finds a *SendError in err. An error that is none is classed
// SendUnknown, the only class that assumes nothing.
func AsSendError(err error) *SendError {
	if sendErr, ok := errors.AsType[*SendError](err); ok {
		return sendErr
	}
	return &SendError{Kind: SendUnknown, Reason: err.Error(), Err: err}
}
