// Package endpoint is what the providers of models over HTTP share: one bounded
// exchange, the limits of time it runs under, and texts fit for an error.
//
// It promises that every wait and every size has a bound, that a redirect is
// never followed with a key in hand, and that what [Scrubber.Clean] returns
// holds no secret it was told of.
//
// It must not know any provider's requests or answers.
package endpoint
