//go:build unix

package freeze

import (
	"os"
	"syscall"
)

// Stop freezes a process.
func Stop(process *os.Process) { _ = process.Signal(syscall.SIGSTOP) }

// Continue lets a frozen process go on; one that is not frozen notices nothing.
func Continue(process *os.Process) { _ = process.Signal(syscall.SIGCONT) }
