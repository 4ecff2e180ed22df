// Package conversations is what can be done to a conversation, once for every
// door: chat commands, the HTTP API, the command line, and whatever comes.
//
// A verb is a method of [Room]. It takes who acts ([Caller]), the id of the
// session, its arguments, and an idempotency key that may be empty. It decides
// the rights (sessions.Reach is the one rule), the limits, and what a state
// forbids, and returns a [Result] or a refusal. [CodeOf] tells why something
// was refused: chat words the code, HTTP makes a problem of it, the command
// line prints it. A refusal has changed nothing.
//
// It must not know platforms, models, HTTP, or how anything is worded in a
// chat.
package conversations
