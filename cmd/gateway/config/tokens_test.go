package config_test

import (
	"errors"
	"strings"
	"testing"

	"parley/cmd/gateway/config"
)

const token24 = "0123456789abcdef01234567"

func TestTokens(t *testing.T) {
	t.Parallel()
	c := mustLoad(t, `http:
  token: the-owner
  hosts: [chat.example.org]
  tokens:
    - {name: console, token: "${CONSOLE}", scope: owner}
    - {name: bridge, token: bridge-`+token24+`, scope: channel, namespace: telegram}
`, map[string]string{"CONSOLE": token24})
	if len(c.HTTP.Tokens) != 2 || c.HTTP.Tokens[0].Token.Reveal() != token24 || c.HTTP.Hosts[0] != "chat.example.org" {
		t.Fatalf("%+v", c.HTTP)
	}
	if bridge := c.HTTP.Tokens[1]; bridge.Scope != config.ScopeChannel || bridge.Namespace != "telegram" {
		t.Errorf("%+v", bridge)
	}
	if text, err := c.YAML(); err != nil || strings.Contains(string(text), token24) {
		t.Errorf("printed with its tokens: %s %v", text, err)
	}
}

func TestTokenProblems(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ http, want string }{
		"a short token":              {`tokens: [{name: a, token: short, scope: owner}]`, "http.tokens[0].token: must have at least 20"},
		"no token":                   {`tokens: [{name: a, scope: owner}]`, "http.tokens[0].token: must have"},
		"a token with white space":   {`tokens: [{name: a, token: "` + token24 + ` x", scope: owner}]`, "http.tokens[0].token: must have"},
		"the owner's token":          {`tokens: [{name: a, token: ` + token24 + `-owner, scope: owner}]`, "http.tokens[0].token: is another one's"},
		"a token twice":              {`tokens: [{name: a, token: ` + token24 + `, scope: owner}, {name: b, token: ` + token24 + `, scope: owner}]`, "http.tokens[1].token: is another one's"},
		"no name":                    {`tokens: [{token: ` + token24 + `, scope: owner}]`, "http.tokens[0].name"},
		"a name twice":               {`tokens: [{name: a, token: ` + token24 + `, scope: owner}, {name: a, token: x` + token24 + `, scope: owner}]`, "http.tokens[1].name"},
		"no scope":                   {`tokens: [{name: a, token: ` + token24 + `}]`, "http.tokens[0].scope"},
		"another scope":              {`tokens: [{name: a, token: ` + token24 + `, scope: admin}]`, `http.tokens[0].scope: "admin"`},
		"a channel without platform": {`tokens: [{name: a, token: ` + token24 + `, scope: channel}]`, "http.tokens[0].namespace"},
		"a platform with a colon":    {`tokens: [{name: a, token: ` + token24 + `, scope: channel, namespace: "telegram:"}]`, "http.tokens[0].namespace"},
		"an owner with a platform":   {`tokens: [{name: a, token: ` + token24 + `, scope: owner, namespace: telegram}]`, "http.tokens[0].namespace: limits nothing"},
		"a key that is none":         {`tokens: [{name: a, token: ` + token24 + `, scope: owner, role: x}]`, "http.tokens[0].role: unknown key"},
		"a host with a port":         {`hosts: ["chat.example.org:8080"]`, "http.hosts[0]"},
		"a host with a scheme":       {`hosts: ["https://chat.example.org"]`, "http.hosts[0]"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := load(t, "http: {token: "+token24+"-owner, "+tt.http+"}\n", nil)
			var problems config.Errors
			if !errors.As(err, &problems) || len(problems) != 1 || !strings.Contains(problems[0].String(), tt.want) {
				t.Fatalf("got %v, want one problem: %s", err, tt.want)
			}
		})
	}
	_, err := load(t, "http: {open: true, tokens: [{name: a, token: "+token24+", scope: channel, namespace: telegram}]}\n", nil)
	if err == nil || !strings.Contains(err.Error(), "limits nobody") {
		t.Errorf("a channel's token where everybody is the owner: %v", err)
	}
}

// Beyond this machine a token that can be guessed, or stands in an example, is
// refused.
func TestTheOwnersTokenBeyondThisMachine(t *testing.T) {
	t.Parallel()
	for token, good := range map[string]bool{
		"a": false, "openssl-rand-hex-32": false, "REPLACE-ME-with-openssl-rand-hex-32": false, "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa": false,
		"ten characters": false, token24: true, "kW3nT0_xPq9LzR7-vB2mYc": true,
	} {
		for listen, matters := range map[string]bool{"0.0.0.0:8080": true, "127.0.0.1:8080": false} {
			_, err := load(t, "", map[string]string{"GATEWAY_LISTEN": listen, "GATEWAY_TOKEN": token})
			if refused := err != nil; refused != (matters && !good || strings.ContainsAny(token, " ")) {
				t.Errorf("%q on %s: %v", token, listen, err)
			}
		}
	}
}

func TestOpenIsForThisMachineOnly(t *testing.T) {
	t.Parallel()
	if c := mustLoad(t, "http: {open: true}", nil); !c.HTTP.Open {
		t.Error("not open")
	}
	for _, environment := range []map[string]string{{"GATEWAY_TOKEN": token24}, {"GATEWAY_TOKEN": token24, "GATEWAY_LISTEN": "0.0.0.0:1"}} {
		if _, err := load(t, "http: {open: true}", environment); err == nil || !strings.Contains(err.Error(), "http.open") {
			t.Errorf("%v: %v", environment, err)
		}
	}
}
