// Package sessions is the durable conversation: the record of a session, its
// log (a tree of entries), its turns, and the contract of the store that keeps
// them.
//
// It promises that each operation of [Store] is atomic, that an acknowledged
// message is durable, that one turn at a time runs in a session under a fenced
// lease, and that a message which arrives during a turn is in exactly one
// later prompt. The same promises hold for every backend: package storetest is
// the suite that each has to pass.
//
// Beside it are rooms that it does not need: transcript, archive, and view.
//
// It must not know platforms, databases, models or the network. Surfaces are
// opaque keys here.
package sessions
