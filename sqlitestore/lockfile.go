package sqlitestore

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"parley/sessions"
)

// errHeld is what lock answers while another process has the lock.
var errHeld = errors.New("another process has the lock")

// acquire locks the file beside the database and writes this process's id into
// it. The operating system gives the lock back when the process ends, however
// it ends, so a file that is left over holds nobody up.
func acquire(database string) (*os.File, error) {
	name := database + ".lock"
	file, err := os.OpenFile(name, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the lock file: %w", err)
	}
	if err := lock(file); err != nil {
		defer file.Close()
		if !errors.Is(err, errHeld) {
			return nil, fmt.Errorf("lock %s: %w", name, err)
		}
		return nil, fmt.Errorf("%w: %s is in use by process %s: stop that gateway, or give this one another path", sessions.ErrLocked, database, holder(file))
	}
	if err := sign(file); err != nil {
		file.Close()
		return nil, fmt.Errorf("write %s: %w", name, err)
	}
	return file, nil
}

// release gives the lock of a file back and closes it. Closing alone would not
// do: a program that is just being started still has the file, and the lock
// with it.
func release(file *os.File) {
	unlock(file)
	file.Close()
}

// holder reads the process id that the holder wrote.
func holder(file *os.File) string {
	var buffer [20]byte
	n, err := file.ReadAt(buffer[:], 0)
	if pid := strings.TrimSpace(string(buffer[:n])); n > 0 && pid != "" {
		return pid
	}
	if err != nil {
		return "(unknown)"
	}
	return "(starting)"
}

func sign(file *os.File) error {
	if err := file.Truncate(0); err != nil {
		return err
	}
	_, err := file.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0)
	return err
}
