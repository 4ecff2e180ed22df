package slack

import "slices"

// UmbrellaCommand takes the name of any command as its first word: Slack keeps
// some names for itself, and a name can belong to one app of a workspace only.
const UmbrellaCommand = "parley"

// ReservedCommand reports whether Slack has a command of that name itself and
// refuses an app that declares it.
func ReservedCommand(name string) bool {
	return slices.Contains([]string{
		"active", "apps", "archive", "away", "call", "collapse", "dm", "dnd", "expand", "feed", "feedback", "invite", "join", "leave",
		"me", "msg", "mute", "open", "prefs", "pro", "remind", "rename", "search", "shortcuts", "shrug", "star", "status", "topic", "who",
	}, name)
}

// BotScopes are the scopes the bot token needs, each with what for. The app
// manifest in deploy/slack asks for the same.
func BotScopes() map[string]string {
	return map[string]string{
		"app_mentions:read": "mentions",
		"channels:history":  "messages of public channels",
		"groups:history":    "messages of private channels",
		"im:history":        "direct messages",
		"mpim:history":      "messages of group chats",
		"channels:read":     "names of public channels",
		"groups:read":       "names of private channels",
		"im:read":           "telling direct chats",
		"mpim:read":         "names of group chats",
		"chat:write":        "answers",
		"commands":          "slash commands",
		"reactions:read":    "reactions",
		"users:read":        "names of people",
	}
}

// BotEvents are the events the app subscribes to.
func BotEvents() []string {
	return []string{
		"app_mention", "message.channels", "message.groups", "message.im", "message.mpim",
		"reaction_added", "reaction_removed", "member_joined_channel", "member_left_channel", "channel_id_changed",
		"app_uninstalled", "tokens_revoked",
	}
}
