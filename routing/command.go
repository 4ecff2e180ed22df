package routing

import "strings"

// Permission is whether somebody may run a command.
type Permission string

// Permissions. The zero value refuses.
const (
	PermRefused Permission = ""
	PermAllowed Permission = "allowed"
	// PermOwnTurn allows it for a turn that the sender caused. The
	// caller, who knows whose turn is running, has to check.
	PermOwnTurn Permission = "own_turn"
	// PermIfOpen stands only in the table: allowed where access.dm is
	// "anyone". [MayRun] resolves it.
	PermIfOpen Permission = "if_open"
)

// Rights is who may run a command in one kind of place. Owners may run all of
// them everywhere, blocked people none.
type Rights struct {
	Member Permission
	Guest  Permission
}

// CommandSpec is one row of the table of commands.
type CommandSpec struct {
	Name        string // lower case, without the slash
	Usage       string // as a person writes it, arguments included
	Description string // one line, for help and the platform's own menu
	// GroupMenu is true for a command worth offering in a group's menu.
	GroupMenu bool
	Direct    Rights
	Group     Rights
}

// CommandCount is how many commands there are. A table beside this one is an
// array of that length: a command without a row there does not compile.
const CommandCount = 21

// Commands is the table of the commands that exist, in the order of /help.
func Commands() [CommandCount]CommandSpec {
	everyone := Rights{Member: PermAllowed, Guest: PermAllowed}
	ownSession := Rights{Member: PermAllowed, Guest: PermIfOpen}
	known, ownersOnly := Rights{Member: PermAllowed}, Rights{}
	return [...]CommandSpec{
		{Name: "start", Usage: "/start", Description: "Say hello and tell whether you may use this bot", Direct: everyone, Group: ownersOnly},
		{Name: "help", Usage: "/help", Description: "List the commands you may use here", GroupMenu: true, Direct: everyone, Group: everyone},
		{Name: "whoami", Usage: "/whoami", Description: "Show your user id and the key of this chat", GroupMenu: true, Direct: everyone, Group: everyone},
		{Name: "new", Usage: "/new [text]", Description: "Start a new conversation", GroupMenu: true, Direct: ownSession, Group: ownersOnly},
		{Name: "status", Usage: "/status", Description: "Show what this conversation is doing", GroupMenu: true, Direct: ownSession, Group: known},
		{Name: "stop", Usage: "/stop", Description: "Stop the answer being written", GroupMenu: true, Direct: ownSession, Group: Rights{Member: PermOwnTurn}},
		{Name: "retry", Usage: "/retry", Description: "Answer the last message again", GroupMenu: true, Direct: ownSession, Group: ownersOnly},
		{Name: "schedule", Usage: "/schedule list|add|pause|resume|run|rm|history", Description: "Have something done on time", Direct: known, Group: ownersOnly},
		{Name: "sessions", Usage: "/sessions [all]", Description: "List your conversations", Direct: known, Group: ownersOnly},
		{Name: "resume", Usage: "/resume [number or id]", Description: "Go on here with another conversation", Direct: known, Group: ownersOnly},
		{Name: "name", Usage: "/name [text]", Description: "Name this conversation", Direct: known, Group: ownersOnly},
		{Name: "label", Usage: "/label [entry] text", Description: "Mark a place in this conversation", Direct: known, Group: ownersOnly},
		{Name: "tree", Usage: "/tree", Description: "Show this conversation with its branches", Direct: known, Group: ownersOnly},
		{Name: "branch", Usage: "/branch entry", Description: "Go back to a place and go on from there", Direct: known, Group: ownersOnly},
		{Name: "fork", Usage: "/fork [entry]", Description: "Go on in a copy of this conversation", Direct: known, Group: ownersOnly},
		{Name: "checkpoint", Usage: "/checkpoint", Description: "Bring my notes on this conversation up to date", Direct: known, Group: ownersOnly},
		{Name: "clear", Usage: "/clear", Description: "Erase what was said in this conversation, for good", Direct: known, Group: ownersOnly},
		{Name: "link", Usage: "/link [code]", Description: "Make your accounts on other platforms one with this one", Direct: everyone, Group: ownersOnly},
		{Name: "allow", Usage: "/allow [chat key]", Description: "Allow this group, or the one named, to use the bot", GroupMenu: true, Direct: ownersOnly, Group: ownersOnly},
		{Name: "pair", Usage: "/pair [list|allow|block] [code]", Description: "Let those in who ask to talk to me, or block them", Direct: ownersOnly, Group: ownersOnly},
		{Name: "people", Usage: "/people [allow|block|role|remove] [id]", Description: "Show who may talk to me, and change it", Direct: ownersOnly, Group: ownersOnly},
	}
}

// FindCommand looks a command up by its name, in any letter case.
func FindCommand(name string) (CommandSpec, bool) {
	if strings.ContainsAny(name, " \n") { // no name has them, nearly every message does
		return CommandSpec{}, false
	}
	for _, spec := range Commands() {
		if strings.EqualFold(spec.Name, name) {
			return spec, true
		}
	}
	return CommandSpec{}, false
}

// MayRun says whether a sender of this role may run the command in a direct
// chat or in a group. A command that does not exist is refused, an unknown
// role too. It does not ask whether the group itself is allowed: [Decide] does.
func MayRun(name string, role Role, direct bool, access Access) Permission {
	spec, ok := FindCommand(name)
	if !ok {
		return PermRefused
	}
	rights := spec.Group
	if direct {
		rights = spec.Direct
	}
	switch role {
	case Owner:
		return PermAllowed
	case Member:
		return rights.Member.resolve(access)
	case Guest:
		return rights.Guest.resolve(access)
	default:
		return PermRefused
	}
}

func (p Permission) resolve(access Access) Permission {
	if p != PermIfOpen {
		return p
	}
	if access.DM == DMAnyone {
		return PermAllowed
	}
	return PermRefused
}
