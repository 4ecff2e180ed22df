package conversations

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base32"
	"encoding/hex"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"parley/sessions"
)

// What is remembered of the keys of one session.
const (
	doneMax     = 100              // the newest keys
	onceFor     = 15 * time.Second // how long a change may take
	tidyFor     = 5 * time.Second  // to remember a key when the caller has gone
	endingChars = 12               // of a drawn id: 60 bits

	lockFirst = 10 * time.Millisecond // between two tries for a session's lock, at first
	lockLast  = 800 * time.Millisecond
)

// CheckKey refuses what is no idempotency key: more than KeyMax bytes, or not
// printable ASCII. The empty key is none, and allowed.
func CheckKey(key string) error {
	if len(key) > KeyMax {
		return refuse(Invalid, "The idempotency key is too long. Use at most 200 characters, such as a UUID.", nil)
	}
	for i := range len(key) {
		if key[i] < ' ' || key[i] > '~' {
			return refuse(Invalid, "The idempotency key has characters that are not printable ASCII. Use a UUID.", nil)
		}
	}
	return nil
}

// Digest makes a caller's key, for one purpose and the session as the caller
// named it, into a name that no other caller's, purpose's or session's key
// shares: 32 letters and digits. Empty for no key.
func (c Caller) Digest(purpose, session, key string) string {
	if key == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(c.Name + "\x00" + purpose + "\x00" + session + "\x00" + key))
	return strings.ToLower(base32.StdEncoding.EncodeToString(sum[:20]))
}

// ending is what a drawn id ends with: the same for the same digest.
func ending(digest string) string {
	if digest == "" {
		digest = strings.ToLower(rand.Text())
	}
	return digest[:endingChars]
}

// SumOf tells whether two requests under one key are the same: then it is.
func SumOf(arguments any) string {
	text, err := json.Marshal(arguments)
	if err != nil {
		return "" // then they count as the same
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:8])
}

// done is a change that was carried out under a key.
type done struct {
	Key    string    `json:"key"` // a digest
	Sum    string    `json:"sum,omitempty"`
	At     time.Time `json:"at"`
	Result bool      `json:"result,omitempty"`

	Session  string `json:"session,omitempty"`  // the one it was done to, or that was made
	Previous string `json:"previous,omitempty"` // as in Result
}

// once carries out a change of a session that the store itself knows no key
// for, and remembers it in the text of a lock that is held meanwhile. The same
// key again gives what was done the first time, with duplicate; for other
// arguments it is refused (KeyReused). Who dies between the change and its
// memory leaves it to be carried out again. Without a key it is carried out.
// Busy: for a while other changes of this session were carried out under keys.
func (r *Room) once(ctx context.Context, session string, what done, change func() (done, error)) (result done, duplicate bool, err error) {
	if what.Key == "" {
		result, err = change()
		return result, false, err
	}
	lock, err := r.lock(ctx, "keys:"+session)
	if err != nil {
		return done{}, false, err
	}
	defer r.unlock(ctx, lock)
	made := r.remembered(lock)
	for _, before := range made {
		if before.Key == what.Key {
			return before, true, sameArguments(before, what)
		}
	}
	if result, err = change(); err != nil {
		return done{}, false, err
	}
	result.Key, result.Sum, result.At = what.Key, what.Sum, r.now().UTC()
	r.remember(ctx, lock, append(made, result))
	return result, false, nil
}

// lock takes a lock, and waits a moment for whoever has it.
func (r *Room) lock(ctx context.Context, name string) (sessions.Lock, error) {
	claimer := sessions.Claimer{Owner: "keys:" + rand.Text(), For: onceFor}
	for pause := lockFirst; ; pause *= 2 {
		lock, err := r.Store.Lock(ctx, name, claimer)
		if pause > lockLast || !errors.Is(err, sessions.ErrBusy) {
			return lock, err
		}
		timer := time.NewTimer(pause)
		select {
		case <-ctx.Done():
			timer.Stop()
			return sessions.Lock{}, ctx.Err()
		case <-timer.C:
		}
	}
}

func sameArguments(before, now done) error {
	if before.Sum == now.Sum {
		return nil
	}
	return ErrKeyReused()
}

// ErrKeyReused refuses a key that was used for another request.
func ErrKeyReused() error {
	return refuse(KeyReused, "This idempotency key was used for another request. Take a new key for each request, and the same one only to send that very request again.", nil)
}

// remembered are the changes that still count.
func (r *Room) remembered(lock sessions.Lock) (fresh []done) {
	var made []done
	if lock.Data != "" {
		if err := json.Unmarshal([]byte(lock.Data), &made); err != nil {
			r.log().Warn("the remembered keys of a session cannot be read and begin anew", "lock", lock.Name, "error", err)
			return nil
		}
	}
	for _, d := range made {
		if r.now().Sub(d.At) < sessions.DedupeFor {
			fresh = append(fresh, d)
		}
	}
	return fresh
}

// remember goes on when the caller has gone: the change is made.
func (r *Room) remember(ctx context.Context, lock sessions.Lock, made []done) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), tidyFor)
	defer cancel()
	text, err := json.Marshal(made[max(0, len(made)-doneMax):])
	if err == nil {
		err = r.Store.SaveLock(ctx, lock, string(text), sessions.DedupeFor)
	}
	if err != nil {
		r.log().Warn("a change was made, but its key could not be remembered", "lock", lock.Name, "error", err)
	}
}

func (r *Room) unlock(ctx context.Context, lock sessions.Lock) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), tidyFor)
	defer cancel()
	if err := r.Store.Unlock(ctx, lock); err != nil {
		r.log().Debug("a lock runs out by itself", "lock", lock.Name, "error", err)
	}
}
