package fakediscord

import (
	"encoding/json"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/gorilla/websocket"
)

const socketPath = "/gateway/"

// Operations, by their names in the log.
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

// Names of gateway calls in the log.
const (
	CallHeartbeat = "GATEWAY heartbeat"
	CallIdentify  = "GATEWAY identify"
	CallResume    = "GATEWAY resume"
	CallClose     = "GATEWAY close"
)

// Intents.
const (
	intentGuilds         = 1 << 0
	intentGuildMessages  = 1 << 9
	intentReactions      = 1 << 10
	intentDirectMessages = 1 << 12
	intentContent        = 1 << 15
	intentsPrivileged    = 1<<1 | 1<<8
	intentsKnown         = 1<<26 - 1
)

const writeFor = 10 * time.Second

type frame struct {
	Op   int    `json:"op"`
	Data any    `json:"d"`
	Seq  *int64 `json:"s"`
	Type string `json:"t,omitempty"`
}

type clientFrame struct {
	Op   int             `json:"op"`
	Data json.RawMessage `json:"d"`
}

// socket is one websocket of a client.
type socket struct {
	s       *Server
	ws      *websocket.Conn
	session *session // set by identify or resume; guarded by Server.mu

	writing sync.Mutex
}

func (s *Server) serveSocket(w http.ResponseWriter, r *http.Request) {
	if r.URL.Query().Get("encoding") != "json" || r.URL.Query().Get("v") != "10" {
		s.violation("the gateway was dialled with %q", r.URL.RawQuery)
	}
	s.mu.Lock()
	refuse := s.closed
	s.mu.Unlock()
	if refuse {
		http.Error(w, "service unavailable", http.StatusServiceUnavailable)
		return
	}
	upgrader := websocket.Upgrader{CheckOrigin: func(*http.Request) bool { return true }}
	ws, err := upgrader.Upgrade(w, r, nil)
	if err != nil {
		return
	}
	s.active.Add(1)
	defer s.active.Done()
	k := &socket{s: s, ws: ws}
	s.mu.Lock()
	closed := s.stop.Err() != nil
	if !closed {
		s.sockets[k] = true
	}
	s.mu.Unlock()
	defer k.gone()
	if closed {
		return
	}
	k.send(frame{Op: opHello, Data: map[string]any{"heartbeat_interval": s.config.Heartbeat.Milliseconds()}})
	k.read()
}

// gone forgets the socket; its session can be resumed.
func (k *socket) gone() {
	k.ws.Close()
	k.s.mu.Lock()
	delete(k.s.sockets, k)
	if k.session != nil && k.session.socket == k {
		k.session.socket = nil
	}
	k.s.mu.Unlock()
	k.s.log.touch()
}

func (k *socket) send(f frame) {
	k.writing.Lock()
	defer k.writing.Unlock()
	_ = k.ws.SetWriteDeadline(time.Now().Add(writeFor))
	_ = k.ws.WriteJSON(f)
}

// close closes with a code, as Discord does; the client has a moment to answer.
func (k *socket) close(code int) {
	_ = k.ws.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(code, ""), time.Now().Add(time.Second))
	_ = k.ws.SetReadDeadline(time.Now().Add(time.Second))
}

func (k *socket) read() {
	for {
		_, data, err := k.ws.ReadMessage()
		if err != nil {
			k.ended(err)
			return
		}
		var f clientFrame
		if err := json.Unmarshal(data, &f); err != nil {
			k.close(4002)
			return
		}
		if !k.frame(f) {
			return
		}
	}
}

// ended notes how a client left. With 1000 or 1001 its session is gone.
func (k *socket) ended(err error) {
	code := 0
	if closed, ok := err.(*websocket.CloseError); ok { //nolint:errorlint // gorilla returns it bare
		code = closed.Code
	}
	k.s.log.add(Call{Method: "GATEWAY", Route: "close", Status: code})
	if code == websocket.CloseNormalClosure || code == websocket.CloseGoingAway {
		k.s.violation("the client closed with %d, which ends its session", code)
		k.s.forget(k.session)
	}
}

func (k *socket) frame(f clientFrame) bool {
	switch f.Op {
	case opHeartbeat:
		k.heartbeat(f.Data)
	case opIdentify:
		return k.identify(f.Data)
	case opResume:
		return k.resume(f.Data)
	default:
		k.s.violation("the client sent operation %d", f.Op)
		k.close(4001)
		return false
	}
	return true
}

// heartbeat acknowledges, and drops what the client says it has.
func (k *socket) heartbeat(data json.RawMessage) {
	k.s.log.add(Call{Method: "GATEWAY", Route: "heartbeat", Body: string(data)})
	k.s.mu.Lock()
	withhold := k.s.withhold
	if seq, err := strconv.ParseInt(string(data), 10, 64); err == nil && k.session != nil {
		k.session.trim(seq)
	}
	k.s.mu.Unlock()
	if !withhold {
		k.send(frame{Op: opHeartbeatACK})
	}
}

type identifyData struct {
	Token      string            `json:"token"`
	Intents    *int              `json:"intents"`
	Shard      *[2]int           `json:"shard"`
	Properties map[string]string `json:"properties"`
}

func (k *socket) identify(data json.RawMessage) bool {
	var in identifyData
	err := json.Unmarshal(data, &in)
	k.s.log.add(Call{Method: "GATEWAY", Route: "identify", Body: redact(string(data), in.Token)})
	if code := k.s.refuseIdentify(k, in, err); code != 0 {
		k.close(code)
		return false
	}
	made, guilds := k.s.begin(k, in)
	for _, g := range guilds {
		made.push("GUILD_CREATE", k.s.guildJSON(g))
	}
	k.s.log.touch()
	return true
}

// refuseIdentify is the code to close with, or 0.
func (s *Server) refuseIdentify(k *socket, in identifyData, err error) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case err != nil || in.Properties == nil:
		return 4002
	case k.session != nil:
		return 4005
	case s.revoked || in.Token != s.config.Token:
		return 4004
	case in.Intents == nil || *in.Intents&^intentsKnown != 0:
		return 4013
	case *in.Intents&intentsPrivileged != 0, s.config.NoContentIntent && *in.Intents&intentContent != 0:
		return 4014
	case in.Shard != nil && (in.Shard[0] < 0 || in.Shard[0] >= in.Shard[1]):
		return 4010
	case s.config.Shards > 1 && (in.Shard == nil || in.Shard[1] < s.config.Shards):
		return 4011
	}
	s.identifies--
	if s.identifies < 0 {
		s.violation("more identifies than the day allows: Discord would reset the token")
		return 4004
	}
	return 0
}

type resumeData struct {
	Token     string `json:"token"`
	SessionID string `json:"session_id"`
	Seq       int64  `json:"seq"`
}

func (k *socket) resume(data json.RawMessage) bool {
	var in resumeData
	err := json.Unmarshal(data, &in)
	k.s.log.add(Call{Method: "GATEWAY", Route: "resume", Body: redact(string(data), in.Token)})
	k.s.mu.Lock()
	found := k.s.sessions[in.SessionID]
	wrong := k.s.revoked || in.Token != k.s.config.Token
	k.s.mu.Unlock()
	switch {
	case err != nil:
		k.close(4002)
		return false
	case wrong:
		k.close(4004)
		return false
	case found == nil:
		k.send(frame{Op: opInvalidSession, Data: false})
		return true
	}
	if code := found.attach(k, in.Seq); code != 0 {
		k.close(code)
		return false
	}
	k.s.log.touch()
	return true
}
