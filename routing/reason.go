package routing

// Reason says why a decision fell as it did. It is logged with the event and
// shown to people who ask, so the words are stable.
type Reason string

// Reasons; [Reason.Meaning] has a line for each.
const (
	ReasonOwner            Reason = "owner"
	ReasonOwnerUndirected  Reason = "owner_undirected"
	ReasonMentioned        Reason = "mentioned"
	ReasonReplyToBot       Reason = "reply_to_bot"
	ReasonThreadFollow     Reason = "thread_follow"
	ReasonDirect           Reason = "direct"
	ReasonUnmentioned      Reason = "unmentioned"
	ReasonForwarded        Reason = "forwarded"
	ReasonCommand          Reason = "command"
	ReasonCommandRefused   Reason = "command_refused"
	ReasonCommandOtherBot  Reason = "command_other_bot"
	ReasonBlocked          Reason = "blocked"
	ReasonStranger         Reason = "stranger"
	ReasonGroupNotListed   Reason = "group_not_listed"
	ReasonUnverifiedSender Reason = "unverified_sender"
	ReasonOwnMessage       Reason = "own_message"
	ReasonBotSender        Reason = "bot_sender"
	ReasonEmpty            Reason = "empty"
	ReasonNotAMessage      Reason = "not_a_message"
	// ReasonDuplicate is never [Decide]'s answer: whoever stores events finds
	// out. The word is here so that all reasons stand in one list.
	ReasonDuplicate Reason = "duplicate"
)

type reasonMeaning struct {
	reason  Reason
	meaning string
}

func reasonTable() []reasonMeaning {
	return []reasonMeaning{
		{ReasonOwner, "an owner addressed the bot in a group"},
		{ReasonOwnerUndirected, "an owner spoke in a group without addressing the bot, and owners always trigger"},
		{ReasonMentioned, "the message names the bot"},
		{ReasonReplyToBot, "the message answers one of the bot's messages"},
		{ReasonThreadFollow, "the message is in a thread the bot takes part in, and threads are followed"},
		{ReasonDirect, "a direct conversation: every message is for the bot"},
		{ReasonUnmentioned, "a group message that is not for the bot: kept for context, not answered"},
		{ReasonForwarded, "somebody else's words, passed on in a group: kept for context, not answered"},
		{ReasonCommand, "a command the sender may run"},
		{ReasonCommandRefused, "a command the sender may not run here"},
		{ReasonCommandOtherBot, "a command for another bot: kept as group text, not answered"},
		{ReasonBlocked, "the sender is blocked, or their role is unknown"},
		{ReasonStranger, "a direct message from somebody who is not known, and only known people may write"},
		{ReasonGroupNotListed, "no owner has allowed this group yet"},
		{ReasonUnverifiedSender, "the platform does not say who spoke (anonymous administrator, channel post): never answered"},
		{ReasonOwnMessage, "the bot's own message came back"},
		{ReasonBotSender, "another bot spoke: ignored, so that bots do not answer each other for ever"},
		{ReasonEmpty, "nothing to read: no text, no attachment, no mention"},
		{ReasonNotAMessage, "an edit, deletion, reaction or the like, which nothing handles"},
		{ReasonDuplicate, "the same event was taken in before"},
	}
}

// Reasons lists every reason there is.
func Reasons() []Reason {
	table := reasonTable()
	reasons := make([]Reason, len(table))
	for i, row := range table {
		reasons[i] = row.reason
	}
	return reasons
}

// Meaning explains the reason to people in one line; empty for a word that is
// no reason.
func (r Reason) Meaning() string {
	for _, row := range reasonTable() {
		if row.reason == r {
			return row.meaning
		}
	}
	return ""
}
