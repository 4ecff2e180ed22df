package bot

import (
	"parley/adapters"
	"parley/bot/texts"
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
	if platform.Own() {
		return string(platform)
	}
	return "channel"
}

// metadata names the platform's own ids, so that other programs can find a
// session by them.
func metadata(event adapters.Event) map[string]any {
	out := map[string]any{}
	put := func(key, value string) {
		if value != "" {
			out[key] = value
		}
	}
	put(texts.ChatTitle, event.Title)
	put(texts.BotName, event.BotName)
	traits := event.Surface.Platform.Traits()
	if traits.ChatKey != "" {
		put(traits.ChatKey, event.Surface.Chat)
	}
	if traits.ThreadKey != "" {
		put(traits.ThreadKey, event.Surface.Thread)
	}
	if len(out) == 0 {
		return nil
	}
	return out
}
