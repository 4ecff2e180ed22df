// Package fakemodel is what the stand-ins for endpoints of language models
// share: a server on a loopback port with a script of replies, its log, and
// the ways in which an answer can be late, break off or go wrong.
//
// It promises that a test can wait for what the log holds, that every such
// wait ends, and that Close leaves no goroutine behind.
//
// It must not know any provider's requests or answers, nor the code under test.
package fakemodel
