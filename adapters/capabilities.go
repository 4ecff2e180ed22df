package adapters

import "time"

// Capabilities says what an adapter does, as data, so that the gateway never
// asks which platform it is. Each field is read by code and proved by package
// adaptertest.
type Capabilities struct {
	Platform      Platform
	TextMax       int           // longest text of one message, in UTF-16 code units
	TypingFor     time.Duration // how long one typing indicator shows; 0: the adapter is no [Typer]
	IdempotentKey bool          // sending twice with one DeliveryID shows one message
	CanLookUp     bool          // a message of unknown fate is found again before it is sent again
}
