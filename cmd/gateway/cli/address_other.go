//go:build !windows

package cli

import "syscall"

// addressInUse is why nothing can listen at an address that is taken.
const addressInUse = syscall.EADDRINUSE
