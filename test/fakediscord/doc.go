// Package fakediscord is a strict stand-in for Discord, REST and gateway, on a
// loopback port of its own; a client in any process reaches it by its URL.
//
// It promises to refuse what Discord refuses (a wrong token, a message beyond
// the limit, an intent that is not enabled, an interaction answered too late),
// to hold back what Discord holds back (the content of messages without the
// intent), to replay what was not received when a session is resumed, to keep
// nothing that a heartbeat has confirmed, and to fail in the ways Discord
// fails when told to. What a careful client never does, such as a message
// without allowed_mentions, an unknown route, or a close that throws a session
// away, is recorded as a violation.
//
// It must not import the code under test.
package fakediscord
