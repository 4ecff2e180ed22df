package bot

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"time"

	"parley/sessions"
)

// What is remembered of the commands of one surface.
const (
	doneMax = 30
	doneFor = sessions.DedupeFor
	onceFor = sessions.LeaseFor
)

// memory is what a surface remembers of its commands. It is the text of a lock
// that is held while one of them is carried out.
type memory struct {
	Done []done `json:"done,omitempty"`
	// Listed are the sessions that Lister was shown last, in that order: what
	// the numbers of /resume mean.
	Lister string   `json:"lister,omitempty"`
	Listed []string `json:"listed,omitempty"`
}

// done is a command that was carried out, and what was answered.
type done struct {
	Key    string    `json:"key"`
	At     time.Time `json:"at"`
	Answer string    `json:"answer"`
	// Session is what the command was about, where it was one.
	Session string `json:"session,omitempty"`
	// looked: nothing was changed, so that looking again does no harm.
	looked bool
}

// once carries out a command for which the store itself knows no key. An event
// that is delivered again is answered as the first time, whatever has happened
// on the surface since. Who dies between the change and its memory leaves it
// to be carried out again. ErrBusy: another command of this surface is being
// carried out.
func (b *Bot) once(ctx context.Context, a arrival, act func(*memory) (done, error)) (done, error) {
	call, cancel := context.WithTimeout(context.WithoutCancel(ctx), onceFor)
	defer cancel()
	lock, err := b.store.Lock(call, memoryOf(a.event.Surface.Key()), sessions.Claimer{Owner: sessions.DrawID(b.replica+":", nil), For: onceFor})
	if err != nil {
		return done{}, err
	}
	defer b.unlock(call, lock)
	remembered := b.recall(lock)
	for _, before := range remembered.Done {
		if a.key != "" && before.Key == a.key {
			return before, nil
		}
	}
	result, err := act(&remembered)
	if err != nil {
		return done{}, err
	}
	result.Key, result.At = a.key, time.Now().UTC()
	if a.key != "" && !result.looked {
		remembered.Done = append(remembered.Done, result)
	}
	b.remember(call, lock, remembered)
	return result, nil
}

// memoryOf names a surface's memory; its key may be too long for a lock's name.
func memoryOf(surface string) string {
	sum := sha256.Sum256([]byte(surface))
	return "commands:" + hex.EncodeToString(sum[:16])
}

// ending is the ending of an id that is drawn from a key.
func ending(key string) string {
	sum := sha256.Sum256([]byte(key))
	return hex.EncodeToString(sum[:8])
}

func (b *Bot) recall(lock sessions.Lock) memory {
	var remembered memory
	if lock.Data == "" {
		return remembered
	}
	if err := json.Unmarshal([]byte(lock.Data), &remembered); err != nil {
		b.log.Warn("what a chat remembers of its commands cannot be read and begins anew", "lock", lock.Name, "error", err)
		return memory{}
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

// remember keeps the newest commands.
func (b *Bot) remember(ctx context.Context, lock sessions.Lock, what memory) {
	what.Done = what.Done[max(0, len(what.Done)-doneMax):]
	text, err := json.Marshal(what)
	if err == nil {
		err = b.store.SaveLock(ctx, lock, string(text))
	}
	if err != nil {
		b.log.Warn("a command that was carried out could not be remembered; delivered again, it is carried out again", "lock", lock.Name, "error", err)
	}
}

func (b *Bot) unlock(ctx context.Context, lock sessions.Lock) {
	if err := b.store.Unlock(ctx, lock); err != nil {
		b.log.Debug("a command's lock was not given back; it runs out", "lock", lock.Name, "error", err)
	}
}
