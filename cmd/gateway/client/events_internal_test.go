package client

import (
	"errors"
	"io"
	"strings"
	"testing"
)

func FuzzReadEvents(f *testing.F) {
	f.Add("event: status\ndata: {}\n\n")
	f.Add("data:a\ndata: b\n\n: comment\n\nid: 5\nevent:x\ndata:\n\n")
	f.Add("\n\n\r\ndata")
	f.Fuzz(func(t *testing.T, text string) {
		err := readEvents(strings.NewReader(text), func(name string, data []byte) (bool, error) {
			if _, _, err := decodeEvent("cli:main", name, data); err != nil && strings.Contains(err.Error(), "\n") {
				t.Errorf("more than one line: %q", err)
			}
			return true, nil
		})
		if !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("the end of a stream is an error: %v", err)
		}
	})
}

func TestReadEvents(t *testing.T) {
	t.Parallel()
	var got []string
	_ = readEvents(strings.NewReader("event: a\nid: 1\ndata: x\n\n: still here\n\ndata: y\ndata: z\n\nevent: cut\ndata: n"),
		func(name string, data []byte) (bool, error) {
			got = append(got, name+"="+string(data))
			return true, nil
		})
	if strings.Join(got, ";") != "a=x;=y\nz" {
		t.Errorf("got %q", got)
	}
}
