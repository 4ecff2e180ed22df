// Package adapters is the platform-neutral vocabulary of chat.
//
// It fixes what a place is ([Surface]), what can happen there ([Event]), what
// can be said there ([Outgoing]), what a platform is able to do
// ([Capabilities]) and what a platform has to offer the gateway ([Adapter]).
// One folder below it holds one platform each.
//
// It promises that an event a platform delivered is handed on with everything
// a decision needs, and that an error of sending answers four questions:
// permanent or temporary, when again, could it have taken effect, and why.
//
// It must not know sessions, stores, models or routing.
package adapters
