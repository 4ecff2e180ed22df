// Package peoplecli is `gateway people`: who may talk to the gateway, listed and
// changed.
//
// It promises to ask the gateway that runs on this machine, and to open the
// store where none does, by the same rules; and to say when whom it let in is
// not told.
//
// It must not know who may be given which role: package people does.
package peoplecli
