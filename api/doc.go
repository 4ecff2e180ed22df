// Package api is the gateway's HTTP face: the JSON API, its event stream, the
// health pages, and the chat page, which is a client of the same API.
//
// It promises that a message is durable before it is answered with success,
// that a stream of events can be continued where it broke off without loss or
// repetition of stored events, that a slow reader never slows a writer, that
// nothing but the health pages and the assets is served to a stranger, and
// that what a model wrote is never executed by a browser.
//
// It must not know platforms, models or which store is behind it.
package api
