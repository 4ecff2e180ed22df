// Package fakeslack is a strict Slack for tests: Web API, Socket Mode and
// signed requests, on loopback.
//
// It promises to refuse what Slack refuses (tokens of the wrong kind, missing
// scopes, channels the bot is not in, too long texts), to deliver as Slack
// delivers (each payload to any one of the sockets, again until it is
// acknowledged; a mention twice, with two event ids; requests signed and
// retried), to tell of sockets that are about to end, and to keep every call
// for assertions. A method or argument that it does not know is answered as
// Slack would and recorded as a violation, which fails the test that uses the
// server.
//
// People are played through [User]. Faults are scripted per method with
// [Server.Fail] and per socket with [Server.Sockets]. A gateway in another
// process can be pointed at [Server.URL].
//
// It must not know the product: it imports none of it.
package fakeslack
