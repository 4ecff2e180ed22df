package adapters

import "time"

// LengthUnit is what a platform counts a text's length in.
type LengthUnit string

// Length units.
const (
	UTF16Units LengthUnit = "utf16"
	Runes      LengthUnit = "runes"
)

// Capabilities says what a platform can do, as data. The gateway never asks
// which platform it is.
type Capabilities struct {
	Platform      Platform
	TextMax       int           // longest text of one message, in TextUnit
	TextUnit      LengthUnit    // what TextMax counts
	TypingFor     time.Duration // how long one typing indicator shows; 0: none
	NativeCommand bool          // commands can be registered with the platform
	Edit          bool          // the bot can edit its own messages
	Delete        bool          // the bot can delete its own messages
	Threads       bool
	Reactions     bool
	Buttons       bool
	IdempotentKey bool // sending twice with one DeliveryID shows one message
	CanLookUp     bool // a message of unknown fate can be found again
}
