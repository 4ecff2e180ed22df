// Package slack joins one Slack app to the gateway: over Socket Mode, over
// signed HTTP requests, or both.
//
// It promises that an envelope is acknowledged, and a request answered with
// 200, only after the sink has taken its event; that events of one surface
// reach the sink one at a time and in order of arrival; that a payload it does
// not know is logged with its kind and acknowledged; that nothing unsigned gets
// past the webhook; that a message of unknown fate is looked for in the
// channel's history before it is posted again; and that no token shows.
//
// What each file holds: envelopes become events in normalize*.go (pure),
// messages become requests in render.go (pure), socket.go and webhook.go hear,
// send.go speaks, doctor.go finds out what would make the app deaf.
//
// It must not know sessions, routing or stores.
package slack
