package routing

import (
	"strings"
	"unicode"

	"parley/adapters"
)

// Limits of what can be a command, in bytes. The first is the platforms' own.
const (
	commandNameMax = 32
	botNameMax     = 64
)

// Command is a command found in a message.
type Command struct {
	Name string // as in [CommandSpec], so in lower case
	Args string // what stands behind the name, without outer white space
}

// ParseCommand finds the command in a message, in direct chats and groups
// alike. Only commands of the table are commands; everything else is text.
//
//   - What the platform delivered as a command (Event.Command).
//   - "/new" or "/new@bot" at the beginning, followed by white space or the
//     end; names in any letter case; the rest is the arguments.
//   - A mention at the beginning followed by nothing but the name: "@bot new",
//     not "@bot new ideas?"; or followed by the slash form. Where the platform
//     took the mention out of the text, the text is just "new"; then a reply
//     to the bot does not count, since replies carry a mention by themselves
//     on some platforms and "stop" may be the answer to a question.
//
// otherBot is true for "/x@somebody" where somebody is not botName, known
// command or not; it is also true for every name while botName is empty.
func ParseCommand(event adapters.Event, botName string) (cmd *Command, otherBot bool) {
	if event.Command != nil {
		return lookUp(event.Command.Name, event.Command.Args), false
	}
	text := strings.TrimSpace(event.Text)
	if event.Mentioned {
		rest, named := cutMention(text, botName)
		if named || !event.ReplyToBot {
			if cmd := lookUp(rest, ""); cmd != nil {
				return cmd, false
			}
		}
		text = rest
	}
	return parseSlash(text, botName)
}

func lookUp(name, args string) *Command {
	spec, ok := FindCommand(name)
	if !ok {
		return nil
	}
	return &Command{Name: spec.Name, Args: strings.TrimSpace(args)}
}

// cutMention takes a leading "@bot" off text.
func cutMention(text, botName string) (rest string, found bool) {
	head, rest := cutSpace(text)
	if botName == "" || !strings.EqualFold(head, "@"+botName) {
		return text, false
	}
	return rest, true
}

func parseSlash(text, botName string) (cmd *Command, otherBot bool) {
	head, args := cutSpace(text)
	slashed, ok := strings.CutPrefix(head, "/")
	if !ok {
		return nil, false
	}
	name, target, addressed := strings.Cut(slashed, "@")
	if !isCommandName(name) || addressed && !isBotName(target) {
		return nil, false
	}
	if addressed && !strings.EqualFold(target, botName) {
		return nil, true
	}
	return lookUp(name, args), false
}

// cutSpace splits at the first run of white space.
func cutSpace(text string) (head, rest string) {
	i := strings.IndexFunc(text, unicode.IsSpace)
	if i < 0 {
		return text, ""
	}
	return text[:i], strings.TrimSpace(text[i:])
}

func isCommandName(name string) bool {
	return name != "" && len(name) <= commandNameMax &&
		!strings.ContainsFunc(name, func(r rune) bool { return !isWordRune(r) })
}

func isBotName(name string) bool {
	return name != "" && len(name) <= botNameMax &&
		!strings.ContainsFunc(name, func(r rune) bool { return !isWordRune(r) && r != '-' && r != '.' })
}

func isWordRune(r rune) bool {
	return r == '_' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z'
}
