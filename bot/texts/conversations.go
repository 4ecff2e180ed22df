package texts

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"parley/adapters"
	"parley/sessions"
)

// What is said about whole conversations and their trees. Each says what
// happened and how to go back.
const (
	// BeforeFirst is how people call the place before the first message.
	BeforeFirst = "start"

	ResumeWhich   = "Which one? Write `/resume` and its number.\n\n"
	NoSuchSession = "There is no such conversation of yours. /sessions lists them, `/sessions all` the older ones too."
	DirectInGroup = "That is a direct conversation: it cannot go on where others read along."
	Untold        = "I could not find out whether you are still in that group, so I do not go on with its conversation. Please try again in a moment."
	NoSessions    = "You have no conversation here yet. Just write something."
	NoSuchEntry   = "There is no such entry here. /tree shows those there are."
	LabelHow      = "Write `/label` and what to call this place, or `/label e12` and what to call that entry. /tree shows the entries."
	BranchHow     = "Write `/branch e12` to go back to that entry, or `/branch start` to before the first. /tree shows them."
	ForkHow       = "Write `/fork` to copy the whole conversation, or `/fork e12` to copy it up to that entry. /tree shows them."
	ForkTooLong   = "This conversation is too long to be copied from a chat. `gateway sessions fork` can."
	NoPlaceHere   = "This was sent to a conversation by its id, and not from a chat that could get another one. Write it in the chat itself."
	Cleared       = "What was said in this conversation is erased, for good. The next message begins afresh."
)

// What is said about checkpoints.
const (
	CheckpointNothing   = "Nothing was said here since the last checkpoint."
	CheckpointOvertaken = "Another checkpoint was made here meanwhile, or what was said is erased."
	CheckpointRewritten = "No checkpoint was made: my notes were changed by hand at the same time. Please try again."
	CheckpointForm      = "No checkpoint was made: my language model did not answer in the form I need. Please try again."
	CheckpointFailed    = "No checkpoint was made; nothing was changed. "
)

// Keys of a session's metadata.
const (
	ChatTitle = "chat_title" // the name of its chat
	BotName   = "bot_name"   // the bot's own name there
)

// shownTitle is the longest title in a list, in runes.
const shownTitle = 48

// List is a list of sessions, numbered as /resume counts them.
func List(page sessions.Page, current string, all bool, now time.Time) string {
	if len(page.Records) == 0 {
		return NoSessions
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
	line := "**" + Plain(title(record)) + "** " + ago(record.LastActivityAt, now) + ", " + platforms(record)
	if chat, _ := record.Metadata[ChatTitle].(string); chat != "" && record.Source.Type == sessions.Group {
		line += " " + Plain(FirstLine(chat, shownTitle))
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

// title is what people call a session: its name, else what it is about.
func title(record sessions.Record) string {
	for _, title := range []string{record.Name, record.Description, record.Preview} {
		if title = FirstLine(title, shownTitle); title != "" {
			return title
		}
	}
	return record.ID
}

// Resumed says that a chat goes on with a session; previous is the id of the
// one it had, empty where it had none.
func Resumed(record sessions.Record, previous string, now time.Time) string {
	if previous == "" {
		return fmt.Sprintf("You are in “%s” now (%s, %s). /new begins a fresh one.", Plain(title(record)), ago(record.LastActivityAt, now), platforms(record))
	}
	return fmt.Sprintf("You are in “%s” now (%s, %s). %s goes back.", Plain(title(record)), ago(record.LastActivityAt, now), platforms(record), Code("/resume "+previous))
}

// Name answers what a conversation is called; empty: it has no name.
func Name(name string) string {
	if name == "" {
		return "This conversation has no name. `/name` and a text gives it one."
	}
	return fmt.Sprintf("This conversation is called “%s”. `/name` and a text gives it another.", Plain(name))
}

// Named says that a conversation has a name now.
func Named(name, before string) string {
	if before == "" || before == name {
		return fmt.Sprintf("This conversation is called “%s” now.", Plain(name))
	}
	return fmt.Sprintf("This conversation is called “%s” now. %s goes back.", Plain(name), Code("/name "+before))
}

// Labelled says that an entry has a label now; empty: none any more.
func Labelled(seq int64, label string) string {
	entry := sessions.EntryID(seq)
	if label == "" {
		return Code(entry) + " has no label any more."
	}
	return fmt.Sprintf("%s is labelled “%s” now. %s takes it off, %s goes back there.", Code(entry), Plain(label), Code("/label "+entry), Code("/branch "+entry))
}

// Tree shows the drawing of a tree.
func Tree(drawing string) string {
	if strings.TrimSpace(drawing) == "" {
		return NoSessions
	}
	return "```\n" + strings.ReplaceAll(strings.TrimRight(drawing, "\n"), "`", "'") + "\n```\n`/branch e12` goes back to that entry, `/fork e12` copies up to it."
}

// Branched says where a conversation goes on; before is where it stood.
func Branched(seq, before int64) string {
	at := "the beginning"
	if seq != 0 {
		at = Code(sessions.EntryID(seq))
	}
	back := BeforeFirst
	if before != 0 {
		back = sessions.EntryID(before)
	}
	return fmt.Sprintf("The conversation goes on from %s. %s goes back.", at, Code("/branch "+back))
}

// Forked says that a chat goes on in a copy of from, up to leaf.
func Forked(from sessions.Record, leaf int64) string {
	upTo := ""
	if leaf != from.Leaf {
		upTo = ", up to " + Code(cmp.Or(sessions.EntryID(leaf), BeforeFirst))
	}
	if from.State == sessions.StateExpired {
		return fmt.Sprintf("“%s” has ended; you are in a copy of it now.", Plain(title(from)))
	}
	return fmt.Sprintf("You are in a copy of the conversation now%s. %s goes back.", upTo, Code("/resume "+from.ID))
}

// platforms are the words for where a session is held.
func platforms(record sessions.Record) string {
	words := []string{platformWord(record.Source.Platform)}
	for _, key := range record.Surfaces {
		platform, _, _ := strings.Cut(key, ":")
		words = append(words, platformWord(platform))
	}
	return strings.Join(compactWords(words), ", ")
}

// platformWord is how people call a platform.
func platformWord(platform string) string { return adapters.Platform(platform).Traits().Title }

// compactWords drops empty words and those that were there already.
func compactWords(words []string) []string {
	var out []string
	seen := map[string]bool{"": true}
	for _, word := range words {
		if !seen[word] {
			seen[word] = true
			out = append(out, word)
		}
	}
	return out
}
