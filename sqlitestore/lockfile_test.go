//go:build unix

package sqlitestore

import (
	"bytes"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"parley/sessions"
)

// A lock file that somebody removed lets no second gateway in.
func TestARemovedLockFileLetsNobodyIn(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("only Linux has a second lock")
	}
	path := filepath.Join(t.TempDir(), "gateway.db")
	open(t, Config{Path: path})
	if err := os.Remove(path + ".lock"); err != nil {
		t.Fatal(err)
	}
	if second, err := Open(t.Context(), Config{Path: path}); !errors.Is(err, sessions.ErrLocked) {
		second.Close()
		t.Fatalf("a second one was opened: %v", err)
	}
}

// A database that became empty is a loss that somebody should hear of.
func TestAnEmptyFileIsToldOf(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "gateway.db")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	open(t, Config{Path: path, Logger: slog.New(slog.NewTextHandler(&log, nil))})
	if !strings.Contains(log.String(), "restore it from a backup") {
		t.Errorf("the log says: %s", &log)
	}
}

// A program that is started while a store is closed holds its lock file for a
// moment: until it has become another program, it has all files of this one.
func TestACopyOfTheLockFileHoldsNobodyUp(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "gateway.db")
	first, err := Open(t.Context(), Config{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	inherited, err := syscall.Dup(int(first.lock.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(inherited)
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	open(t, Config{Path: path})
}
