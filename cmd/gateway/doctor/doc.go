// Package doctor is `gateway doctor`: it looks at the configuration, the data
// folder, the store, who may talk to the bot, the platforms, the model and the
// port, and says what to do about each.
//
// Where a gateway runs it is asked what it finds of itself ([Inside]); the first
// line says which was looked at.
//
// It promises to change nothing, to look at all parts where one fails, and to
// bound the time of each.
//
// It must not repair.
package doctor
