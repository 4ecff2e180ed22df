package main

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
)

// Go's own clock is as the overlay expects it, and is changed where it is read.
func TestTheClockCanBeMadeWrong(t *testing.T) {
	t.Parallel()
	path, err := wrongClock(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var overlay struct{ Replace map[string]string }
	if err := json.Unmarshal(text, &overlay); err != nil || len(overlay.Replace) != 1 {
		t.Fatalf("%s: %v", text, err)
	}
	for _, changed := range overlay.Replace {
		source, err := os.ReadFile(changed)
		if err != nil || !strings.Contains(string(source), clockWrong) {
			t.Fatalf("the overlay changes nothing: %v", err)
		}
	}
}
