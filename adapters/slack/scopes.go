package slack

// UmbrellaCommand takes the name of any command as its first word: Slack keeps
// some names for itself, and a name can belong to one app of a workspace only.
const UmbrellaCommand = "parley"

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
