package cli

import "syscall"

// addressInUse is WSAEADDRINUSE: what Go calls EADDRINUSE is no error that
// Windows gives.
const addressInUse = syscall.Errno(10048)
