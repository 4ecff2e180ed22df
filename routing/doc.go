// Package routing decides, without I/O, what becomes of an inbound event:
// whether it starts a turn, is only logged, is dropped, is a command, or is
// refused with one line ([Decide]), always with a [Reason]. It also owns the
// words around such a decision: the commands and who may run them
// ([Commands], [MayRun], [ParseCommand]), the label a group message wears for
// the model ([Label]), and what is taken off a model's answer before people
// see it ([StripReply], [Stripper]).
//
// It promises that access is decided here and nowhere else, for every kind of
// event, from verified ids and roles given to it, and that everything it does
// not know is denied. Every function is pure and total: no input panics, and
// the cost is linear in the input.
//
// It must not know stores, sessions, models, or any one platform's rules.
package routing
