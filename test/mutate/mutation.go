package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/goccy/go-yaml"
)

// mutation is one change that breaks a promise.
type mutation struct {
	Promise string `yaml:"promise"` // what people are promised
	File    string `yaml:"file"`    // from the project's root
	Old     string `yaml:"old"`     // stands in the file exactly once
	New     string `yaml:"new"`
	Package string `yaml:"package"` // whose tests are run
	Run     string `yaml:"run"`     // the tests' names, as for go test -run
	Tags    string `yaml:"tags"`    // build tags of the test; usually empty
}

// What became of a mutation.
const (
	caught   = "caught"
	survived = "SURVIVED"
	broken   = "BROKEN" // it could not be tried
)

// within bounds one try. A test that hangs for the time hangs says has failed.
const (
	within = 10 * time.Minute
	hangs  = "3m"
)

func decode(text []byte) ([]mutation, error) {
	var out []mutation
	if err := yaml.UnmarshalWithOptions(text, &out, yaml.DisallowUnknownField()); err != nil {
		return nil, fmt.Errorf("mutations.yaml: %w", err)
	}
	for i, m := range out {
		if m.Promise == "" || m.File == "" || m.Old == "" || m.Package == "" || m.Run == "" {
			return nil, fmt.Errorf("mutations.yaml: entry %d, %q: promise, file, old, package and run are needed", i+1, m.Promise)
		}
	}
	return out, nil
}

// apply is the file's text with the mutation.
func (m mutation) apply(text []byte) ([]byte, error) {
	if n := bytes.Count(text, []byte(m.Old)); n != 1 {
		return nil, fmt.Errorf("%s: %q stands there %d times, not once", m.File, m.Old, n)
	}
	return bytes.Replace(text, []byte(m.Old), []byte(m.New), 1), nil
}

// try runs the test on the changed source; prefix is where its files go.
func (m mutation) try(ctx context.Context, prefix string) (outcome, detail string) {
	overlay, err := m.overlay(prefix)
	if err != nil {
		return broken, err.Error()
	}
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	command := exec.CommandContext(ctx, "go", "test", "-count=1", "-failfast", "-timeout", hangs, "-tags", m.Tags, "-overlay", overlay, "-run", m.Run, m.Package)
	command.Cancel = func() error { return command.Process.Signal(os.Interrupt) }
	command.WaitDelay = 10 * time.Second
	out, err := command.CombinedOutput()
	return judge(string(out), err)
}

// judge reads what the go command said. Pure.
func judge(out string, err error) (outcome, detail string) {
	exit, failed := errors.AsType[*exec.ExitError](err)
	switch {
	case strings.Contains(out, "[build failed]") || strings.Contains(out, "[setup failed]"):
		return broken, "it does not build:\n" + tail(out)
	case strings.Contains(out, "no tests to run"):
		return broken, "there is no such test"
	case err == nil:
		return survived, tail(out)
	case !failed || !exit.Exited() || !strings.Contains(out, "FAIL"):
		return broken, err.Error() + "\n" + tail(out)
	}
	return caught, ""
}

const tailMax = 1500

func tail(out string) string {
	if len(out) > tailMax {
		out = "…" + out[len(out)-tailMax:]
	}
	return strings.ToValidUTF8(out, "")
}

// overlay writes the changed file, and the file that tells the go command of it.
func (m mutation) overlay(prefix string) (string, error) {
	original, err := filepath.Abs(m.File)
	if err != nil {
		return "", err
	}
	text, err := os.ReadFile(original)
	if err != nil {
		return "", err
	}
	if text, err = m.apply(text); err != nil {
		return "", err
	}
	changed := prefix + filepath.Ext(m.File)
	if err := os.WriteFile(changed, text, 0o600); err != nil {
		return "", err
	}
	content, err := json.Marshal(map[string]map[string]string{"Replace": {original: changed}})
	if err != nil {
		return "", err
	}
	return prefix + ".json", os.WriteFile(prefix+".json", content, 0o600)
}
