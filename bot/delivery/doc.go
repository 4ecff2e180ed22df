// Package delivery brings what the gateway says to its platforms: it makes the
// outbox rows of a text, and sends the rows of each surface's lane one at a
// time, in order.
//
// It promises that nothing is sent that is not in the outbox, that every
// attempt leaves a receipt or its reason, and that no send begins on an answer
// of the store that is too old to still hold the lane. What becomes of an
// attempt is a pure function.
//
// It must not know what a turn or a session is: it tells its user that a row of
// a session has ended, and that a chat has moved.
package delivery
