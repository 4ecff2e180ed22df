package bot

import (
	"parley/adapters"
	"parley/sessions"
)

// newSession is what the session of an event's surface begins with, if it has
// none yet: user is the id of the one who sent it.
func newSession(event adapters.Event, user string) sessions.NewSession {
	surface := event.Surface
	kind := sessions.Direct
	if !event.Direct {
		kind = sessions.Group
	}
	return sessions.NewSession{
		Surface: surface.Key(),
		Source: sessions.Source{
			Kind: sourceKind(surface.Platform), Interactive: surface.Platform != adapters.Schedule,
			Platform: string(surface.Platform), TriggerID: event.MessageID, Type: kind,
		},
		UserID: user, WorkspaceID: event.Workspace, Metadata: metadata(event),
	}
}

func sourceKind(platform adapters.Platform) string {
	if local(platform) {
		return string(platform)
	}
	return "channel"
}

// local reports whether a platform is the gateway's own: its people read the
// log, and nothing is sent to them.
func local(platform adapters.Platform) bool {
	switch platform {
	case adapters.Web, adapters.CLI, adapters.API, adapters.Schedule:
		return true
	default:
		return false
	}
}

// Metadata keys that the prompt reads back.
const (
	metaTitle   = "chat_title"
	metaBotName = "bot_name"
)

// metadata names the platform's own ids, so that other programs can find a
// session by them.
func metadata(event adapters.Event) map[string]any {
	out := map[string]any{}
	put := func(key, value string) {
		if value != "" {
			out[key] = value
		}
	}
	put(metaTitle, event.Title)
	put(metaBotName, event.BotName)
	switch event.Surface.Platform {
	case adapters.Telegram:
		put("telegram_chat_id", event.Surface.Chat)
		put("telegram_thread_id", event.Surface.Thread)
	case adapters.Discord:
		put("discord_channel_id", event.Surface.Chat)
	case adapters.Slack:
		put("slack_channel_id", event.Surface.Chat)
		put("slack_thread_ts", event.Surface.Thread)
	}
	if len(out) == 0 {
		return nil
	}
	return out
}

func textOf(metadata map[string]any, key string) string {
	text, _ := metadata[key].(string)
	return text
}
