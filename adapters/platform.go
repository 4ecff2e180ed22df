package adapters

import "parley/internal/places"

// Platform names a way people reach the bot.
type Platform string

// The platforms there are. Schedule is the gateway talking to itself on time.
const (
	Telegram Platform = "telegram"
	Discord  Platform = "discord"
	Slack    Platform = "slack"
	Web      Platform = places.Web
	CLI      Platform = places.CLI
	API      Platform = places.API
	Schedule Platform = places.Schedule
)

// Traits are what is known of a platform without a connection to it, also of
// one that is switched off: what its [Capabilities] are to its adapter.
type Traits struct {
	Platform Platform
	Title    string // for people
	// Joined is true where an adapter joins the platform: it alone knows its
	// places, so only the gateway opens conversations there.
	Joined bool
	// ChatKey and ThreadKey are the metadata keys of a session under which
	// other programs find the platform's own ids; empty: it has none.
	ChatKey, ThreadKey string
	// DirectForm and GroupForm are regular expressions for the ids of chats that
	// one person has with the bot, and of those where many talk; empty: ids do
	// not tell.
	DirectForm, GroupForm string
	// UserForm is a regular expression for the platform's immutable user ids,
	// and UserHint says in words what they are.
	UserForm, UserHint string
	// Secrets is a regular expression for the platform's credentials, which
	// logs mask wherever they stand; empty: it has none.
	Secrets string
}

const (
	nameForm = `^[A-Za-z0-9._~-]+$`
	nameHint = "a name of letters, digits and ._~-"
)

// all is the one table of what sets platforms apart. A new platform has one
// more line here.
func all() [7]Traits {
	return [...]Traits{
		{
			Platform: Telegram, Title: "Telegram", Joined: true, ChatKey: "telegram_chat_id", ThreadKey: "telegram_thread_id",
			DirectForm: `^[1-9]`, GroupForm: `^-`,
			UserForm: `^[1-9][0-9]{0,18}$`, UserHint: "a user's number", Secrets: `[0-9]{6,}:[A-Za-z0-9_-]{30,}`,
		},
		{
			Platform: Discord, Title: "Discord", Joined: true, ChatKey: "discord_channel_id",
			UserForm: `^[1-9][0-9]{0,19}$`, UserHint: "a user's number", Secrets: `[A-Za-z0-9_-]{23,28}\.[A-Za-z0-9_-]{6,7}\.[A-Za-z0-9_-]{27,}`,
		},
		{
			Platform: Slack, Title: "Slack", Joined: true, ChatKey: "slack_channel_id", ThreadKey: "slack_thread_ts",
			DirectForm: `^D`, GroupForm: `^[CG]`,
			UserForm: `^[UW][A-Z0-9]+$`, UserHint: "a member id such as U012AB3CD",
			Secrets: `xox[a-z](?:\.[a-z]+)?-[A-Za-z0-9-]{8,}|xapp-[A-Za-z0-9-]{8,}`,
		},
		{Platform: Web, Title: "chat page", UserForm: nameForm, UserHint: nameHint},
		{Platform: CLI, Title: "terminal", UserForm: nameForm, UserHint: nameHint},
		{Platform: API, Title: "api", UserForm: nameForm, UserHint: nameHint},
		{Platform: Schedule, Title: "schedule"},
	}
}

// Platforms are all there are, in the order in which they are shown.
func Platforms() []Platform {
	return platforms(func(Traits) bool { return true })
}

// Joined are the platforms that an adapter joins.
func Joined() []Platform {
	return platforms(func(t Traits) bool { return t.Joined })
}

func platforms(which func(Traits) bool) []Platform {
	var out []Platform
	for _, traits := range all() {
		if which(traits) {
			out = append(out, traits.Platform)
		}
	}
	return out
}

// Traits are what the table says of the platform. One that it does not know,
// such as another program's, has its name for a title and nothing else.
func (p Platform) Traits() Traits {
	for _, traits := range all() {
		if traits.Platform == p {
			return traits
		}
	}
	return Traits{Platform: p, Title: string(p)}
}

// Own reports whether the platform is the gateway's own: its places are names,
// nobody but their reader is there, its people read the log, and nothing is
// sent to them.
func (p Platform) Own() bool { return places.Own(string(p)) }

// HasReader reports whether one person reads and writes there: the gateway's
// own platforms but for its schedules.
func (p Platform) HasReader() bool { return p.Own() && p != Schedule }

// Owner is the identity of whoever holds the gateway's token, or sits at its
// terminal; empty where the platform has no such place.
func (p Platform) Owner() Identity {
	if !p.HasReader() {
		return ""
	}
	return NewIdentity(p, "owner")
}
