// Package archive is everything a store holds, as a list of items: their
// kinds and bodies, how they are checked, and how they are copied from one
// store to another and counted there.
//
// It promises that two stores which hold the same give the same items, byte
// for byte, and that a copy may be broken off and begun again.
//
// It must not know any store: those read and write items by
// [sessions.Archive]. Whoever copies sees to it that nobody else uses either.
package archive
