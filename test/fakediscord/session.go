package fakediscord

import (
	"encoding/json"
	"strings"
)

// session is what a client can resume: the events it may not have received.
type session struct {
	s       *Server
	id      string
	intents int
	shard   [2]int

	// The rest is guarded by Server.mu.
	socket *socket
	seq    int64
	kept   []frame // after trimmed
	low    int64   // everything up to it was confirmed and is gone
}

// begin makes a session for an identified socket and says READY: whoever sees
// the session sees one whose next event comes behind that.
func (s *Server) begin(k *socket, in identifyData) (*session, []*guild) {
	s.mu.Lock()
	defer s.mu.Unlock()
	made := &session{s: s, id: "session-" + s.idLockedNow(), intents: *in.Intents, shard: [2]int{0, 1}, socket: k}
	if in.Shard != nil {
		made.shard = *in.Shard
	}
	s.sessions[made.id], k.session = made, made
	var guilds []*guild
	unavailable := []any{}
	for _, g := range s.world.guilds {
		if made.intents&intentGuilds != 0 && made.owns(g.ID) {
			guilds = append(guilds, g)
			unavailable = append(unavailable, map[string]any{"id": g.ID, "unavailable": true})
		}
	}
	ready := map[string]any{
		"v": 10, "user": userJSON(s.bot), "guilds": unavailable, "session_id": made.id, "shard": made.shard,
		"resume_gateway_url": "ws://" + s.host + socketPath + "resume", "application": map[string]any{"id": s.app, "flags": 0},
	}
	made.pushLocked("READY", encode(ready))
	return made, guilds
}

// owns reports whether events of a guild go to this session's shard; those of
// no guild go to shard 0.
func (n *session) owns(guildID string) bool {
	if guildID == "" {
		return n.shard[0] == 0
	}
	var id int64
	if json.Unmarshal([]byte(guildID), &id) != nil {
		return false
	}
	return int((id>>22)%int64(n.shard[1])) == n.shard[0]
}

// push appends an event and sends it, if somebody is connected.
func (n *session) push(event string, data any) {
	encoded := encode(data)
	n.s.mu.Lock()
	defer n.s.mu.Unlock()
	n.pushLocked(event, encoded)
}

// pushLocked is push for who holds Server.mu, so that frames keep their order.
func (n *session) pushLocked(event string, encoded json.RawMessage) {
	n.seq++
	seq := n.seq
	f := frame{Op: opDispatch, Data: encoded, Seq: &seq, Type: event}
	n.kept = append(n.kept, f)
	if n.socket != nil {
		n.socket.send(f)
	}
}

// trim drops what the client has confirmed.
func (n *session) trim(seq int64) {
	for len(n.kept) > 0 && *n.kept[0].Seq <= seq {
		n.kept = n.kept[1:]
	}
	n.low = max(n.low, min(seq, n.seq))
}

// attach continues the session on another socket: what came after seq is sent
// again, then RESUMED. The code is not 0 if seq cannot be.
func (n *session) attach(k *socket, seq int64) int {
	n.s.mu.Lock()
	defer n.s.mu.Unlock()
	if seq > n.seq || seq < n.low {
		delete(n.s.sessions, n.id)
		return 4007
	}
	if n.socket != nil {
		n.socket.ws.Close()
	}
	n.socket, k.session = k, n
	n.trim(seq)
	for _, f := range n.kept {
		k.send(f)
	}
	n.pushLocked("RESUMED", encode(map[string]any{}))
	return 0
}

func (s *Server) forget(n *session) {
	if n == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.sessions, n.id)
}

// Emit sends an event as it stands to the sessions it concerns.
func (s *Server) Emit(event string, data map[string]any) {
	guild, _ := data["guild_id"].(string)
	if event == "GUILD_CREATE" {
		guild, _ = data["id"].(string)
	}
	for _, n := range s.listening(guild) {
		if n.intents&intentFor(event, guild) != 0 || intentFor(event, guild) == 0 {
			n.push(event, data)
		}
	}
	s.log.touch()
}

// intentFor is the intent that an event needs, or 0.
func intentFor(event, guild string) int {
	switch {
	case strings.HasPrefix(event, "MESSAGE_REACTION"):
		return intentReactions
	case strings.HasPrefix(event, "MESSAGE_") && guild == "":
		return intentDirectMessages
	case strings.HasPrefix(event, "MESSAGE_"):
		return intentGuildMessages
	case strings.HasPrefix(event, "GUILD_"), strings.HasPrefix(event, "CHANNEL_"), strings.HasPrefix(event, "THREAD_"):
		return intentGuilds
	}
	return 0
}

func (s *Server) listening(guild string) []*session {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []*session
	for _, n := range s.sessions {
		if n.owns(guild) {
			out = append(out, n)
		}
	}
	return out
}

// emitMessage sends a message to the sessions it concerns, each with as much
// of it as its intents allow.
func (s *Server) emitMessage(event string, m *Message) {
	s.mu.Lock()
	guild := s.world.channels[m.Channel].Guild
	s.mu.Unlock()
	open := guild == "" || m.Author.ID == s.bot.ID || s.mentionsBot(m)
	for _, n := range s.listening(guild) {
		if n.intents&intentFor(event, guild) != 0 {
			n.push(event, s.messageJSON(m, open || n.intents&intentContent != 0))
		}
	}
	s.log.touch()
}

// Connected is how many sessions have a client now.
func (s *Server) Connected() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for _, one := range s.sessions {
		if one.socket != nil {
			n++
		}
	}
	return n
}

func redact(text, token string) string {
	if token == "" {
		return text
	}
	return strings.ReplaceAll(text, token, "***")
}
