package api

import (
	"cmp"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"

	"parley/conversations"
	"parley/internal/secret"
	"parley/people"
	"parley/sessions"
)

// Scope is what a token is good for.
type Scope string

// Scopes.
const (
	// ScopeOwner may do everything but sign a browser in.
	ScopeOwner Scope = "owner"
	// ScopeChannel reaches the sessions whose id begins with the token's
	// namespace and a colon, and speaks for the people of that platform.
	ScopeChannel Scope = "channel"
)

// Token is a bearer token besides the owner's own.
type Token struct {
	Name      string // says whose it is, in the log
	Token     secret.String
	Scope     Scope
	Namespace string // ScopeChannel: a platform, as in telegram
	MaxRole   string // ScopeChannel: the most that those it speaks for may do; empty: MaxRoleDefault
}

// MaxRoleDefault is the most that the people a channel's token speaks for may do:
// its program says who they are, and could say an owner's name.
const MaxRoleDefault = "member"

func (t Token) caller() caller {
	if t.Scope == ScopeChannel {
		return caller{conversations.Caller{Caller: sessions.Caller{Namespace: t.Namespace}, Name: t.Name}, cmp.Or(t.MaxRole, MaxRoleDefault)}
	}
	who := ownerCaller()
	who.Name = t.Name
	return who
}

func (t Token) check() error {
	switch {
	case t.Token.IsZero():
		return fmt.Errorf("api: the token %q is empty", t.Name)
	case t.Scope == ScopeChannel && t.Namespace == "":
		return fmt.Errorf("api: the channel token %q has no namespace", t.Name)
	case t.Scope != ScopeChannel && (t.Scope != ScopeOwner || t.Namespace != ""):
		return fmt.Errorf("api: the token %q is for neither an owner nor a channel", t.Name)
	case t.MaxRole != "" && (t.Scope != ScopeChannel || people.Role(t.MaxRole).Rank() == 0):
		return fmt.Errorf("api: the token %q has a max_role that is none, or is no channel's", t.Name)
	}
	return nil
}

// keyring are the tokens there are, by digest: comparing digests takes the same
// time whatever was sent.
type keyring []key

type key struct {
	digest [sha256.Size]byte
	who    caller
	strong bool // nobody guesses it
	first  bool // it is the owner's own
}

func newKey(token secret.String, who caller) key {
	text := token.Reveal()
	return key{digest: sha256.Sum256([]byte(text)), who: who, strong: secret.Bits(text) >= strongBits}
}

// strongBits: a token of so many bits needs no protection from guesses.
const strongBits = 128

func newKeyring(config Config) keyring {
	own := newKey(config.Token, ownerCaller())
	own.first = true
	keys := keyring{own}
	for _, token := range config.Tokens {
		keys = append(keys, newKey(token.Token, token.caller()))
	}
	return keys
}

// whose finds a token's key. It looks at every key, whichever fits.
func (k keyring) whose(token string) (found key, known bool) {
	digest := sha256.Sum256([]byte(token))
	fits, at := 0, 0
	for i := range k {
		same := subtle.ConstantTimeCompare(digest[:], k[i].digest[:])
		at = subtle.ConstantTimeSelect(same, i, at)
		fits |= same
	}
	if fits == 0 {
		return key{}, false
	}
	return k[at], true
}

func checkTokens(config Config) error {
	seen := map[string]bool{config.Token.Reveal(): true}
	for _, token := range config.Tokens {
		if err := token.check(); err != nil {
			return err
		}
		if seen[token.Token.Reveal()] {
			return errors.New("api: two tokens are the same")
		}
		seen[token.Token.Reveal()] = true
	}
	return nil
}
