// Package sqlitestore keeps sessions.Store in one SQLite file: the store of a
// gateway that runs alone.
//
// It promises what sessions.Store promises, proved by sessions/storetest:
// every operation is one atomic step and is answered only after it is on disk
// (WAL, synchronous=FULL). One goroutine, owned by the [Store] and ended by
// Close, writes; operations that wait together share one commit, each in a
// savepoint of its own. What would hold up the writer, a second goroutine does
// behind the callers, bit by bit. Each read sees one state of the database, and
// goes by an index. One process may use a file at a time, held by a lock file
// beside it; opening it frees what the last one held.
//
// It must not know platforms, models or what is in a payload.
package sqlitestore
