// Package migration tests that everything one store holds can be moved to
// another one, whichever of the two each is.
//
// It promises nothing to other packages. It must not know what an archive's
// items are: storetest does.
package migration
