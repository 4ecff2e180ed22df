// Package storetest is the suite that every backend of sessions.Store has to
// pass: one named test per promise of the contract, tests of many writers at
// once, and random operations held against a model.
//
// It promises that each test has a store of its own, that no test waits for
// time to pass (the store's clock is moved), and that a backend which passes
// can be put in another's place. [Faulty] fails chosen calls of a real store,
// before or after their effect, for the layers above.
// [Migrate] moves everything from one backend to another.
//
// It must not know any backend: one hands it a function that opens a store.
package storetest
