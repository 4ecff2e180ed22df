// Package wiring makes parts out of the configuration: the store, the models,
// the platforms' adapters. A new store, provider or platform is one more line
// here.
//
// It promises that a part which cannot be made is named with what to do about
// it, and that a part which failed is nil.
//
// It must not run anything.
package wiring
