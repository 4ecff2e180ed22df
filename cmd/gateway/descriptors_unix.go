//go:build unix

package main

import (
	"syscall"

	"parley/api"
)

// connectionsMax leaves half of the files that this process may open to the
// store, the platforms and the models: a flood of visitors must not take them.
func connectionsMax() int {
	var files syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &files); err != nil {
		return api.ConnectionsDefault
	}
	return int(max(1, min(files.Cur/2, api.ConnectionsDefault)))
}
