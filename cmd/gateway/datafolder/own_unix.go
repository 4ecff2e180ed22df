//go:build unix

package datafolder

import (
	"io/fs"
	"os"
	"syscall"
)

// own reports whether a file belongs to the user who runs this program.
func own(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int64(stat.Uid) == int64(os.Geteuid())
}
