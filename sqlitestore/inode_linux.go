package sqlitestore

import "os"

// holdInode locks the database's own file as well, for whom the lock file
// beside it was removed. Elsewhere this kind of lock and SQLite's own are the
// same and would exclude each other.
func holdInode(database *os.File) error { return lock(database) }
