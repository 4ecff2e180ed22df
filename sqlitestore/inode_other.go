//go:build !linux

package sqlitestore

import "os"

// holdInode does nothing: see inode_linux.go. Windows lets nobody remove a lock
// file that is open.
func holdInode(*os.File) error { return nil }
