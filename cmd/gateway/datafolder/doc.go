// Package datafolder is the gateway's folder: where a running one is found, and
// the token that nobody configured.
//
// It promises that only the user who runs the gateway can read what is in
// there, and that a file is replaced whole or not at all.
//
// It must not know what else is kept in the folder, such as the store.
package datafolder
