package redisstore

import (
	"crypto/rand"
	"hash/fnv"
	"strings"
	"time"

	"parley/sessions"
)

// newToken is a random word of 16 letters and digits: 80 bits.
func newToken() string { return strings.ToLower(rand.Text()[:16]) }

const drawAlphabet = "abcdefghijklmnopqrstuvwxyz234567"

// drawID is a new session id of a surface, in the surface's partition. It
// does what sessions.DrawID does, but tries only endings of an id that was
// drawn once: every post of a surface needs one at hand.
func drawID(surface string, day time.Time, count int) string {
	prefix := sessions.IDPrefix(surface, day)
	want := partitionOf(sessions.SurfaceHome(surface), count)
	stem := prefix + strings.ToLower(rand.Text()[:9])
	if sessions.Home(stem) != stem { // the ending does not count
		return sessions.DrawID(prefix, nil)
	}
	h := fnv.New64a()
	_, _ = h.Write([]byte(stem)) // never fails
	if id, ok := drawEnding(stem, h.Sum64(), want, count); ok {
		return id
	}
	return sessions.DrawID(prefix, func(id string) bool { return partitionOf(id, count) == want })
}

// drawEnding looks for three letters that put the id into the wanted
// partition; state is the hash of stem.
func drawEnding(stem string, state uint64, want, count int) (string, bool) {
	const letters = uint64(len(drawAlphabet))
	start := state // random enough: stem is
	for try := range letters * letters * letters {
		n := (start + try) % (letters * letters * letters)
		ending := [3]byte{drawAlphabet[n/letters/letters], drawAlphabet[n/letters%letters], drawAlphabet[n%letters]}
		sum := state
		for _, c := range ending {
			sum = (sum ^ uint64(c)) * 1099511628211
		}
		if int((sum^sum>>32)%uint64(count)) == want { //nolint:gosec // below count
			return stem + string(ending[:]), true
		}
	}
	return "", false
}
