package slack_test

import (
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"parley/adapters/slack"
	"parley/routing"
)

type manifest struct {
	Features struct {
		AppHome struct {
			Messages bool `yaml:"messages_tab_enabled"`
			ReadOnly bool `yaml:"messages_tab_read_only_enabled"`
		} `yaml:"app_home"`
		Commands []struct {
			Command     string `yaml:"command"`
			Description string `yaml:"description"`
			Hint        string `yaml:"usage_hint"`
			Escape      bool   `yaml:"should_escape"`
		} `yaml:"slash_commands"`
	} `yaml:"features"`
	OAuth struct {
		Scopes struct {
			Bot []string `yaml:"bot"`
		} `yaml:"scopes"`
	} `yaml:"oauth_config"`
	Settings struct {
		Events struct {
			Bot []string `yaml:"bot_events"`
		} `yaml:"event_subscriptions"`
		Interactivity struct {
			Enabled bool `yaml:"is_enabled"`
		} `yaml:"interactivity"`
		SocketMode bool `yaml:"socket_mode_enabled"`
	} `yaml:"settings"`
}

// TestManifest: the app that people are told to make is the one this code
// needs, no less and no more.
func TestManifest(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../deploy/slack/manifest.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var m manifest
	if err := yaml.Unmarshal(text, &m); err != nil {
		t.Fatal(err)
	}
	same(t, "scopes", m.OAuth.Scopes.Bot, slices.Collect(maps.Keys(slack.BotScopes())))
	same(t, "events", m.Settings.Events.Bot, botEvents())
	if !m.Settings.SocketMode || !m.Settings.Interactivity.Enabled || !m.Features.AppHome.Messages || m.Features.AppHome.ReadOnly {
		t.Errorf("something is switched off: %+v", m)
	}
	wanted := []string{"/" + slack.UmbrellaCommand}
	for _, spec := range routing.Commands() {
		if !reservedCommand(spec.Name) {
			wanted = append(wanted, "/"+spec.Name)
		}
	}
	var found []string
	for _, command := range m.Features.Commands {
		found = append(found, command.Command)
		if !command.Escape {
			t.Errorf("%s would get names it cannot read", command.Command)
		}
		if spec, ok := routing.FindCommand(strings.TrimPrefix(command.Command, "/")); ok {
			usage := strings.TrimSpace("/" + spec.Name + " " + command.Hint)
			if command.Description != spec.Description || usage != spec.Usage {
				t.Errorf("%s is described as %q, %q", command.Command, usage, command.Description)
			}
		}
	}
	same(t, "commands", found, wanted)
}

func same(t *testing.T, what string, got, want []string) {
	t.Helper()
	got, want = slices.Sorted(slices.Values(got)), slices.Sorted(slices.Values(want))
	if !slices.Equal(got, want) {
		t.Errorf("%s:\n got %q\nwant %q", what, got, want)
	}
}

// botEvents are the events the app subscribes to.
func botEvents() []string {
	return []string{
		"app_mention", "message.channels", "message.groups", "message.im", "message.mpim",
		"reaction_added", "reaction_removed", "member_joined_channel", "member_left_channel", "channel_id_changed",
		"app_uninstalled", "tokens_revoked",
	}
}

// reservedCommand reports whether Slack has a command of that name itself and
// refuses an app that declares it.
func reservedCommand(name string) bool {
	return slices.Contains([]string{
		"active", "apps", "archive", "away", "call", "collapse", "dm", "dnd", "expand", "feed", "feedback", "invite", "join", "leave",
		"me", "msg", "mute", "open", "prefs", "pro", "remind", "rename", "search", "shortcuts", "shrug", "star", "status", "topic", "who",
	}, name)
}
