// Package logtest is a session's log in memory, for the tests of those who
// read one: package sessions and its rooms.
//
// It promises that a log behaves as [sessions.Log] says, and counts what was
// read of it. The logs it makes are the same at each run, or drawn by rapid.
//
// It must not know stores.
package logtest
