package fakemodel

import (
	"bytes"
	"context"
	"net/http"
	"strings"
	"time"
)

// Fault is what goes wrong with a reply.
type Fault string

// Faults. A reply's After counts the pieces that are sent before one.
const (
	FaultNone      Fault = ""
	FaultHang      Fault = "hang"       // silence until the client goes away; with After < 0 not even a header is sent
	FaultBreak     Fault = "break"      // the connection breaks
	FaultCut       Fault = "cut"        // the body ends in good order, but too early
	FaultError     Fault = "error"      // an error event, after which the connection stays open
	FaultKeepAlive Fault = "keep_alive" // events or comments that say nothing, for ever, one per Between
	FaultGarbage   Fault = "garbage"    // an event that is not JSON
)

// BeforeHeader is the After that makes the fault come before the first byte.
const BeforeHeader = -1

// Answer is one answer on its way to the client. The end of the server breaks
// the connection of every wait.
type Answer struct {
	W http.ResponseWriter
	R *http.Request

	CRLF    bool // lines end with \r\n
	NoSpace bool // "data:{" instead of "data: {"

	stop   context.Context
	buffer bytes.Buffer // written but not flushed
}

// Answer begins an answer.
func (s *Server[Request, Reply]) Answer(w http.ResponseWriter, r *http.Request) *Answer {
	return &Answer{W: w, R: r, stop: s.stop}
}

// Hang waits until the client goes away.
func (a *Answer) Hang() { a.Held(make(chan struct{})) }

// Held waits until hold is closed; nil: it does not wait. False: the client
// has gone.
func (a *Answer) Held(hold <-chan struct{}) bool {
	if hold == nil {
		return true
	}
	select {
	case <-hold:
		return true
	case <-a.R.Context().Done():
		return false
	case <-a.stop.Done():
		panic(http.ErrAbortHandler)
	}
}

// Pause waits; false: the client has gone.
func (a *Answer) Pause(wait time.Duration) bool {
	if wait <= 0 {
		return true
	}
	over := make(chan struct{})
	defer time.AfterFunc(wait, func() { close(over) }).Stop()
	return a.Held(over)
}

// Fail lets a fault happen. say writes what the fault sends: an error event,
// an event that is not JSON, or one sign of life, of which there is one per
// between.
func (a *Answer) Fail(fault Fault, between time.Duration, say func(Fault)) {
	switch fault {
	case FaultHang:
		a.Hang()
	case FaultBreak:
		panic(http.ErrAbortHandler)
	case FaultError:
		say(fault)
		a.Flush()
		a.Hang()
	case FaultGarbage:
		say(fault)
		a.Flush()
	case FaultKeepAlive:
		for a.Pause(max(between, time.Millisecond)) {
			say(fault)
			a.Flush()
		}
	case FaultCut, FaultNone:
	}
}

// Data writes the data of one event and the empty line that ends it.
func (a *Answer) Data(payload []byte) {
	a.buffer.WriteString("data:")
	if !a.NoSpace {
		a.buffer.WriteByte(' ')
	}
	a.Line(string(payload))
	a.Line("")
}

// Line writes one line.
func (a *Answer) Line(text string) {
	a.buffer.WriteString(text)
	if a.CRLF {
		a.buffer.WriteByte('\r')
	}
	a.buffer.WriteByte('\n')
}

// TrimEnd takes back the line breaks at the end of what is not yet sent.
func (a *Answer) TrimEnd() {
	a.buffer.Truncate(len(bytes.TrimRight(a.buffer.Bytes(), "\r\n")))
}

// Flush sends what was written; false: the client has gone.
func (a *Answer) Flush() bool {
	_, err := a.W.Write(a.buffer.Bytes())
	a.buffer.Reset()
	if err != nil {
		return false
	}
	return http.NewResponseController(a.W).Flush() == nil
}

// Pieces cuts an answer into pieces of a few words. Joined, they are text.
func Pieces(text string) []string {
	const words = 3
	var pieces []string
	fields := strings.SplitAfter(text, " ")
	for len(fields) > 0 {
		n := min(words, len(fields))
		pieces = append(pieces, strings.Join(fields[:n], ""))
		fields = fields[n:]
	}
	return pieces
}

// Page is an HTML page, as proxies send it.
func Page(title string) string {
	return "<!DOCTYPE html>\n<html><head><title>" + title + "</title></head><body><h1>" + title + "</h1></body></html>\n"
}
