package slack

import (
	"encoding/json"
	"net/url"
)

// incoming is one thing Slack delivered, by whichever way: the body of an
// envelope or of a request.
type incoming struct {
	kind    string // events_api, slash_commands or interactive, as envelopes name them
	payload json.RawMessage
}

// The kinds of envelope that carry something.
const (
	kindEvents      = "events_api"
	kindCommand     = "slash_commands"
	kindInteractive = "interactive"
)

// callback is the outside of an event.
type callback struct {
	Type           string          `json:"type"`
	TeamID         string          `json:"team_id"`
	EventID        string          `json:"event_id"`
	Event          json.RawMessage `json:"event"`
	Authorizations []struct {
		TeamID string `json:"team_id"`
		UserID string `json:"user_id"`
	} `json:"authorizations"`
}

// head is what an event's own kind is read from.
type head struct {
	Type    string `json:"type"`
	Subtype string `json:"subtype"`
}

// message is a message, or what an event tells of one.
type message struct {
	Subtype      string     `json:"subtype"`
	Channel      string     `json:"channel"`
	ChannelType  string     `json:"channel_type"`
	User         string     `json:"user"`
	BotID        string     `json:"bot_id"`
	Username     string     `json:"username"`
	Text         string     `json:"text"`
	TS           string     `json:"ts"`
	ThreadTS     string     `json:"thread_ts"`
	EventTS      string     `json:"event_ts"`
	ParentUserID string     `json:"parent_user_id"`
	UserTeam     string     `json:"user_team"` // where the author belongs, if it is told
	Files        []file     `json:"files"`
	Attachments  []attached `json:"attachments"`
	Profile      struct {
		DisplayName string `json:"display_name"`
		RealName    string `json:"real_name"`
	} `json:"user_profile"`
	Edited *struct {
		TS string `json:"ts"`
	} `json:"edited"`

	// Of message_changed and message_deleted.
	DeletedTS string   `json:"deleted_ts"`
	Message   *message `json:"message"`
	Previous  *message `json:"previous_message"`
}

// attached is what hangs on a message: another message that was passed on, or a
// preview, which is not read.
type attached struct {
	Share  bool   `json:"is_share"`
	Text   string `json:"text"`
	Author string `json:"author_name"`
	TS     string `json:"ts"`
	Files  []file `json:"files"`
}

type file struct {
	ID       string `json:"id"`
	Name     string `json:"name"`
	MIME     string `json:"mimetype"`
	Size     int64  `json:"size"`
	Subtype  string `json:"subtype"`
	Filetype string `json:"filetype"`
}

type reaction struct {
	User     string `json:"user"`
	Reaction string `json:"reaction"`
	EventTS  string `json:"event_ts"`
	Item     struct {
		Type    string `json:"type"`
		Channel string `json:"channel"`
		TS      string `json:"ts"`
	} `json:"item"`
}

type membership struct {
	User    string `json:"user"`
	Channel string `json:"channel"`
	EventTS string `json:"event_ts"`
}

type channelChange struct {
	Old     string `json:"old_channel_id"`
	New     string `json:"new_channel_id"`
	EventTS string `json:"event_ts"`
}

// command is a slash command.
type command struct {
	Command   string `json:"command"`
	Text      string `json:"text"`
	TeamID    string `json:"team_id"`
	ChannelID string `json:"channel_id"`
	UserID    string `json:"user_id"`
	UserName  string `json:"user_name"`
	TriggerID string `json:"trigger_id"`
}

// interaction is something pressed.
type interaction struct {
	Type string `json:"type"`
	Team struct {
		ID string `json:"id"`
	} `json:"team"`
	User struct {
		ID   string `json:"id"`
		Name string `json:"name"`
	} `json:"user"`
	Channel struct {
		ID   string `json:"id"`
		Name string `json:"name"`
	} `json:"channel"`
	Container struct {
		ChannelID string `json:"channel_id"`
		MessageTS string `json:"message_ts"`
		ThreadTS  string `json:"thread_ts"`
	} `json:"container"`
	TriggerID string `json:"trigger_id"`
	Actions   []struct {
		ActionID string `json:"action_id"`
		Value    string `json:"value"`
		ActionTS string `json:"action_ts"`
	} `json:"actions"`
}

// commandForm is a slash command as a request carries it, as an envelope
// would.
func commandForm(form url.Values) (incoming, error) {
	payload, err := json.Marshal(map[string]string{
		"command": form.Get("command"), "text": form.Get("text"), "team_id": form.Get("team_id"),
		"channel_id": form.Get("channel_id"), "user_id": form.Get("user_id"), "user_name": form.Get("user_name"),
		"trigger_id": form.Get("trigger_id"),
	})
	return incoming{kind: kindCommand, payload: payload}, err
}
