//go:build unix

package sqlitestore

import (
	"path/filepath"
	"syscall"
	"testing"
)

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
