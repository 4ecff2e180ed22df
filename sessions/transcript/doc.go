// Package transcript is a session as JSON Lines: a header, then one line for
// each entry, by seq. It writes and reads them, and makes of one branch of a
// session a new one (a fork), which is a transcript that is never written.
//
// It promises that what [Write] wrote comes back the same, that both stream in
// bounded memory, and that a line which cannot be read is named by its number.
// Of other programs it reads trees of messages and lists of turns.
//
// It must not know stores, platforms or the network: it reads a
// [sessions.Log], and gives entries for [sessions.Transcripts].
package transcript
