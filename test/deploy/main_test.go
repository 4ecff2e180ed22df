package deploy

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"testing"
)

// What the image's build stage made.
var binary string // built once by TestMain

// version is what it is built with.
const version = "1.2.3-test"

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	folder, err := os.MkdirTemp("", "parley-deploy-")
	if err == nil {
		defer os.RemoveAll(folder)
		binary = filepath.Join(folder, "out", "gateway")
		err = buildAsImage(folder)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "the image's build stage fails:", err)
		return 1
	}
	return m.Run()
}

// buildAsImage runs the Dockerfile's own build command on the files that its
// context has, in folder instead of the container.
func buildAsImage(folder string) error {
	image, err := readDockerfile()
	if err != nil {
		return err
	}
	source := filepath.Join(folder, "src")
	if err := copyContext(source); err != nil {
		return err
	}
	command, found := image.buildCommand()
	if !found {
		return errors.New("the Dockerfile has no RUN with go build")
	}
	command = strings.ReplaceAll(command, "/out", filepath.Join(folder, "out"))
	build := exec.Command("sh", "-ec", command)
	build.Dir, build.Stdout, build.Stderr = source, os.Stderr, os.Stderr
	build.Env = append(os.Environ(), "VERSION="+version)
	if err := os.MkdirAll(filepath.Join(folder, "out"), 0o755); err != nil {
		return err
	}
	return build.Run()
}

// repository is the top of the checkout, from here.
const repository = "../.."

// copyContext copies the tracked and new files that Dockerfile.dockerignore
// lets through.
func copyContext(to string) error {
	ignored, err := os.ReadFile(filepath.Join(repository, "deploy/Dockerfile.dockerignore"))
	if err != nil {
		return err
	}
	list := exec.CommandContext(context.Background(), "git", "ls-files", "--cached", "--others", "--exclude-standard")
	list.Dir = repository
	files, err := list.Output()
	if err != nil {
		return fmt.Errorf("git ls-files: %w", err)
	}
	for name := range strings.Lines(string(files)) {
		name = strings.TrimSpace(name)
		if isIgnored(string(ignored), name) {
			continue
		}
		if err := copyFile(filepath.Join(repository, name), filepath.Join(to, name)); err != nil {
			return err
		}
	}
	return nil
}

func copyFile(from, to string) error {
	content, err := os.ReadFile(from)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // listed, and removed since
	}
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	return os.WriteFile(to, content, 0o644)
}

// isIgnored knows as much of the ignore file's language as it uses: comments,
// names from the top, **/ for any depth, and * within a name.
func isIgnored(rules, name string) bool {
	for rule := range strings.Lines(rules) {
		rule = strings.TrimSpace(rule)
		if rule == "" || strings.HasPrefix(rule, "#") {
			continue
		}
		if matches(rule, name) {
			return true
		}
	}
	return false
}

// matches reports whether a rule names the file or a folder above it.
func matches(rule, name string) bool {
	rest, anywhere := strings.CutPrefix(rule, "**/")
	parts := strings.Split(name, "/")
	for i := range parts {
		whole, part := strings.Join(parts[:i+1], "/"), parts[i]
		tried := whole
		if anywhere {
			tried = part
		}
		if ok, err := path.Match(rest, tried); err == nil && ok {
			return true
		}
	}
	return false
}

func TestIgnoreRules(t *testing.T) {
	t.Parallel()
	const rules = "# c\n\ndata\n**/.env\n**/*.db\n"
	for name, want := range map[string]bool{
		"data/gateway.db": true, "deploy/.env": true, ".env": true, "a/b/x.db": true, "deploy/env.example": false, "api/data.go": false, "x/data/y": false,
	} {
		if got := isIgnored(rules, name); got != want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
