package commands

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"time"

	"parley/conversations"
	"parley/sessions"
)

// What is remembered of the commands of one chat: keys, ids and codes, never
// what was said.
const (
	doneMax = 30
	doneFor = sessions.DedupeFor
	onceFor = sessions.LeaseFor
)

// memory is what a chat remembers of its commands. It is the text of a lock
// that is held while one of them is carried out.
type memory struct {
	Done []done `json:"done,omitempty"`
	// Listed are the sessions that Lister was shown last, in that order: what
	// the numbers of /resume mean.
	Lister string   `json:"lister,omitempty"`
	Listed []string `json:"listed,omitempty"`
	// Salt makes the words with which an owner confirms a /link. It is good
	// for sessions.LinkFor since Salted, and once.
	Salt   string    `json:"salt,omitempty"`
	Salted time.Time `json:"salted,omitzero"`

	changed bool // since it was stored
}

// done is a command that was carried out, or is being.
type done struct {
	Key     string    `json:"key"`
	Sum     string    `json:"sum,omitempty"` // of what was written; empty: of another version
	At      time.Time `json:"at"`
	Session string    `json:"session,omitempty"` // that it is about
	Code    string    `json:"code,omitempty"`    // that stands for its answer; empty: see once
}

// once carries out a command under its key. What it is about is remembered
// before anything is done, and how it was refused afterwards: an event that is
// delivered again means the same session, whatever has happened in the chat
// since, and the verb knows the event's key. KeyReused: something else was
// written under that key. ErrBusy: another command of this chat is being
// carried out.
func (c *Commands) once(ctx context.Context, row row, call Call) (Answer, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), onceFor)
	defer cancel()
	lock, err := c.Store.Lock(ctx, memoryOf(call.surface()), sessions.Claimer{Owner: sessions.DrawID(c.Replica+":", nil), For: onceFor})
	if err != nil {
		return Answer{}, err
	}
	defer c.unlock(ctx, lock)
	call.memory = c.recall(lock)
	now := done{Key: call.Key, Sum: row.sum(call), At: time.Now().UTC()}
	before, again := call.memory.find(call.Key)
	switch {
	case again && before.Sum != "" && before.Sum != now.Sum:
		return c.worded(call, Answer{}, conversations.ErrKeyReused())
	case again && before.Code != "":
		return say(c.words(call, before.Code))
	case again:
		now.Session = before.Session
	}
	answer, err := c.begun(ctx, row, call, lock, again, &now)
	if now.Code = answer.code; now.Code != "" {
		call.memory.put(now)
	}
	c.remember(ctx, lock, call.memory)
	return answer, err
}

// sum tells two commands under one key apart. Of a secret one nothing is kept
// but its name.
func (r row) sum(call Call) string {
	if r.secret {
		return conversations.SumOf(r.name)
	}
	return conversations.SumOf([]string{r.name, call.Command.Args})
}

// begun finds what a command is about, or takes it from before, and runs it.
func (c *Commands) begun(ctx context.Context, row row, call Call, lock sessions.Lock, again bool, now *done) (answer Answer, err error) {
	if !again {
		if now.Session, err = c.about(ctx, row, call); err != nil {
			return c.worded(call, answer, err)
		}
		call.memory.put(*now)
		c.remember(ctx, lock, call.memory)
	}
	call.target = now.Session
	answer, err = row.run(ctx, call)
	return c.worded(call, answer, err)
}

// about finds what a command is about, if its place is still where the sender
// thinks it is.
func (c *Commands) about(ctx context.Context, row row, call Call) (string, error) {
	if call.Held != "" {
		if _, err := c.holding(ctx, call); err != nil {
			return "", err
		}
	}
	return row.about(ctx, call)
}

// find is the command that was given under a key.
func (m *memory) find(key string) (done, bool) {
	for _, before := range m.Done {
		if key != "" && before.Key == key {
			return before, true
		}
	}
	return done{}, false
}

// put keeps what is known of a command that has a key, and the newest of them.
func (m *memory) put(what done) {
	if what.Key == "" {
		return
	}
	m.changed = true
	for i, before := range m.Done {
		if before.Key == what.Key {
			m.Done[i] = what
			return
		}
	}
	m.Done = append(m.Done, what)
	m.Done = m.Done[max(0, len(m.Done)-doneMax):]
}

// memoryOf names a chat's memory; its key may be too long for a lock's name.
func memoryOf(surface string) string {
	sum := sha256.Sum256([]byte(surface))
	return "commands:" + hex.EncodeToString(sum[:16])
}

func (c *Commands) recall(lock sessions.Lock) *memory {
	remembered := &memory{}
	if lock.Data == "" {
		return remembered
	}
	if err := json.Unmarshal([]byte(lock.Data), remembered); err != nil {
		c.Log.Warn("what a chat remembers of its commands cannot be read and begins anew", "lock", lock.Name, "error", err)
		return &memory{}
	}
	fresh := remembered.Done[:0]
	for _, before := range remembered.Done {
		if time.Since(before.At) < doneFor {
			fresh = append(fresh, before)
		}
	}
	remembered.Done = fresh
	return remembered
}

// remember stores what has changed.
func (c *Commands) remember(ctx context.Context, lock sessions.Lock, what *memory) {
	if !what.changed {
		return
	}
	text, err := json.Marshal(what)
	if err == nil {
		err = c.Store.SaveLock(ctx, lock, string(text), doneFor)
	}
	if err != nil {
		c.Log.Warn("a command could not be remembered; delivered again, it may be carried out again", "lock", lock.Name, "error", err)
		return
	}
	what.changed = false
}

func (c *Commands) unlock(ctx context.Context, lock sessions.Lock) {
	if err := c.Store.Unlock(ctx, lock); err != nil {
		c.Log.Debug("a command's lock was not given back; it runs out", "lock", lock.Name, "error", err)
	}
}
