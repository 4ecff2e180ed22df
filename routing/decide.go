package routing

import (
	"strings"

	"parley/adapters"
)

// Action is what becomes of an event.
type Action string

// Actions.
const (
	ActionTurn    Action = "turn"    // store it and start (or feed) a turn
	ActionLog     Action = "log"     // store it for context, start nothing
	ActionDrop    Action = "drop"    // store nothing, answer nothing
	ActionCommand Action = "command" // run Decision.Command; store no message
	ActionNotice  Action = "notice"  // answer one line (Decision.Notice); store no message, start nothing
)

// NoticeKind names a one-line refusal. Its wording is the caller's.
type NoticeKind string

// Notices.
const (
	NoticeStranger       NoticeKind = "stranger"         // your id, and how to be let in
	NoticeGroupNotListed NoticeKind = "group_not_listed" // how an owner allows this group
	NoticeCommandRefused NoticeKind = "command_refused"  // you may not run this here
)

// Input is everything a decision depends on.
type Input struct {
	Event   adapters.Event
	BotName string // the bot's @name without the @; empty where it has none or it is not known yet
	Role    Role   // of the sender of this event
	Listed  bool   // an owner has allowed this chat; of no meaning in a direct one
	Policy  Policy
}

// Decision is what becomes of one event, and why.
type Decision struct {
	Action Action
	Reason Reason
	// Directed is true when the message is known to be meant for the bot.
	// False on ActionDrop.
	Directed bool
	// Command and Permission are set when Action is ActionCommand. Permission is
	// PermAllowed or PermOwnTurn, and the latter has to be honoured by
	// whoever runs the command.
	Command    *Command
	Permission Permission
	// ListChat: an owner spoke in a group that was not allowed yet; that
	// allows it, whatever Action is.
	ListChat bool
	Notice   NoticeKind // set when Action is ActionNotice
}

// Decide is the one place where access and triggering are decided.
//
// First, for every kind of event, who may not talk here at all: the bot
// itself, other bots, blocked people, senders the platform cannot vouch for,
// strangers in direct chats, everybody but owners in groups that are not
// allowed. Events that are no messages end there: none of them is handled yet.
//
// An unverified sender has fewer rights than a guest, whatever Role says: in
// an allowed group their text is logged, since everybody there read it, and
// their commands are refused; elsewhere they are dropped. They never trigger,
// never run a command, never allow a group.
//
// A command for another bot is group text that is logged and never triggers,
// whoever says it; in a direct chat nobody else is there, so it is text for
// this bot. A message is empty without text, attachment and mention; a bare
// mention asks the bot to look at what was said.
//
// What is forwarded, or was written by another bot for its sender, is nobody's
// word here, whoever passes it on: it is never a command, never allows a group,
// and in a group it is only logged. In a direct chat it is something to look at,
// so it is answered.
//
// A message from web, cli, api or schedule is direct whatever Event.Direct
// says. A schedule's text is never a command, and it gets no notice.
func Decide(in Input) Decision {
	denied := denial(in)
	if in.Event.Kind != adapters.EventMessage {
		if denied == "" {
			denied = ReasonNotAMessage
		}
		return drop(denied)
	}
	switch {
	case denied == ReasonOwnMessage, denied == ReasonBotSender, denied == ReasonBlocked:
		return drop(denied)
	case isEmpty(in.Event):
		return drop(ReasonEmpty)
	}
	m := read(in)
	switch {
	case denied != "":
		return m.refuse(denied)
	case m.command != nil:
		return m.decideCommand()
	case m.direct:
		return Decision{Action: ActionTurn, Reason: ReasonDirect, Directed: true}
	default:
		return m.decideGroup()
	}
}

func drop(reason Reason) Decision { return Decision{Action: ActionDrop, Reason: reason} }

// denial is the access rule: why the sender may not talk in this place, or
// empty when they may. It holds for every kind of event.
func denial(in Input) Reason {
	switch sender := in.Event.Sender; {
	case sender.Self:
		return ReasonOwnMessage
	case sender.Bot:
		return ReasonBotSender
	case in.Role.Rank() == 0:
		return ReasonBlocked
	case sender.Unverified:
		return ReasonUnverifiedSender
	case isDirect(in.Event):
		if in.Role.Rank() < Member.Rank() && in.Policy.Access.DM != DMAnyone {
			return ReasonStranger
		}
		return ""
	case !groupAllowed(in) && (in.Role != Owner || isForwarded(in.Event)):
		return ReasonGroupNotListed
	default:
		return ""
	}
}

// isDirect: the local surfaces have no groups, so there everything is direct.
func isDirect(event adapters.Event) bool {
	return event.Direct || event.Surface.Platform.Own()
}

// isForwarded: the words are not the sender's own.
func isForwarded(event adapters.Event) bool { return event.Forwarded != nil || event.Via != "" }

func groupAllowed(in Input) bool {
	return in.Listed || in.Policy.Access.Groups == GroupsAnyone
}

// isEmpty counts a mention, since some platforms take it out of the text.
func isEmpty(event adapters.Event) bool {
	return strings.TrimSpace(event.Text) == "" && len(event.Attachments) == 0 &&
		!event.Mentioned && !isKnownNative(event.Command)
}

func isKnownNative(native *adapters.NativeCommand) bool {
	return native != nil && lookUp(native.Name, native.Args) != nil
}

// message is an event as read: what it is and whom it addresses.
type message struct {
	Input
	command   *Command
	otherBot  bool // a command for another bot; of no meaning in a direct chat, where it is text
	direct    bool
	addressed bool // it names the bot, answers it, or is a command for it
	directed  bool // direct, addressed, or in a followed thread
}

func read(in Input) message {
	m := message{Input: in, direct: isDirect(in.Event)}
	if isForwarded(in.Event) {
		m.directed = m.direct
		return m
	}
	if in.Event.Surface.Platform != adapters.Schedule {
		m.command, m.otherBot = ParseCommand(in.Event, in.BotName)
	}
	event := in.Event
	m.addressed = !m.otherBot &&
		(event.Mentioned || event.ReplyToBot || event.Command != nil || m.command != nil)
	follows := in.Policy.ThreadFollow && event.InBotThread && !m.otherBot
	m.directed = m.direct || m.addressed || follows
	return m
}

// refuse answers somebody who may not talk here.
func (m message) refuse(reason Reason) Decision {
	switch reason {
	case ReasonStranger:
		return m.refuseStranger()
	case ReasonGroupNotListed:
		if m.addressed {
			return m.notice(reason, NoticeGroupNotListed)
		}
	case ReasonUnverifiedSender:
		return m.refuseUnverified()
	}
	return drop(reason)
}

// refuseStranger lets through the commands that are open to everybody: they
// are how a stranger learns their id.
func (m message) refuseStranger() Decision {
	if m.Event.Surface.Platform == adapters.Schedule {
		return drop(ReasonStranger)
	}
	if m.command != nil && m.permission() != PermRefused {
		return m.decideCommand()
	}
	return m.notice(ReasonStranger, NoticeStranger)
}

func (m message) refuseUnverified() Decision {
	switch {
	case m.direct || !groupAllowed(m.Input):
		return drop(ReasonUnverifiedSender)
	case m.command != nil:
		return m.notice(ReasonUnverifiedSender, NoticeCommandRefused)
	default:
		return Decision{Action: ActionLog, Reason: ReasonUnverifiedSender, Directed: m.directed}
	}
}

func (m message) notice(reason Reason, kind NoticeKind) Decision {
	return Decision{Action: ActionNotice, Reason: reason, Directed: m.directed, Notice: kind}
}

func (m message) permission() Permission {
	return MayRun(m.command.Name, m.Role, m.direct, m.Policy.Access)
}

func (m message) decideCommand() Decision {
	permission := m.permission()
	if permission == PermRefused {
		return m.notice(ReasonCommandRefused, NoticeCommandRefused)
	}
	return Decision{
		Action: ActionCommand, Reason: ReasonCommand, Directed: true,
		Command: m.command, Permission: permission, ListChat: m.listsChat(),
	}
}

// decideGroup decides on group text of somebody who may talk.
func (m message) decideGroup() Decision {
	reason := m.groupReason()
	action := ActionTurn
	switch reason {
	case ReasonUnmentioned, ReasonCommandOtherBot, ReasonForwarded:
		action = ActionLog
	}
	return Decision{Action: action, Reason: reason, Directed: m.directed, ListChat: m.listsChat()}
}

// groupReason: a command for another bot is never ours, even where it answers
// this bot or an owner says it.
func (m message) groupReason() Reason {
	ownerAlways := m.Role == Owner && m.Policy.OwnerAlways
	switch {
	case isForwarded(m.Event):
		return ReasonForwarded
	case m.otherBot:
		return ReasonCommandOtherBot
	case ownerAlways && m.directed:
		return ReasonOwner
	case ownerAlways:
		return ReasonOwnerUndirected
	case m.Event.ReplyToBot && !m.Event.Mentioned:
		return ReasonReplyToBot
	case m.addressed:
		return ReasonMentioned
	case m.directed:
		return ReasonThreadFollow
	default:
		return ReasonUnmentioned
	}
}

func (m message) listsChat() bool {
	return m.Role == Owner && !m.direct && !groupAllowed(m.Input)
}
