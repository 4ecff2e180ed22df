// Package commands carries out the chat commands.
//
// There is one table ([Commands.table]): for each command of routing its
// handler, and what is particular to it. A command without a row does not
// compile. What is done to conversations is done by the room of that name; here
// its refusals get their words.
//
// It promises that an event that is delivered again changes nothing more and is
// answered as the first time, and that nothing of a secret command is kept.
//
// It must not know adapters, models, or how turns run: it is given what it
// needs of them ([Ports]).
package commands
