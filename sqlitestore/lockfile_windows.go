package sqlitestore

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// lockedByte is the one byte that is locked, far behind what is written: on
// Windows nobody else can read what is locked, and the holder's id is read.
const lockedByte = 1 << 30

func lockedRange() *windows.Overlapped { return &windows.Overlapped{OffsetHigh: lockedByte} }

// lock takes the file's lock for this process, or answers errHeld at once.
func lock(file *os.File) error {
	err := windows.LockFileEx(windows.Handle(file.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, lockedRange())
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) || errors.Is(err, windows.ERROR_IO_PENDING) {
		return errHeld
	}
	return err
}

// unlock gives the lock back; closing the file ends it in any case.
func unlock(file *os.File) {
	_ = windows.UnlockFileEx(windows.Handle(file.Fd()), 0, 1, 0, lockedRange())
}
