package adapters

// Format says how the text of an [Outgoing] is meant.
type Format string

// Formats. Markdown is CommonMark, which the adapter renders to its platform's
// dialect; Plain is shown as it stands.
const (
	Markdown Format = "markdown"
	Plain    Format = "plain"
)

// Outgoing is one message for one surface: one outbox row, one message on the
// platform. Long texts were split by [Adapter.Split] before.
type Outgoing struct {
	Surface Surface `json:"surface"`
	Text    string  `json:"text"`
	Format  Format  `json:"format,omitempty"` // empty is Markdown
	ReplyTo string  `json:"reply_to,omitempty"`
	// DeliveryID names the outbox row. It is the same on every attempt, so a
	// platform with an idempotency key gets it.
	DeliveryID string `json:"-"`
	// Attempt counts from 1. Above 1 an earlier attempt may have taken effect
	// if MaybeSent is true.
	Attempt   int  `json:"-"`
	MaybeSent bool `json:"-"`
}

// Receipt is a platform's word that it has the message.
type Receipt struct {
	MessageIDs []string // the platform's ids, in order; usually one
	MovedTo    Surface  // set when the chat has a new name which should be used from now on
}
