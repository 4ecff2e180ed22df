// Package fakeanthropic is a strict stand-in for Anthropic's Messages API, on a
// loopback port of its own.
//
// It promises to refuse what the real one refuses (a wrong key, a missing
// version header, an unknown field, an empty block, roles out of turn, a tool
// result without its call), to fail in every way the real one does when its
// script says so, and to log every request for assertions.
//
// It must not import the code under test.
package fakeanthropic
