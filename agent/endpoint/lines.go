package endpoint

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"time"
)

// drainFor and drainMax bound the wait for the end of a body whose last event
// was seen. Reaching it lets the connection be used again.
const (
	drainFor = 50 * time.Millisecond
	drainMax = 4 << 10
)

// junkMax bounds what is kept of an answer that is no event stream, in bytes.
const junkMax = 512

// Lines reads the body of an event stream line by line, within the bounds, and
// keeps the beginning of what is no part of one.
type Lines struct {
	reader *bufio.Reader
	heard  func()
	line   []byte // reused
	total  int
	junk   []byte
}

// NewLines reads body; heard is told of every line, comments too.
func NewLines(body io.Reader, heard func()) *Lines {
	return &Lines{reader: bufio.NewReader(body), heard: heard}
}

// Next gives the next line without the white space around it, valid until the
// next call. The last line may lack its line break. Errors are the body's own,
// io.EOF, and ErrTooLong.
func (l *Lines) Next() ([]byte, error) {
	err := l.read()
	line := bytes.TrimSpace(l.line)
	if err != nil && (len(line) == 0 || !errors.Is(err, io.EOF)) {
		return nil, err
	}
	l.heard()
	l.keepJunk(line)
	return line, nil
}

// read fills l.line up to and with the line break.
func (l *Lines) read() error {
	l.line = l.line[:0]
	for {
		part, err := l.reader.ReadSlice('\n')
		l.line = append(l.line, part...)
		l.total += len(part)
		if len(l.line) > LineMax || l.total > ResponseMax {
			return ErrTooLong
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return err
		}
	}
}

func (l *Lines) keepJunk(line []byte) {
	isField := len(line) == 0 || line[0] == ':'
	for _, field := range []string{"data:", "event:", "id:", "retry:"} {
		isField = isField || bytes.HasPrefix(line, []byte(field))
	}
	if room := junkMax - len(l.junk); !isField && room > 0 {
		l.junk = append(l.junk, line[:min(room, len(line))]...)
	}
}

// Junk is the beginning of what was no field of an event stream.
func (l *Lines) Junk() string { return string(l.junk) }

// Drain reads what is left of a complete answer, for a short time.
func (l *Lines) Drain(watch *Watchdog) {
	defer watch.Enough(drainFor)()
	_, _ = io.CopyN(io.Discard, l.reader, drainMax)
}
