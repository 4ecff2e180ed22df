package discord

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/sha256"
	"encoding/base64"
	"strings"
	"time"

	"github.com/bwmarrin/discordgo"

	"parley/internal/secret"
)

// An interaction is answered with a token of its own that is good for fifteen
// minutes. The answer is sent later, maybe by another replica or after a
// restart, so the token has to travel with the event: as its MessageID, which
// comes back as Outgoing.ReplyTo. Because message ids are stored, the token
// travels encrypted under a key made from the bot's token:
//
//	i:<interaction id>:<base64url of AES-256-GCM>
//
// Whoever reads the store learns nothing of use, and every replica with the
// same bot token can answer.
const interactionPrefix = "i:"

const (
	interactionFor    = 15 * time.Minute
	interactionMargin = 30 * time.Second // for clocks and the way
	sealedMax         = 1024             // bytes of a sealed reference
)

// sealer encrypts the tokens of interactions.
type sealer struct{ aead cipher.AEAD }

func newSealer(token secret.String) sealer {
	key := sha256.Sum256([]byte("parley/discord/interaction\x00" + token.Reveal()))
	block, err := aes.NewCipher(key[:])
	if err != nil {
		panic("a 32-byte key is a valid AES key: " + err.Error())
	}
	aead, err := cipher.NewGCM(block)
	if err != nil {
		panic("AES has GCM: " + err.Error())
	}
	return sealer{aead}
}

// nonce is made of the interaction's id: one id has one token, so no nonce
// seals two texts, and a redelivered event has the same reference.
func (s sealer) nonce(id string) []byte {
	sum := sha256.Sum256([]byte(id))
	return sum[:s.aead.NonceSize()]
}

// seal makes the reference of an interaction.
func (s sealer) seal(id, token string) string {
	sealed := s.aead.Seal(nil, s.nonce(id), []byte(token), []byte(id))
	return interactionPrefix + id + ":" + base64.RawURLEncoding.EncodeToString(sealed)
}

// open reads a reference made by seal with the same bot token.
func (s sealer) open(reference string) (id, token string, ok bool) {
	rest, found := strings.CutPrefix(reference, interactionPrefix)
	id, sealed, parted := strings.Cut(rest, ":")
	if !found || !parted || len(reference) > sealedMax {
		return "", "", false
	}
	raw, err := base64.RawURLEncoding.DecodeString(sealed)
	if err != nil {
		return "", "", false
	}
	plain, err := s.aead.Open(nil, s.nonce(id), raw, []byte(id))
	if err != nil {
		return "", "", false
	}
	return id, string(plain), true
}

// isInteraction reports whether a ReplyTo names an interaction, open or not.
func isInteraction(replyTo string) bool { return strings.HasPrefix(replyTo, interactionPrefix) }

// answerable reports whether the interaction can still be answered by its
// token.
func answerable(id string, now time.Time) bool {
	began, err := discordgo.SnowflakeTimestamp(id)
	return err == nil && now.Before(began.Add(interactionFor-interactionMargin))
}
