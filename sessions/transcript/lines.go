package transcript

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"
)

// lineReader reads a transcript's lines and numbers them.
type lineReader struct {
	in     *bufio.Reader
	number int  // of the line that was read last, from 1
	torn   bool // it has no end: the file stops within it
	buffer []byte
}

func newLineReader(r io.Reader) *lineReader {
	return &lineReader{in: bufio.NewReaderSize(r, 64<<10)}
}

// next reads a line, without its end. It is valid until the next call. io.EOF:
// there is none left; empty lines count as none at the end of the file only.
func (l *lineReader) next() ([]byte, error) {
	line, err := l.read()
	if err != nil || len(line) > 0 {
		return line, err
	}
	empty := l.number
	for len(line) == 0 {
		if line, err = l.read(); err != nil {
			return nil, err
		}
	}
	return nil, &Error{Line: empty, Why: "it is empty"}
}

func (l *lineReader) read() ([]byte, error) {
	l.buffer = l.buffer[:0]
	for {
		part, err := l.in.ReadSlice('\n')
		l.buffer = append(l.buffer, part...)
		switch {
		case len(l.buffer) > LineMax:
			return nil, &Error{Line: l.number + 1, Why: fmt.Sprintf("it has more than %d bytes", LineMax)}
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case errors.Is(err, io.EOF) && len(l.buffer) == 0:
			return nil, io.EOF
		case err != nil && !errors.Is(err, io.EOF):
			return nil, fmt.Errorf("reading behind line %d: %w", l.number, err)
		}
		l.number++
		l.torn = err != nil
		return l.clean()
	}
}

func (l *lineReader) clean() ([]byte, error) {
	line := bytes.TrimSuffix(l.buffer, []byte("\n"))
	line = bytes.Trim(line, jsonSpace)
	if l.number == 1 {
		line = bytes.TrimPrefix(line, []byte("\ufeff"))
	}
	if !utf8.Valid(line) {
		return nil, l.wrong("it is not UTF-8")
	}
	return line, nil
}

// wrong says what is wrong with the line that was read last.
func (l *lineReader) wrong(format string, args ...any) error {
	return lineError(l.number, l.torn, fmt.Sprintf(format, args...))
}

// lineError says what is wrong with a line. If the file ends within it, that is
// what is wrong.
func lineError(number int, torn bool, why string) error {
	if torn {
		why = "the file ends in the middle of this line, as when its writing was interrupted; delete the line to import what is before it"
	}
	return &Error{Line: number, Why: why, Torn: torn}
}
