package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// clockVariable says to a gateway that was built with an overlay how far its
// wall clock is off, as a duration. Its monotonic clock is right.
const clockVariable = "PARLEY_CHAOS_CLOCK"

// What the overlay changes in Go's package time: whoever asks for the time of
// day, in our code or in a library, is told a wrong one.
const (
	clockRight = "\tsec, nsec, mono := runtimeNow()\n\tif mono == 0 {\n"
	clockWrong = "\tsec, nsec, mono := runtimeNow()\n\tsec += chaosOffset\n\tif mono == 0 {\n"
	clockFrom  = `
var chaosOffset = func() int64 {
	text, _ := syscall.Getenv("` + clockVariable + `")
	off, _ := ParseDuration(text)
	return int64(off / Second)
}()
`
)

// wrongClock writes an overlay for go build into a folder and returns its path.
func wrongClock(ctx context.Context, folder string) (string, error) {
	root, err := exec.CommandContext(ctx, "go", "env", "GOROOT").Output()
	if err != nil {
		return "", err
	}
	original := filepath.Join(strings.TrimSpace(string(root)), "src", "time", "time.go")
	source, err := os.ReadFile(original)
	if err != nil {
		return "", err
	}
	text := string(source)
	if strings.Count(text, clockRight) != 1 || strings.Contains(text, "\"syscall\"") {
		return "", fmt.Errorf("%s is not as this program knows it; a wrong clock cannot be made", original)
	}
	text = strings.Replace(text, clockRight, clockWrong, 1)
	text = strings.Replace(text, "import (\n", "import (\n\t\"syscall\"\n", 1) + clockFrom
	changed := filepath.Join(folder, "time.go")
	if err := os.WriteFile(changed, []byte(text), 0o600); err != nil {
		return "", err
	}
	overlay, err := json.Marshal(map[string]any{"Replace": map[string]string{original: changed}})
	if err != nil {
		return "", err
	}
	path := filepath.Join(folder, "overlay.json")
	return path, os.WriteFile(path, overlay, 0o600)
}
