package texts

import (
	"fmt"
	"strings"

	"parley/adapters"
	"parley/routing"
	"parley/sessions"
)

// What is said where a fixed line is enough.
const (
	NewConversation = "New conversation started."
	Stopped         = "Stopped."
	NothingRuns     = "Nothing is being answered right now."
	NotYours        = "Only an owner can stop an answer that somebody else asked for."
	NothingToTry    = "There is nothing to answer again yet."
	TryingAgain     = "Trying again."
	StillRunning    = "I am still answering. Use /stop first, or wait."
	Ended           = "This conversation has ended. Its copy can go on: /resume, followed by its id, makes one."
	QueueFull       = "Too many messages are waiting here, so I could not take this one. Please send it again in a while."
	Waits           = "You have asked for more than I answer at once. Your message waits here, and I come to it soon."
	TooLarge        = "That message is too large for me. Please send it in smaller parts."
	Undelivered     = "I have an answer for you, but this chat's platform did not take it. Please ask for it in another form."
	MaybeDelivered  = "A message of mine may not have arrived here: its platform did not say what became of it."
	Broken          = "Something went wrong inside me, and I could not take that message in. Please write it in another way."
	Allowed         = "This group may now talk to me. Mention me, or reply to me, and I answer."
	GroupOff        = "This group may no longer talk to me."
	AllowWhich      = "Use /allow in the group itself, or name it: /allow followed by the key that /whoami shows there."
	Parked          = "I could not answer this after several tries. An owner can look into it; /retry tries again."
)

// ScheduleUsage says how /schedule is used.
const ScheduleUsage = "Schedules: `/schedule list`, `/schedule add \"0 9 * * 1-5\" zone=Europe/Berlin What is on today?`, " +
	"`/schedule pause|resume|run|rm|history ID`.\n\n" +
	"When is a cron expression in quotes, `@daily`, `every 30m`, or `\"at 2026-05-01 09:00\"`. " +
	"Settings go before the text: `zone=`, `id=`, `to=` (a chat's key, as /whoami prints it), `missed=skip|once|all`, " +
	"`overlap=skip|queue`, `session=shared|fresh`, `jitter=`, `limit=`."

// Unreadable is said of what came with a message and cannot be read yet.
func Unreadable(kinds []string) string {
	return "I can't read " + Join(kinds) + " yet, only text."
}

// CaptionOnly stands before the answer to the caption of such a message.
func CaptionOnly(kinds []string) string {
	return "_I can't read " + Join(kinds) + " yet, so I only read what you wrote with it._"
}

// Notice is the one line of a refusal: what is missing and who can mend it.
func Notice(kind routing.NoticeKind, sender adapters.Identity) string {
	switch kind {
	case routing.NoticeStranger:
		return Stranger(sender, Knocked{})
	case routing.NoticeGroupNotListed:
		return "This group is not allowed to talk to me yet. An owner of this bot can change that by writing something here, or with /allow."
	default:
		return "You may not use this command here. /help lists those you may."
	}
}

// Hello greets; StartKnown greets somebody who may use the bot.
const (
	Hello      = "Hello! I am an assistant you can talk to in this chat."
	StartKnown = Hello + " You may use me: just write. /help lists what else I understand."
)

// Help lists the commands that somebody may give in a place.
func Help(role routing.Role, direct bool, access routing.Access) string {
	var out strings.Builder
	out.WriteString("Commands you may use here:\n\n")
	for _, spec := range routing.Commands() {
		if routing.MayRun(spec.Name, role, direct, access) != routing.PermRefused {
			fmt.Fprintf(&out, "- `%s` %s\n", spec.Usage, spec.Description)
		}
	}
	if !direct {
		out.WriteString("\nIn a group I answer when I am mentioned or replied to.")
	}
	return out.String()
}

// Whoami names user and place the way the configuration wants them. user's
// other accounts are named where nobody else reads it: alone.
func Whoami(sender adapters.Identity, role routing.Role, user sessions.User, surface adapters.Surface, alone bool) string {
	who := fmt.Sprintf("You are `%s` (%s).", sender, role)
	if len(user.Identities) > 1 && alone {
		who += " Your accounts: " + identities(user) + "."
	}
	return fmt.Sprintf("%s\nThis chat is `%s`.", who, surface.Key())
}

// Status is what a session is doing. problems are lines for an owner.
func Status(record sessions.Record, model string, problems []string) string {
	var out strings.Builder
	fmt.Fprintf(&out, "Session `%s`: %s, %s.\n", record.ID, record.State, statusWord(record))
	if record.Description != "" {
		fmt.Fprintf(&out, "About: %s\n", Plain(record.Description))
	}
	fmt.Fprintf(&out, "%s, %s. Model: %s.", count(record.MessageCount, "message"), count(record.TurnCount, "answer"), model)
	for _, problem := range problems {
		out.WriteString("\n⚠ " + problem)
	}
	return out.String()
}

func statusWord(record sessions.Record) string {
	if record.Queued > 0 {
		return fmt.Sprintf("%s, %s waiting", record.Status, count(int64(record.Queued), "message"))
	}
	return string(record.Status)
}

// NoSession answers where nothing was said yet.
func NoSession(surface adapters.Surface) string {
	return "No conversation here yet (`" + surface.Key() + "`). Just write something."
}

// EmptyAnswer tells an owner that the model had nothing to say in a group.
func EmptyAnswer(record sessions.Record, cause string) string {
	return "⚠ My language model gave an empty answer in the group conversation " + Code(record.ID) + ": " + Code(cause) + " Nobody there was told. I say so once, until it answers there."
}

// UndeliveredAt tells an owner of a message that did not arrive.
func UndeliveredAt(surface, reason string) string {
	return "⚠ A message to " + Code(surface) + " could not be delivered: " + Code(reason)
}
