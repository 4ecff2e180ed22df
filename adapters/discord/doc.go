// Package discord joins one Discord bot to the gateway.
//
// It keeps a gateway connection of its own and uses discordgo for types,
// decoding of events and REST. It promises that the position from which
// Discord replays moves only over events the sink has taken, so that a killed
// process or a successor on another replica resumes without a gap while
// Discord keeps the session (a few minutes); that the events of one channel
// reach the sink in order, one at a time; that no message pings anybody; and
// that the token and the tokens of interactions are in no log and no error.
//
// A surface is a channel: Chat is the channel's id; for a thread Chat is the
// id of its parent channel, which never changes, and Thread its own. A
// direct-message channel is a Chat without workspace.
//
// It does not fetch the messages of a gap that Discord cannot replay (a session
// that ended while nobody was connected); it logs that there was one. It does
// not ask for the events of reactions and members (their intents).
//
// It must not know sessions, stores, models or routing.
package discord
