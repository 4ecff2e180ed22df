package api

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base32"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"parley/sessions"
)

// Limits of remembered keys.
const (
	doneMax     = 100 // keys remembered for one session: 9 KB
	onceFor     = storeTimeout + 5*time.Second
	endingChars = 12 // of a drawn id: 60 bits
)

// digest makes a caller's Idempotency-Key for one purpose into a name that no
// other caller's and no other purpose's key shares. Empty for no key.
func (c caller) digest(purpose, key string) string {
	if key == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(c.name + "\x00" + purpose + "\x00" + key))
	return "api:" + purpose + ":" + strings.ToLower(base32.StdEncoding.EncodeToString(sum[:20]))
}

// ending is what a drawn id ends with: the same for the same key.
func (c caller) ending(purpose, key string) string {
	text := rand.Text()
	if key != "" {
		text = strings.TrimPrefix(c.digest(purpose, key), "api:"+purpose+":")
	}
	return strings.ToLower(text[:endingChars])
}

// done is a change that was carried out under a key.
type done struct {
	Key    string    `json:"key"`
	At     time.Time `json:"at"`
	Result bool      `json:"result,omitempty"`
}

// once carries out a change of a session that the store itself knows no key
// for, and remembers it in the text of a lock that is held meanwhile. The same
// key again is a duplicate, with the first one's result. Who dies between the
// change and its memory leaves it to be carried out again. Without a key it is
// carried out. ErrBusy: another change of this session runs.
func (s *Server) once(ctx context.Context, session, key string, change func() (bool, error)) (result, duplicate bool, err error) {
	if key == "" {
		result, err = change()
		return result, false, err
	}
	lock, err := s.config.Store.Lock(ctx, "api:keys:"+session, sessions.Claimer{Owner: "api:" + rand.Text(), For: onceFor})
	if err != nil {
		return false, false, err
	}
	defer s.unlock(ctx, lock)
	made := s.remembered(lock)
	for _, d := range made {
		if d.Key == key {
			return d.Result, true, nil
		}
	}
	if result, err = change(); err != nil {
		return false, false, err
	}
	s.remember(ctx, lock, append(made, done{Key: key, At: s.config.Now().UTC(), Result: result}))
	return result, false, nil
}

// remembered are the changes that still count.
func (s *Server) remembered(lock sessions.Lock) (fresh []done) {
	var made []done
	if lock.Data != "" {
		if err := json.Unmarshal([]byte(lock.Data), &made); err != nil {
			s.config.Logger.Warn("the remembered keys of a session cannot be read and begin anew", "lock", lock.Name, "error", err)
			return nil
		}
	}
	for _, d := range made {
		if s.config.Now().Sub(d.At) < sessions.DedupeFor {
			fresh = append(fresh, d)
		}
	}
	return fresh
}

// remember goes on when the caller has gone: the change is made.
func (s *Server) remember(ctx context.Context, lock sessions.Lock, made []done) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), storeTimeout)
	defer cancel()
	text, err := json.Marshal(made[max(0, len(made)-doneMax):])
	if err == nil {
		err = s.config.Store.SaveLock(ctx, lock, string(text))
	}
	if err != nil {
		s.config.Logger.Warn("a change was made, but its key could not be remembered", "lock", lock.Name, "error", fmt.Errorf("save: %w", err))
	}
}

func (s *Server) unlock(ctx context.Context, lock sessions.Lock) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), storeTimeout)
	defer cancel()
	if err := s.config.Store.Unlock(ctx, lock); err != nil {
		s.config.Logger.Debug("a lock runs out by itself", "lock", lock.Name, "error", err)
	}
}
