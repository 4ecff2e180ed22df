package config

import (
	"parley/adapters"
	"parley/internal/secret"
)

// Config is everything that can be set. The zero value of a field means its
// default, which [Config.WithDefaults] fills in. The json names are the keys of
// the file as well.
type Config struct {
	Name        string              `json:"name,omitempty" jsonschema:"What the bot is called. It is told so to the model; platforms go on showing their own name for it."`
	Persona     string              `json:"persona,omitempty" jsonschema:"Who the bot is and how it behaves, in plain words for the model. Default: a helpful, brief assistant."`
	PersonaFile string              `json:"persona_file,omitempty" jsonschema:"A text or Markdown file with the persona, read at the start, in the place of persona."`
	Timezone    string              `json:"timezone,omitempty" jsonschema:"The gateway's own time zone, as in Europe/Berlin: of schedules that name none, and of the time that the model is told. Default: the server's (TZ)."`
	Data        string              `json:"data,omitempty" jsonschema:"Folder for everything the gateway keeps on disk. Variable: GATEWAY_DATA."`
	Store       Store               `json:"store,omitzero" jsonschema:"Where conversations are kept."`
	Owners      []adapters.Identity `json:"owners,omitempty" jsonschema:"Who may do everything: platform identities such as telegram:12345, as /whoami prints them. Variable: GATEWAY_OWNERS, separated by commas."`
	Members     []adapters.Identity `json:"members,omitempty" jsonschema:"Who may talk to the bot besides the owners: platform identities."`
	Blocked     []adapters.Identity `json:"blocked,omitempty" jsonschema:"Who is never answered: platform identities."`
	Access      Access              `json:"access,omitzero" jsonschema:"Who may talk to the bot at all."`
	Limits      Limits              `json:"limits,omitzero" jsonschema:"How the turns of this gateway are shared out: what is above a limit waits and is not lost. Owners have none. With several replicas each has its own."`
	Groups      Groups              `json:"groups,omitzero" jsonschema:"Manners in groups."`
	Sessions    Sessions            `json:"sessions,omitzero" jsonschema:"How conversations are kept and joined."`
	Checkpoints Checkpoints         `json:"checkpoints,omitzero" jsonschema:"When the model brings a conversation's description and working memory up to date without being asked. /checkpoint always does."`
	Models      Models              `json:"models,omitzero" jsonschema:"The language models. With none configured the offline demo model answers."`
	Telegram    Telegram            `json:"telegram,omitzero" jsonschema:"The Telegram bot. Without a token it is off."`
	Discord     Discord             `json:"discord,omitzero" jsonschema:"The Discord bot. Without a token it is off."`
	Slack       Slack               `json:"slack,omitzero" jsonschema:"The Slack app. Without a bot token it is off."`
	Schedules   []Schedule          `json:"schedules,omitempty" jsonschema:"What is done on time. What is removed here is removed."`
	Heartbeat   Heartbeat           `json:"heartbeat,omitzero" jsonschema:"A look from time to time whether there is something to say in a chat. Off unless every is set."`
	HTTP        HTTP                `json:"http,omitzero" jsonschema:"The HTTP API and the chat page."`
	Log         Log                 `json:"log,omitzero" jsonschema:"What is logged and how."`
}

// Store says where conversations are kept.
type Store struct {
	URL URL `json:"url,omitempty" jsonschema:"sqlite://FILE for the embedded store, or redis://, rediss://, redis+sentinel://, redis+cluster:// for a shared one (?replicas=N: acknowledge only what N replicas have; ?ca=FILE: whom TLS trusts). Default: gateway.db in the data folder. Variable: REDIS_URL."`
}

// Access says who may talk to the bot.
type Access struct {
	DM     DMAccess    `json:"dm,omitempty" jsonschema:"Direct messages: known (owners and members only) or anyone. Variable: GATEWAY_ACCESS_DM."`
	Groups GroupAccess `json:"groups,omitempty" jsonschema:"Groups: listed (only those an owner has allowed) or anyone. Variable: GATEWAY_ACCESS_GROUPS."`
}

// DMAccess says who may write to the bot directly.
type DMAccess string

// GroupAccess says in which groups the bot talks.
type GroupAccess string

// Values of [Access].
const (
	DMKnown      DMAccess    = "known"
	DMAnyone     DMAccess    = "anyone"
	GroupsListed GroupAccess = "listed"
	GroupsAnyone GroupAccess = "anyone"
)

// Groups are the manners in groups. Nil means the default.
type Groups struct {
	OwnerAlways  *bool `json:"owner_always,omitempty" jsonschema:"Whether an owner's group message asks for an answer without a mention."`
	ThreadFollow *bool `json:"thread_follow,omitempty" jsonschema:"Whether every message in a thread that the bot takes part in counts as meant for it."`
}

// Sessions says how conversations are kept and joined.
type Sessions struct {
	StaleAfter  *Duration `json:"stale_after,omitempty" jsonschema:"A conversation without activity for this long is put aside; its next message takes it up again. 0: never."`
	ExpireAfter Duration  `json:"expire_after,omitzero" jsonschema:"A conversation that was put aside this long after its last activity ends for good: it can still be read and forked. 0: never."`
	MaxAge      Duration  `json:"max_age,omitzero" jsonschema:"A direct conversation without activity for this long is deleted. 0: never."`
	Affinity    bool      `json:"affinity,omitempty" jsonschema:"Whether a direct chat without a conversation goes on with its person's newest direct one of the same workspace."`
	Fanout      bool      `json:"fanout,omitempty" jsonschema:"Whether answers are also shown in the other chats that a conversation is attached to."`
	Queue       Queue     `json:"queue,omitempty" jsonschema:"What becomes of messages that arrive while an answer is written: collect (the next answer is to all of them) or followup (one answer to each)."`
	Debounce    Duration  `json:"debounce,omitzero" jsonschema:"How long a chat must be quiet before its messages are answered, all together. 0: the first message is answered at once. Not in terminals and on the page."`
}

// Checkpoints says when notes on a conversation are brought up to date unasked.
type Checkpoints struct {
	Enabled bool `json:"enabled,omitempty" jsonschema:"Whether that is done: with each /new, after 5 answers, after 10 minutes without a message, and after 20 messages of a group that asked for no answer. Each time is a call of the small model."`
}

// Queue says what becomes of messages that arrive while an answer is written.
type Queue string

// Values of [Queue].
const (
	QueueCollect  Queue = "collect"
	QueueFollowup Queue = "followup"
)

// Models are the models by their use.
type Models struct {
	Default Model `json:"default,omitzero" jsonschema:"The model that answers people."`
	Small   Model `json:"small,omitzero" jsonschema:"A cheaper model for small chores. What it leaves open is taken from the default model."`
}

// Provider names a kind of model.
type Provider string

// Providers.
const (
	ProviderOpenAI    Provider = "openai"    // any server that speaks the OpenAI chat completions API
	ProviderAnthropic Provider = "anthropic" // any server that speaks Anthropic's Messages API
	ProviderDemo      Provider = "demo"      // offline, deterministic, for trying things out
)

// Model is one model.
type Model struct {
	Provider Provider      `json:"provider,omitempty" jsonschema:"openai (any compatible server), anthropic or demo (offline). Default: the one whose variables are set (openai where both are); openai where the file sets a key, address or name; demo otherwise."`
	BaseURL  URL           `json:"base_url,omitempty" jsonschema:"Address of the API, up to and without /chat/completions (openai) or /v1/messages (anthropic). Variables: OPENAI_BASE_URL, ANTHROPIC_BASE_URL."`
	APIKey   secret.String `json:"api_key,omitzero" jsonschema:"Key of the API. Variables: OPENAI_API_KEY, ANTHROPIC_API_KEY, each only used with the address it belongs to."`
	Name     string        `json:"name,omitempty" jsonschema:"The provider's name of the model. Default: gpt-6-luna (openai) or claude-haiku-5-5 (anthropic). Variables: OPENAI_MODEL, ANTHROPIC_MODEL."`
}

// IsZero reports whether nothing is set.
func (m Model) IsZero() bool {
	return m.Provider == "" && m.BaseURL == "" && m.APIKey.IsZero() && m.Name == ""
}

// HTTP is the API and the chat page.
type HTTP struct {
	Listen string        `json:"listen,omitempty" jsonschema:"HOST:PORT to listen on. An address others can reach needs a token. Variable: GATEWAY_LISTEN."`
	Token  secret.String `json:"token,omitzero" jsonschema:"Bearer token of the API. Without it one is drawn and kept in the data folder. Variable: GATEWAY_TOKEN."`
	Hosts  []string      `json:"hosts,omitempty" jsonschema:"Names, without port, by which the gateway may be called, besides those of this machine. Without any, every name is accepted once a token is set, and only this machine's names otherwise."`
	Open   bool          `json:"open,omitempty" jsonschema:"Opening the page on this machine is enough to be the owner, and metrics need no token there. Only without a token and on loopback; a program there that forwards from elsewhere then lets in whoever it serves."`
	Tokens []Token       `json:"tokens,omitempty" jsonschema:"More bearer tokens, each for one program."`
}

// TokenScope is what a token is good for.
type TokenScope string

// Token scopes.
const (
	ScopeOwner   TokenScope = "owner"
	ScopeChannel TokenScope = "channel"
)

// Token is a bearer token of one program.
type Token struct {
	Name      string        `json:"name,omitempty" jsonschema:"Whose it is, for the log."`
	Token     secret.String `json:"token,omitzero" jsonschema:"The token: at least 20 characters, drawn at random."`
	Scope     TokenScope    `json:"scope,omitempty" jsonschema:"owner (everything) or channel (the sessions and people of one platform)."`
	Namespace string        `json:"namespace,omitempty" jsonschema:"Of a channel: the platform whose sessions it reaches and whose people it speaks for, such as telegram."`
	MaxRole   string        `json:"max_role,omitempty" jsonschema:"Of a channel: the most that the people it speaks for may do: member (the default), guest, or owner, which lets the program say that it is you."`
}

// LogLevel is the least severe level that is logged.
type LogLevel string

// LogFormat is the form of a log line.
type LogFormat string

// Values of [Log].
const (
	LevelDebug LogLevel = "debug"
	LevelInfo  LogLevel = "info"
	LevelWarn  LogLevel = "warn"
	LevelError LogLevel = "error"

	FormatAuto LogFormat = "auto" // text on a terminal, json otherwise
	FormatText LogFormat = "text"
	FormatJSON LogFormat = "json"
)

// Log says what is logged and how.
type Log struct {
	Level  LogLevel  `json:"level,omitempty" jsonschema:"The least severe level that is logged: debug, info, warn or error."`
	Format LogFormat `json:"format,omitempty" jsonschema:"auto (text on a terminal, json otherwise), text or json."`
	Text   bool      `json:"text,omitempty" jsonschema:"Whether the text of messages is logged."`
}
