// Package places names the gateway's own places: those without an account and
// without other people in them, where a conversation is a name.
//
// It is apart from package adapters so that the log, which knows no chat
// platforms, decides by the same list. It promises that the list is the only
// one.
//
// It must not know chat platforms.
package places
