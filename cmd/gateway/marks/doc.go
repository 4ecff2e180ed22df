// Package marks keeps gateways and migrations off one another on a store that
// several processes can use.
//
// It promises that a migration which holds a store alone is alone there, and
// that whoever lost its mark is told before another could have taken it.
//
// It must not know what the store holds.
package marks
