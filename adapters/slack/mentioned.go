package slack

import (
	"encoding/json"
	"strings"
)

// named lists the ids that a delivery refers to, so that their names can be
// looked up before it is normalized.
type named struct {
	users    []string
	channels []string
	thread   message // whose thread may have to be known
}

// namedIn finds them. Pure, and total: what cannot be read names nobody.
func namedIn(in incoming) named {
	var found named
	switch in.kind {
	case kindEvents:
		var outer struct {
			Event struct {
				message
				Item struct {
					Channel string `json:"channel"`
				} `json:"item"`
			} `json:"event"`
		}
		if json.Unmarshal(in.payload, &outer) == nil {
			found.message(outer.Event.message)
			found.thread = outer.Event.message
			if outer.Event.Message != nil {
				found.message(*outer.Event.Message)
			}
			found.channel(outer.Event.Item.Channel)
		}
	case kindCommand:
		var c command
		if json.Unmarshal(in.payload, &c) == nil {
			found.channel(c.ChannelID)
			found.user(c.UserID)
			found.text(c.Text)
		}
	case kindInteractive:
		var i interaction
		if json.Unmarshal(in.payload, &i) == nil {
			found.channel(i.Container.ChannelID)
			found.user(i.User.ID)
		}
	}
	return found
}

func (n *named) message(m message) {
	n.user(m.User)
	if m.ChannelType != "im" {
		n.channel(m.Channel)
	}
	n.text(m.Text)
	for _, other := range m.Attachments[:min(len(m.Attachments), sharedMax)] {
		if other.Share {
			n.text(other.Text)
		}
	}
}

// text finds the people a text mentions. Channels bring their names along.
func (n *named) text(text string) {
	for range mentionsMax {
		_, after, ok := strings.Cut(text, "<@")
		if !ok {
			return
		}
		id, rest, ok := strings.Cut(after, ">")
		if !ok {
			return
		}
		id, _, _ = strings.Cut(id, "|")
		n.user(id)
		text = rest
	}
}

func (n *named) user(id string) {
	if isID(id) {
		n.users = append(n.users, id)
	}
}

func (n *named) channel(id string) {
	if isID(id) {
		n.channels = append(n.channels, id)
	}
}
