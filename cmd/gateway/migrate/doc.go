// Package migrate is `gateway migrate`: everything that one store holds, copied
// into another, empty one.
//
// It promises that no gateway runs on either meanwhile, that both are counted
// and compared in the end, and that a copy which was broken off goes on where
// it was.
//
// It must not know kinds of stores: it copies what package archive gives.
package migrate
