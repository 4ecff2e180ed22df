// Package telegram joins one Telegram bot to the gateway.
//
// It is cut into poll (long polling), normalize (pure: update → event), render
// (pure: outgoing → request), send, health and doctor; every request goes
// through one client.
//
// It promises that an update is confirmed to Telegram only after the sink has
// taken every event of its batch; that one unreadable update never stops the
// stream; that an error of sending says whether the message may have arrived;
// and that the token is in no error, log or finding. Events of one surface
// reach the sink in Telegram's order; a reaction carries no topic, so that it
// counts to the forum's general one.
//
// It must not know sessions, stores or routing, and polls without asking who
// else does: that only one process polls a token is up to the caller of Run.
package telegram
