// Command gateway is Parley's one program: it runs the gateway, chats with it
// in the terminal, and checks, prints and repairs what there is to.
//
// This package reads flags and configuration, builds the parts, joins them and
// turns errors into one line with a remedy. It promises that what fails to
// start leaves nothing behind half started, and that everything it starts is
// stopped in a documented order.
//
// It must not hold behaviour of its own: what the gateway does is in the
// packages that it wires.
package main
