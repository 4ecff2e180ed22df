package endpoint

import (
	"errors"
	"time"
)

// Defaults and bounds of every endpoint.
const (
	ConnectDefault = 10 * time.Second
	FirstDefault   = 3 * time.Minute
	IdleDefault    = time.Minute
	TotalDefault   = 10 * time.Minute

	ResponseMax = 16 << 20  // bytes of one response body
	LineMax     = 1 << 20   // bytes of one line of a stream
	AnswerMax   = 256 << 10 // bytes of text, and of tool arguments, in one answer
	CallsMax    = 128       // tool calls of one answer
)

// ErrTooLong is for what passes one of the bounds.
var ErrTooLong = errors.New("the answer is longer than the limit")

// Limits are the times a call may take. Zero means the default.
type Limits struct {
	Connect time.Duration // until the connection stands, TLS included
	First   time.Duration // from the request to the first event
	Idle    time.Duration // between two events; a keep-alive counts as one
	Total   time.Duration // the whole call
}

// WithDefaults fills the defaults in. An error means that a limit is negative.
func (l Limits) WithDefaults() (Limits, error) {
	for _, limit := range []struct {
		value   *time.Duration
		initial time.Duration
	}{{&l.Connect, ConnectDefault}, {&l.First, FirstDefault}, {&l.Idle, IdleDefault}, {&l.Total, TotalDefault}} {
		if *limit.value < 0 {
			return l, errors.New("a time limit is negative")
		}
		if *limit.value == 0 {
			*limit.value = limit.initial
		}
	}
	return l, nil
}
