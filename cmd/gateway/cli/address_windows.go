package cli

import "syscall"

// errAddressInUse is WSAEADDRINUSE: what Go calls EADDRINUSE is no error that
// Windows gives.
const errAddressInUse = syscall.Errno(10048)
