//go:build !windows

package cli

import "syscall"

// errAddressInUse is why nothing can listen at an address that is taken.
const errAddressInUse = syscall.EADDRINUSE
