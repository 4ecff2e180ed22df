// Package sessionscli is `gateway sessions`: conversations, listed, shown,
// exported, imported, forked, cleared and removed.
//
// It promises to ask the gateway that runs on this machine, and to open the
// store where none does. A command that only looks leaves nothing behind.
//
// It must not hold rules of its own about what may be done to a conversation.
package sessionscli
