package telegram

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"unicode/utf8"

	tgbotapi "github.com/go-telegram-bot-api/telegram-bot-api/v5"

	"parley/adapters"
)

// Telegram's limits of the command menu.
const (
	commandsMax    = 100
	descriptionMax = 256 // characters
)

type menuEntry struct {
	Command     string `json:"command"`
	Description string `json:"description"`
}

// RegisterCommands implements [adapters.CommandRegistrar]: one menu for direct
// chats, a second for groups.
func (a *Adapter) RegisterCommands(ctx context.Context, commands []adapters.CommandInfo) error {
	all, groups, err := menus(commands)
	if err != nil {
		return err
	}
	if err := a.setMenu(ctx, "default", all); err != nil {
		return err
	}
	return a.setMenu(ctx, "all_group_chats", groups)
}

func menus(commands []adapters.CommandInfo) (all, groups []menuEntry, err error) {
	name := regexp.MustCompile(`^[a-z0-9_]{1,32}$`)
	if len(commands) > commandsMax {
		return nil, nil, fmt.Errorf("telegram: %d commands, of at most %d", len(commands), commandsMax)
	}
	all, groups = []menuEntry{}, []menuEntry{}
	for _, command := range commands {
		length := utf8.RuneCountInString(command.Description)
		if !name.MatchString(command.Name) || length == 0 || length > descriptionMax {
			return nil, nil, fmt.Errorf("telegram: command %q: the name must be 1 to 32 of a-z, 0-9 and _, the description 1 to %d characters", command.Name, descriptionMax)
		}
		entry := menuEntry{Command: command.Name, Description: command.Description}
		all = append(all, entry)
		if command.Groups {
			groups = append(groups, entry)
		}
	}
	return all, groups, nil
}

func (a *Adapter) setMenu(ctx context.Context, scope string, entries []menuEntry) error {
	encoded, err := json.Marshal(entries)
	if err != nil {
		return err
	}
	params := tgbotapi.Params{"commands": string(encoded), "scope": `{"type":"` + scope + `"}`}
	return a.client.call(ctx, callTimeout, "setMyCommands", params, nil)
}
