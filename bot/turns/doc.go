// Package turns runs claimed turns: it reads what the model has to know, asks
// the model, and commits the end, with what is said of it, in one step.
//
// It promises that a session has one turn at a time, under a lease that is
// renewed for as long as the turn runs; that a turn which was stopped or lost
// its lease writes nothing of an answer that people did not ask for; and that
// every turn ends: answered, parked and told, tried again, or handed back.
// Between turns a session costs nothing but a place in a bounded cache.
//
// It must not know platforms, commands or schedules. What is particular to the
// turns of one kind comes through [Kind].
package turns
