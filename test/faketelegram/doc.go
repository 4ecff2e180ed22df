// Package faketelegram is a strict Telegram Bot API server for tests.
//
// It promises to refuse what the real server refuses (long and empty texts,
// bad entities, unknown chats, two pollers, edits that change nothing), to hold
// back what the real one holds back (group messages in privacy mode, updates
// until they are confirmed by the next request's offset), and to keep every
// call for assertions. A method or parameter that it does not know is answered
// as the real server would and recorded as a violation, which fails the test
// that uses the server.
//
// People are played through [User]: what they write gets the entities a
// Telegram client would add. Faults are scripted per method with [Server.Fail].
// All of it works over plain HTTP on loopback, so a gateway in another process
// can be pointed at [Server.URL].
//
// It must not know the product: it imports none of it.
package faketelegram
