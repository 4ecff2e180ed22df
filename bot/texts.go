package bot

import (
	"fmt"
	"slices"
	"strings"

	"parley/adapters"
	"parley/routing"
	"parley/sessions"
)

// What the gateway itself says to people.
const (
	textNew          = "New conversation started."
	textStopped      = "Stopped."
	textNothingRuns  = "Nothing is being answered right now."
	textNotYours     = "Only an owner can stop an answer that somebody else asked for."
	textNothingToTry = "There is nothing to answer again yet."
	textAgain        = "Trying again."
	textStillRunning = "I am still answering. Use /stop first, or wait."
	textEnded        = "This conversation has ended. Its copy can go on: /resume, followed by its id, makes one."
	textQueueFull    = "Too many messages are waiting here, so I could not take this one. Please send it again in a while."
	textTooLarge     = "That message is too large for me. Please send it in smaller parts."
	textBroken       = "Something went wrong inside me, and I could not take that message in. Please write it in another way."
	textAllowed      = "This group may now talk to me. Mention me, or reply to me, and I answer."
	textGroupOff     = "This group may no longer talk to me."
	textAllowWhich   = "Use /allow in the group itself, or name it: /allow followed by the key that /whoami shows there."
	textParked       = "I could not answer this after several tries. An owner can look into it; /retry tries again."
)

// textUnreadable is said of what came with a message and cannot be read yet.
func textUnreadable(kinds []string) string {
	return "I can't read " + joinWords(kinds) + " yet, only text."
}

// textCaptionOnly stands before the answer to the caption of such a message.
func textCaptionOnly(kinds []string) string {
	return "_I can't read " + joinWords(kinds) + " yet, so I only read what you wrote with it._"
}

// kindWords are the words for kinds of attachment.
func kindWords(attachments []sessions.Attachment) []string {
	var words []string
	for _, file := range attachments {
		word := map[string]string{
			"photo": "photos", "voice": "voice notes", "audio": "audio", "video": "videos", "document": "files",
			"sticker": "stickers", "location": "locations", "contact": "contacts",
		}[file.Kind]
		if word == "" {
			word = "attachments of this kind"
		}
		if !slices.Contains(words, word) {
			words = append(words, word)
		}
	}
	return words
}

func joinWords(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + " and " + words[len(words)-1]
}

// noticeText is the one line of a refusal: what is missing and who can mend it.
func noticeText(a arrival) string {
	switch a.decision.Notice {
	case routing.NoticeStranger:
		return fmt.Sprintf("I don't know you yet. Your id is `%s`: ask an owner of this bot to let you in.", a.event.Sender.ID)
	case routing.NoticeGroupNotListed:
		return "This group is not allowed to talk to me yet. An owner of this bot can change that by writing something here, or with /allow."
	default:
		return "You may not use this command here. /help lists those you may."
	}
}

// startText greets, says whether the sender may use the bot, and how to be let in.
func startText(a arrival, policy routing.Policy) string {
	hello := "Hello! I am an assistant you can talk to in this chat."
	if a.role.Rank() >= routing.Member.Rank() || policy.Access.DM == routing.DMAnyone {
		return hello + " You may use me: just write. /help lists what else I understand."
	}
	return hello + fmt.Sprintf(" You may not use me yet: I don't know you. Your id is `%s`. "+
		"Give it to an owner of this bot and ask to be let in; if you run me yourself, put it into `GATEWAY_OWNERS` and restart me.", a.event.Sender.ID)
}

// helpText lists the commands the sender may give here.
func helpText(a arrival, policy routing.Policy) string {
	var out strings.Builder
	out.WriteString("Commands you may use here:\n\n")
	for _, spec := range routing.Commands() {
		if routing.MayRun(spec.Name, a.role, a.event.Direct, policy.Access) != routing.PermRefused {
			fmt.Fprintf(&out, "- `%s` %s\n", spec.Usage, spec.Description)
		}
	}
	if !a.event.Direct {
		out.WriteString("\nIn a group I answer when I am mentioned or replied to.")
	}
	return out.String()
}

// whoamiText names user and place the way the configuration wants them.
func whoamiText(a arrival) string {
	who := fmt.Sprintf("You are `%s` (%s).", a.event.Sender.ID, a.role)
	if len(a.user.Identities) > 1 && a.direct() { // nobody else's business
		who += " Your accounts: " + identitiesText(a.user) + "."
	}
	return fmt.Sprintf("%s\nThis chat is `%s`.", who, a.event.Surface.Key())
}

// statusText is what a session is doing.
func statusText(record sessions.Record, model string, problems []string) string {
	var out strings.Builder
	fmt.Fprintf(&out, "Session `%s`: %s, %s.\n", record.ID, record.State, statusWord(record))
	if record.Description != "" {
		fmt.Fprintf(&out, "About: %s\n", plain(record.Description))
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

func count(n int64, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return fmt.Sprintf("%d %ss", n, word)
}

// noSessionText answers /status where nothing was said yet.
func noSessionText(surface adapters.Surface) string {
	return "No conversation here yet (`" + surface.Key() + "`). Just write something."
}
