package fakediscord

import (
	"encoding/json"
	"strings"
	"time"
)

// What a test can do to the gateway.

func (s *Server) eachSocket(do func(*socket)) {
	s.mu.Lock()
	var all []*socket
	for k := range s.sockets {
		all = append(all, k)
	}
	s.mu.Unlock()
	for _, k := range all {
		do(k)
	}
}

// AskReconnect asks every client to reconnect (op 7).
func (s *Server) AskReconnect() { s.eachSocket(func(k *socket) { k.send(frame{Op: opReconnect}) }) }

// AskHeartbeat asks every client for a heartbeat at once (op 1).
func (s *Server) AskHeartbeat() { s.eachSocket(func(k *socket) { k.send(frame{Op: opHeartbeat}) }) }

// Invalidate tells every client that its session is not valid (op 9); those
// that are not resumable are forgotten.
func (s *Server) Invalidate(resumable bool) {
	if !resumable {
		s.ForgetSessions()
	}
	s.eachSocket(func(k *socket) { k.send(frame{Op: opInvalidSession, Data: resumable}) })
}

// ForgetSessions makes every session one that cannot be resumed; who is
// connected hears nothing any more.
func (s *Server) ForgetSessions() {
	s.mu.Lock()
	clear(s.sessions)
	s.mu.Unlock()
}

// CloseGateway closes every socket with a code. After 4007 and 4009 the
// sessions are gone.
func (s *Server) CloseGateway(code int) {
	if code == 4007 || code == 4009 {
		s.ForgetSessions()
	}
	s.eachSocket(func(k *socket) { k.close(code) })
}

// KillTCP breaks every socket without a word.
func (s *Server) KillTCP() { s.eachSocket(func(k *socket) { k.ws.NetConn().Close() }) }

// WithholdAcks stops or resumes the answers to heartbeats.
func (s *Server) WithholdAcks(on bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.withhold = on
}

// SendRaw sends every client a frame as it stands.
func (s *Server) SendRaw(data string) {
	s.eachSocket(func(k *socket) {
		k.writing.Lock()
		defer k.writing.Unlock()
		_ = k.ws.WriteMessage(1, []byte(data))
	})
}

func (s *Server) idLockedNow() string { return s.idLocked(time.Now()) }

// Confirmed reports whether the client has confirmed every event about a
// message, so that none of them would come again.
func (s *Server) Confirmed(messageID string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, n := range s.sessions {
		for _, f := range n.kept {
			data, _ := f.Data.(json.RawMessage)
			if strings.Contains(string(data), `"id":"`+messageID+`"`) {
				return false
			}
		}
	}
	return true
}

// RefuseSockets breaks every socket and accepts none until restored.
func (s *Server) RefuseSockets() (restore func()) {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.KillTCP()
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.closed = false
	}
}
