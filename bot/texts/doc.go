// Package texts is what the gateway itself says to people, and how words from
// outside are put into it: one place, so that the same thing is always said in
// the same way.
//
// It promises that nothing from outside is Markdown in what it says: names,
// titles and prompts go through [Plain], [Code] or [Quote]. It is pure.
//
// It must not know stores, models or adapters, and decides nothing: who may do
// what, and what happened, is told to it.
package texts
