package discord

import (
	"encoding/json"
	"net/url"
	"strings"
)

// session is one session of a shard at Discord: what outlives its
// connections.
type session struct {
	ID        string
	ResumeURL string
	marks     *watermark
}

// stored is the form of a session in the lock's text.
type stored struct {
	ID        string `json:"session_id"`
	ResumeURL string `json:"resume_gateway_url"`
	Seq       int64  `json:"sequence"`
	Shards    int    `json:"shards"`
}

// loadSession reads what a predecessor stored; nil if there is nothing that
// could be resumed with this number of shards.
func loadSession(data string, shards int, advanced func()) *session {
	var s stored
	if json.Unmarshal([]byte(data), &s) != nil || s.ID == "" || s.Seq <= 0 || s.Shards != shards || !isSocketURL(s.ResumeURL) {
		return nil
	}
	return &session{ID: s.ID, ResumeURL: s.ResumeURL, marks: newWatermark(s.Seq, advanced)}
}

// encode is the text to store: with the position up to which all is taken.
func (s *session) encode(shards int) string {
	if s == nil {
		return ""
	}
	_, durable := s.marks.position()
	data, err := json.Marshal(stored{ID: s.ID, ResumeURL: s.ResumeURL, Seq: durable, Shards: shards})
	if err != nil {
		return ""
	}
	return string(data)
}

// leads reports whether the bot's token may be told to whoever listens at an
// address: Discord's own gateways, and what its API named, which may be another
// server by configuration. A session's address comes from the store, which
// others may be able to write.
func (a *Adapter) leads(address string) bool {
	parsed, err := url.Parse(address)
	if err != nil {
		return false
	}
	if parsed.Scheme == "wss" && strings.HasSuffix(strings.ToLower(parsed.Hostname()), ".discord.gg") {
		return true
	}
	named := a.gateway.Load()
	return named != nil && parsed.Scheme == named.Scheme && parsed.Host == named.Host
}

func isSocketURL(address string) bool {
	parsed, err := url.Parse(address)
	return err == nil && parsed.Host != "" && (parsed.Scheme == "ws" || parsed.Scheme == "wss")
}

// socketURL is the address to dial.
func socketURL(address string) string {
	parsed, err := url.Parse(address)
	if err != nil {
		return address
	}
	if parsed.Path == "" {
		parsed.Path = "/"
	}
	parsed.RawQuery = url.Values{"v": {apiVersion}, "encoding": {"json"}}.Encode()
	return parsed.String()
}
