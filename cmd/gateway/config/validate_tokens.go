package config

import (
	"fmt"
	"regexp"
	"strings"

	"parley/internal/secret"
)

// tokenMin is the least length of a program's token that nobody guesses.
const tokenMin = 20

// namespace is what session ids of a platform begin with.
var namespace = regexp.MustCompile(`^[a-z][a-z0-9_-]{0,31}$`)

func (v *validator) hosts(hosts []string) {
	for i, host := range hosts {
		if host == "" || strings.ContainsAny(host, "/ \t\r\n") || strings.Count(host, ":") == 1 {
			v.complain(fmt.Sprintf("http.hosts[%d]", i), "%q is not a name without scheme and port, such as chat.example.org", host)
		}
	}
}

// token checks the owner's own token: whoever has it has everything.
func (v *validator) token(h HTTP, loopback bool) {
	text := h.Token.Reveal()
	if strings.ContainsAny(text, " \t\r\n") {
		v.complain("http.token", "has white space in it")
	}
	if text != "" && !loopback && (len(text) < tokenMin || secret.Bits(text) == 0 || exampleToken(text)) {
		v.complain("http.token", "is one that can be guessed, and others can reach %s; `openssl rand -hex 32` draws one", h.Listen)
	}
	if h.Open && (!loopback || text != "") {
		v.complain("http.open", "opens the gateway to everybody on this machine; it goes only with listening on 127.0.0.1 and without http.token (GATEWAY_TOKEN)")
	}
}

// exampleToken reports whether a token was copied from an example.
func exampleToken(text string) bool {
	text = strings.ToLower(text)
	for _, word := range []string{"openssl", "replace", "change-me", "changeme", "example", "your-token"} {
		if strings.Contains(text, word) {
			return true
		}
	}
	return false
}

// tokens checks that each is a secret of its own and says what it is for.
func (v *validator) tokens(h HTTP) {
	names, secrets := map[string]bool{}, map[string]bool{h.Token.Reveal(): true}
	for i, token := range h.Tokens {
		path := fmt.Sprintf("http.tokens[%d]", i)
		switch text := token.Token.Reveal(); {
		case len(text) < tokenMin || strings.ContainsAny(text, " \t\r\n"):
			v.complain(path+".token", "must have at least %d characters and no white space; `openssl rand -hex 24` draws one", tokenMin)
		case secrets[text]:
			v.complain(path+".token", "is another one's token too; each program needs its own")
		}
		if token.Name == "" || names[token.Name] {
			v.complain(path+".name", "%q is empty or taken; give each token a name of its own", token.Name)
		}
		names[token.Name], secrets[token.Token.Reveal()] = true, true
		v.scope(path, token, h)
	}
}

func (v *validator) scope(path string, token Token, h HTTP) {
	switch token.MaxRole {
	case "", "owner", "member", "guest":
		if token.MaxRole != "" && token.Scope != ScopeChannel {
			v.complain(path+".max_role", "limits nothing for scope owner; leave it out, or use scope channel")
		}
	default:
		v.complain(path+".max_role", "%q is not possible; use member, guest or owner", token.MaxRole)
	}
	switch token.Scope {
	case ScopeOwner:
		if token.Namespace != "" {
			v.complain(path+".namespace", "limits nothing for scope owner; leave it out, or use scope channel")
		}
	case ScopeChannel:
		if !namespace.MatchString(token.Namespace) {
			v.complain(path+".namespace", "%q is not a platform such as telegram", token.Namespace)
		}
		if h.Open {
			v.complain(path, "a channel's token limits nobody while http.open is set: then whoever is on this machine is the owner; leave that out")
		}
	default:
		v.complain(path+".scope", "%q is not possible; use owner or channel", token.Scope)
	}
}
