package main

import (
	"os/exec"
	"syscall"
)

// bindToParent lets a process end with this one, however this one ends.
func bindToParent(command *exec.Cmd) {
	command.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
