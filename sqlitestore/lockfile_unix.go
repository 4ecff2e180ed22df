//go:build unix

package sqlitestore

import (
	"errors"
	"os"
	"syscall"
)

// lock takes the file's lock for this process, or answers errHeld at once.
func lock(file *os.File) error {
	err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return errHeld
	}
	return err
}

// unlock gives the lock back; closing the file ends it in any case.
func unlock(file *os.File) { _ = syscall.Flock(int(file.Fd()), syscall.LOCK_UN) }
