package discord

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"github.com/bwmarrin/discordgo"

	"parley/adapters"
)

// Limits of Discord's command menu.
const (
	commandsMax    = 100
	descriptionMax = 100 // characters
)

// RegisterCommands replaces the bot's global slash commands. Every command
// takes an optional line of arguments, as in the text form.
func (a *Adapter) RegisterCommands(ctx context.Context, commands []adapters.CommandInfo) error {
	if len(commands) > commandsMax {
		return fmt.Errorf("discord: %d commands, but the menu holds %d", len(commands), commandsMax)
	}
	app, failed := a.application(ctx)
	if failed != nil {
		return fmt.Errorf("discord: the commands could not be registered: %w", failed)
	}
	menu := make([]*discordgo.ApplicationCommand, 0, len(commands))
	for _, command := range commands {
		menu = append(menu, menuCommand(command))
	}
	if _, err := a.rest.call(ctx, http.MethodPut, "/applications/"+app+"/commands", menu, nil); err != nil {
		return fmt.Errorf("discord: the commands could not be registered: %w", err)
	}
	return nil
}

func menuCommand(command adapters.CommandInfo) *discordgo.ApplicationCommand {
	contexts := []discordgo.InteractionContextType{discordgo.InteractionContextBotDM}
	if command.Groups {
		contexts = append(contexts, discordgo.InteractionContextGuild)
	}
	description := []rune(command.Description)
	return &discordgo.ApplicationCommand{
		Type: discordgo.ChatApplicationCommand, Name: strings.ToLower(command.Name),
		Description: string(description[:min(len(description), descriptionMax)]), Contexts: &contexts,
		IntegrationTypes: &[]discordgo.ApplicationIntegrationType{discordgo.ApplicationIntegrationGuildInstall},
		Options: []*discordgo.ApplicationCommandOption{{
			Type: discordgo.ApplicationCommandOptionString, Name: "arguments", Description: "What stands behind the command, if anything",
		}},
	}
}
