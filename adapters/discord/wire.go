package discord

import (
	"encoding/json"
	"runtime"

	"github.com/bwmarrin/discordgo"
)

// Operations of the gateway's protocol.
const (
	opDispatch       = 0
	opHeartbeat      = 1
	opIdentify       = 2
	opResume         = 6
	opReconnect      = 7
	opInvalidSession = 9
	opHello          = 10
	opHeartbeatACK   = 11
)

// intents are the kinds of event the bot asks for: no more than it uses.
const intents = discordgo.IntentGuilds | discordgo.IntentGuildMessages | discordgo.IntentDirectMessages | discordgo.IntentMessageContent

// frameMax bounds one frame of the gateway, in bytes. The largest there is
// describes a server with all its channels and threads.
const frameMax = 32 << 20

// received is a frame from Discord.
type received struct {
	Op   int             `json:"op"`
	Data json.RawMessage `json:"d"`
	Seq  int64           `json:"s"`
	Type string          `json:"t"`
}

// sending is a frame to Discord.
type sending struct {
	Op   int `json:"op"`
	Data any `json:"d"`
}

type helloData struct {
	Interval int64 `json:"heartbeat_interval"` // milliseconds
}

type readyData struct {
	SessionID string          `json:"session_id"`
	ResumeURL string          `json:"resume_gateway_url"`
	User      *discordgo.User `json:"user"`
}

type identifyData struct {
	Token      string           `json:"token"`
	Intents    discordgo.Intent `json:"intents"`
	Shard      [2]int           `json:"shard"`
	Properties properties       `json:"properties"`
}

type properties struct {
	OS      string `json:"os"`
	Browser string `json:"browser"`
	Device  string `json:"device"`
}

type resumeData struct {
	Token     string `json:"token"`
	SessionID string `json:"session_id"`
	Seq       int64  `json:"seq"`
}

func (s *shard) identify() sending {
	return sending{opIdentify, identifyData{
		Token: s.a.token.Reveal(), Intents: intents, Shard: [2]int{s.id, s.count},
		Properties: properties{OS: runtime.GOOS, Browser: "parley", Device: "parley"},
	}}
}

func (s *shard) resume(session *session) sending {
	seq, _ := session.marks.position()
	return sending{opResume, resumeData{Token: s.a.token.Reveal(), SessionID: session.ID, Seq: seq}}
}
