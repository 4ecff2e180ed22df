package bot

import (
	"fmt"
	"strings"
	"time"

	"parley/sessions"
)

// What is said about whole conversations and their trees. Each says what
// happened and how to go back.
const (
	textResumeWhich   = "Which one? Write `/resume` and its number.\n\n"
	textNoSuchSession = "There is no such conversation of yours. /sessions lists them, `/sessions all` the older ones too."
	textDirectInGroup = "That is a direct conversation: it cannot go on where others read along."
	textNoSessions    = "You have no conversation here yet. Just write something."
	textNoSuchEntry   = "There is no such entry here. /tree shows those there are."
	textNameTooLong   = "A name is one line of at most 80 characters."
	textLabelTooLong  = "A label is one line of at most 200 bytes."
	textLabelHow      = "Write `/label` and what to call this place, or `/label e12` and what to call that entry. /tree shows the entries."
	textBranchHow     = "Write `/branch e12` to go back to that entry, or `/branch start` to before the first. /tree shows them."
	textForkHow       = "Write `/fork` to copy the whole conversation, or `/fork e12` to copy it up to that entry. /tree shows them."
	textForkTooLong   = "This conversation is too long to be copied from a chat. `gateway sessions fork` can."
	textCleared       = "What was said in this conversation is erased, for good. The next message begins afresh."
)

// What is said about linking identities.
const (
	textLinkAlone    = "Write that to me alone, not in a group. A code that was shown here is no secret any more: /link gives another."
	textLinkStranger = "I don't know you yet, so the code has to come from an account that I know: write /link to me there, and here `/link` and the code."
	textLinkSlow     = "Those were too many wrong codes. Please wait ten minutes, then ask for a new one with /link on your other account."
	textLinkWrong    = "That code is unknown, used or too old. Ask for a new one with /link on your other account."
	textLinkSame     = "These accounts are one already."
	textLinkOwner    = "You are an owner: whoever gave you this code will be one too. If you asked for it yourself on your other account, write it once more with `%s` behind it."
	textLinkNotSaid  = "A code is not kept as a message. Send it as one that asks for an answer."
)

// linkText gives a code and says what to do with it.
func linkText(code string) string {
	return fmt.Sprintf("Within %d minutes, write this to me from your other account, in a direct chat:\n\n`/link %s`\n\n"+
		"Then both accounts are you. Show the code to nobody: whoever uses it becomes you.", int(sessions.LinkFor.Minutes()), code)
}

// identitiesText lists the accounts of a user.
func identitiesText(user sessions.User) string {
	var out []string
	for _, identity := range user.Identities {
		out = append(out, code(identity))
	}
	return joinWords(out)
}

// shownTitle is the longest title in a list, in runes.
const shownTitle = 48

// sessionsText is a list of sessions, numbered as /resume counts them.
func sessionsText(page sessions.Page, current string, all bool, now time.Time) string {
	if len(page.Records) == 0 {
		return textNoSessions
	}
	var out strings.Builder
	for i, record := range page.Records {
		fmt.Fprintf(&out, "%d. %s\n", i+1, sessionLine(record, current, all, now))
	}
	out.WriteString("\n`/resume` and a number goes on with one here.")
	switch {
	case page.Next != "" && all:
		out.WriteString(" There are more, reached by their id.")
	case !all:
		out.WriteString(" `/sessions all` lists older ones too.")
	}
	return out.String()
}

func sessionLine(record sessions.Record, current string, all bool, now time.Time) string {
	line := "**" + plain(titleOf(record)) + "** " + ago(record.LastActivityAt, now) + ", " + platformsOf(record)
	if chat := textOf(record.Metadata, metaTitle); chat != "" && record.Source.Type == sessions.Group {
		line += " " + plain(firstLine(chat, shownTitle))
	}
	if all && record.State != sessions.StateActive {
		line += ", " + string(record.State)
	}
	if all {
		line += " `" + record.ID + "`"
	}
	if record.ID == current {
		line += " ← here"
	}
	return line
}

// titleOf is what people call a session: its name, else what it is about.
func titleOf(record sessions.Record) string {
	for _, title := range []string{record.Name, record.Description, record.Preview} {
		if title = firstLine(title, shownTitle); title != "" {
			return title
		}
	}
	return record.ID
}

// ago is a time as people say it.
func ago(then, now time.Time) string {
	switch passed := now.Sub(then); {
	case passed < time.Minute:
		return "just now"
	case passed < time.Hour:
		return fmt.Sprintf("%d min ago", int(passed.Minutes()))
	case passed < 24*time.Hour:
		return fmt.Sprintf("%d h ago", int(passed.Hours()))
	case passed < 14*24*time.Hour:
		return count(int64(passed.Hours()/24), "day") + " ago"
	default:
		return then.UTC().Format("2 Jan 2006")
	}
}

// plain is outside text that Markdown leaves as it is.
func plain(text string) string {
	var out strings.Builder
	for _, r := range text {
		if r < 0x80 && strings.ContainsRune("\\`*_{}[]()<>#+-.!|~&@", r) {
			out.WriteByte('\\')
		}
		out.WriteRune(r)
	}
	return out.String()
}

// code is outside text inside a span of code.
func code(text string) string { return "`" + strings.ReplaceAll(text, "`", "'") + "`" }

func resumedText(record sessions.Record, previous string, now time.Time) string {
	if previous == "" {
		return fmt.Sprintf("You are in “%s” now (%s, %s). /new begins a fresh one.", plain(titleOf(record)), ago(record.LastActivityAt, now), platformsOf(record))
	}
	return fmt.Sprintf("You are in “%s” now (%s, %s). %s goes back.", plain(titleOf(record)), ago(record.LastActivityAt, now), platformsOf(record), code("/resume "+previous))
}

func nameText(name string) string {
	if name == "" {
		return "This conversation has no name. `/name` and a text gives it one."
	}
	return fmt.Sprintf("This conversation is called “%s”. `/name` and a text gives it another.", plain(name))
}

func namedText(name, before string) string {
	if before == "" || before == name {
		return fmt.Sprintf("This conversation is called “%s” now.", plain(name))
	}
	return fmt.Sprintf("This conversation is called “%s” now. %s goes back.", plain(name), code("/name "+before))
}

func labelledText(seq int64, label string) string {
	entry := sessions.EntryID(seq)
	if label == "" {
		return code(entry) + " has no label any more."
	}
	return fmt.Sprintf("%s is labelled “%s” now. %s takes it off, %s goes back there.", code(entry), plain(label), code("/label "+entry), code("/branch "+entry))
}

func treeText(drawing string) string {
	if strings.TrimSpace(drawing) == "" {
		return textNoSessions
	}
	return "```\n" + strings.ReplaceAll(strings.TrimRight(drawing, "\n"), "`", "'") + "\n```\n`/branch e12` goes back to that entry, `/fork e12` copies up to it."
}

func branchedText(seq, before int64) string {
	at := "the beginning"
	if seq != 0 {
		at = code(sessions.EntryID(seq))
	}
	back := beforeFirst
	if before != 0 {
		back = sessions.EntryID(before)
	}
	return fmt.Sprintf("The conversation goes on from %s. %s goes back.", at, code("/branch "+back))
}

func forkedText(from sessions.Record, leaf int64) string {
	upTo := ""
	if leaf != from.Leaf {
		upTo = ", up to " + code(orElse(sessions.EntryID(leaf), beforeFirst))
	}
	if from.State == sessions.StateExpired {
		return fmt.Sprintf("“%s” has ended; you are in a copy of it now.", plain(titleOf(from)))
	}
	return fmt.Sprintf("You are in a copy of the conversation now%s. %s goes back.", upTo, code("/resume "+from.ID))
}

func orElse(text, other string) string {
	if text == "" {
		return other
	}
	return text
}
