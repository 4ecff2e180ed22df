// Package clienttest is a gateway's API for tests of its clients: one terminal
// conversation in memory, answers by keyword, and faults on demand.
//
// It promises to speak what package api documents, and to refuse what that
// refuses, so that a client which works with the one works with the other.
//
// It must not be part of the program.
package clienttest
