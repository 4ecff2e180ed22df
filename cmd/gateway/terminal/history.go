package terminal

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// HistoryMax is how many messages the history keeps.
const HistoryMax = 1000

// History is what was typed before, oldest first, kept in a file that only its
// owner can read: one JSON string per line.
type History struct {
	path  string
	lines []string
}

// OpenHistory reads the file, if it is there. An empty path keeps nothing on disk.
func OpenHistory(path string) (*History, error) {
	h := &History{path: path}
	if path == "" {
		return h, nil
	}
	content, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return h, nil
	}
	if err != nil {
		return h, fmt.Errorf("cannot read the history: %w", err)
	}
	lines := bufio.NewScanner(bytes.NewReader(content))
	lines.Buffer(nil, len(content)+1)
	for lines.Scan() {
		var text string
		if json.Unmarshal(lines.Bytes(), &text) == nil { // a line cut by a crash is left out
			h.lines = append(h.lines, text)
		}
	}
	h.lines = newest(h.lines)
	return h, nil
}

func newest(lines []string) []string { return lines[max(len(lines)-HistoryMax, 0):] }

// Lines are the messages, oldest first.
func (h *History) Lines() []string { return slices.Clone(h.lines) }

// Add appends a message, unless it is the same as the one before.
func (h *History) Add(text string) error {
	if n := len(h.lines); n > 0 && h.lines[n-1] == text {
		return nil
	}
	h.lines = append(h.lines, text)
	if len(h.lines) > HistoryMax {
		h.lines = newest(h.lines)
		return h.rewrite()
	}
	return h.append(text)
}

func (h *History) append(text string) error {
	if h.path == "" {
		return nil
	}
	file, err := os.OpenFile(h.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("cannot keep the history: %w", err)
	}
	_, err = file.Write(encodeLine(text))
	return errors.Join(err, file.Close())
}

func (h *History) rewrite() error {
	if h.path == "" {
		return nil
	}
	var content []byte
	for _, text := range h.lines {
		content = append(content, encodeLine(text)...)
	}
	temporary := filepath.Join(filepath.Dir(h.path), "."+filepath.Base(h.path)+".new")
	if err := os.WriteFile(temporary, content, 0o600); err != nil {
		return fmt.Errorf("cannot keep the history: %w", err)
	}
	return os.Rename(temporary, h.path)
}

func encodeLine(text string) []byte {
	line, _ := json.Marshal(text) // a string always can
	return append(line, '\n')
}

// browser walks through the history while a message is written.
type browser struct {
	lines []string
	at    int    // index into lines; len(lines) is the draft
	draft string // what was being written before
}

func newBrowser(lines []string) browser { return browser{lines: lines, at: len(lines)} }

// older gives the message before; ok is false at the oldest.
func (b *browser) older(present string) (text string, ok bool) {
	if b.at == 0 {
		return "", false
	}
	if b.at == len(b.lines) {
		b.draft = present
	}
	b.at--
	return b.lines[b.at], true
}

// newer gives the message after, at the end what was being written.
func (b *browser) newer() (text string, ok bool) {
	if b.at == len(b.lines) {
		return "", false
	}
	b.at++
	if b.at == len(b.lines) {
		return b.draft, true
	}
	return b.lines[b.at], true
}
