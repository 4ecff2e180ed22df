package api

import (
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"

	"parley/internal/secret"
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
}

func (t Token) caller() caller {
	if t.Scope == ScopeChannel {
		return caller{Caller: sessions.Caller{Namespace: t.Namespace}, name: t.Name}
	}
	who := ownerCaller()
	who.name = t.Name
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
	}
	return nil
}

// keyring are the tokens there are, by digest: comparing digests takes the same
// time whatever was sent.
type keyring []key

type key struct {
	digest [sha256.Size]byte
	who    caller
}

func newKeyring(config Config) keyring {
	keys := keyring{{sha256.Sum256([]byte(config.Token.Reveal())), ownerCaller()}}
	for _, token := range config.Tokens {
		keys = append(keys, key{sha256.Sum256([]byte(token.Token.Reveal())), token.caller()})
	}
	return keys
}

// whose finds the caller of a token. It looks at every key, whichever fits.
func (k keyring) whose(token string) (who caller, known bool) {
	digest := sha256.Sum256([]byte(token))
	found, at := 0, 0
	for i := range k {
		same := subtle.ConstantTimeCompare(digest[:], k[i].digest[:])
		at = subtle.ConstantTimeSelect(same, i, at)
		found |= same
	}
	if found == 0 {
		return caller{}, false
	}
	return k[at].who, true
}

// first reports whether a token is the owner's own.
func (k keyring) first(token string) bool {
	digest := sha256.Sum256([]byte(token))
	return subtle.ConstantTimeCompare(digest[:], k[0].digest[:]) == 1
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
