//go:build !unix

package freeze

import "os"

// Stop does nothing here.
func Stop(*os.Process) {}

// Continue does nothing here.
func Continue(*os.Process) {}
