package slack

import (
	"encoding/json"
	"net/url"
	"unicode/utf8"

	"github.com/google/uuid"
	slackapi "github.com/slack-go/slack"

	"parley/adapters"
	"parley/adapters/markdown"
)

// metadataType names the metadata in which a message carries the id of its
// delivery.
const metadataType = "parley_delivery"

// textHardMax is where Slack cuts the text field off.
const textHardMax = 40_000

// deliveryMetadata is how a message is found again.
type deliveryMetadata struct {
	EventType    string `json:"event_type"`
	EventPayload struct {
		DeliveryID string `json:"delivery_id"`
	} `json:"event_payload"`
}

// render makes the arguments of chat.postMessage. Pure.
//
// Markdown goes into a markdown block, which Slack renders itself; the text
// field beside it is what notifications show. A plain text goes into the text
// field alone. The surface's thread is where it goes; ReplyTo is not used,
// because to reply to a message is to open a thread, another surface.
func render(out adapters.Outgoing) url.Values {
	values := envelopeOf(out)
	if out.Format == adapters.Plain {
		values.Set("text", markdown.SlackEscaped(out.Text))
		values.Set("mrkdwn", "false")
		return values
	}
	blocks, err := json.Marshal([]slackapi.Block{slackapi.NewMarkdownBlock("", markdown.Slack(out.Text))})
	if err != nil {
		return renderText(out)
	}
	values.Set("blocks", string(blocks))
	values.Set("text", clip(markdown.SlackMrkdwn(out.Text), plainMax))
	return values
}

// renderText is a Markdown message without a block, for where Slack refuses
// the block.
func renderText(out adapters.Outgoing) url.Values {
	values := envelopeOf(out)
	values.Set("text", clip(markdown.SlackMrkdwn(out.Text), textHardMax))
	return values
}

// envelopeOf is everything but the text. What the message links to is not
// fetched, and names in it are not looked up.
func envelopeOf(out adapters.Outgoing) url.Values {
	values := url.Values{
		"channel": {out.Surface.Chat}, "unfurl_links": {"false"}, "unfurl_media": {"false"}, "link_names": {"false"},
	}
	if out.Surface.Thread != "" {
		values.Set("thread_ts", out.Surface.Thread)
	}
	if out.DeliveryID != "" {
		metadata := deliveryMetadata{EventType: metadataType}
		metadata.EventPayload.DeliveryID = out.DeliveryID
		if encoded, err := json.Marshal(metadata); err == nil {
			values.Set("metadata", string(encoded))
		}
		values.Set("client_msg_id", clientMessageID(out))
	}
	return values
}

// clientMessageID is the same for every attempt at a delivery. Slack does not
// promise to heed it.
func clientMessageID(out adapters.Outgoing) string {
	space := uuid.NewSHA1(uuid.NameSpaceURL, []byte("parley:slack:"+out.Surface.Account))
	return uuid.NewSHA1(space, []byte(out.DeliveryID)).String()
}

// clip shortens text to limit UTF-16 code units, between characters and not
// inside an escape or a link.
func clip(text string, limit int) string {
	if markdown.UTF16Length(text) <= limit {
		return text
	}
	units, cut, open := 0, 0, false
	for i, r := range text {
		if !open {
			cut = i
		}
		units += utf16Units(r)
		if units >= limit {
			break
		}
		switch r {
		case '&', '<':
			open = true
		case ';', '>', '\n':
			open = false
		}
	}
	return text[:cut] + "…"
}

func utf16Units(r rune) int {
	if r > 0xFFFF && r <= utf8.MaxRune {
		return 2
	}
	return 1
}
