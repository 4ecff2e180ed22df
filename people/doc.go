// Package people is who somebody is to the gateway, and how they are let in:
// roles, the requests of strangers, and what owners do about both, once for
// every door (chat, HTTP, command line).
//
// It promises that access is decided in one place and fails closed; that what
// the configuration says of somebody is stronger than what is stored, and is
// named when it stands in the way; that what is known of people is at most five
// seconds old; and that a request is kept until an owner answers it or it
// expires, at most [WaitMax] of them for each account of the bot.
//
// It must not know platforms, models, HTTP, or how anything is worded.
package people
