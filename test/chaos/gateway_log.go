package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// late is a send that a gateway gave up waiting for: whether it was shown, the
// gateway could not know.
type late struct {
	life    string
	surface string
	at      time.Time
}

// told is what gateways wrote in their logs.
type told struct {
	late    []late
	refused int // writes that came too late, and were refused
	slow    int // calls to the store that were given up
}

// refusals are what a gateway says when the store refuses a write by its fence.
func refusals() [][]byte {
	return [][]byte{[]byte("the turn's end came too late"), []byte("another worker holds this lane now"), []byte("the lease was lost")}
}

// slowCalls are what a gateway says when the store did not answer in time.
func slowCalls() [][]byte {
	return [][]byte{
		[]byte("due work could not be taken up"), []byte("renewing leases failed"), []byte("the store does not answer"),
		[]byte("could not be taken in; it is not acknowledged"),
	}
}

// read adds what a life wrote.
func (t *told) read(life, path string) error {
	content, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	lines := bufio.NewScanner(bytes.NewReader(content))
	lines.Buffer(nil, bodyMax)
	for lines.Scan() {
		var line struct {
			Time    time.Time `json:"time"`
			Surface string    `json:"surface"`
			Error   string    `json:"error"`
		}
		for _, words := range refusals() {
			if bytes.Contains(lines.Bytes(), words) {
				t.refused++
			}
		}
		for _, words := range slowCalls() {
			if bytes.Contains(lines.Bytes(), words) && bytes.Contains(lines.Bytes(), []byte("deadline exceeded")) {
				t.slow++
			}
		}
		if !bytes.Contains(lines.Bytes(), []byte(`"not delivered`)) || json.Unmarshal(lines.Bytes(), &line) != nil {
			continue
		}
		if strings.HasPrefix(line.Error, "send: unknown") {
			t.late = append(t.late, late{life: life, surface: line.Surface, at: line.Time})
		}
	}
	return lines.Err()
}

// told reads the logs of all lives.
func (w *world) told() (told, error) {
	var out told
	for _, s := range w.slots {
		paths, err := filepath.Glob(filepath.Join(s.folder, "*.log"))
		if err != nil {
			return out, err
		}
		for _, path := range paths {
			if err := out.read(strings.TrimSuffix(filepath.Base(path), ".log"), path); err != nil {
				return out, err
			}
		}
	}
	return out, nil
}
