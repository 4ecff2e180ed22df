package config_test

import (
	"strings"
	"testing"

	"parley/cmd/gateway/config"
)

func TestLimits(t *testing.T) {
	t.Parallel()
	got := mustLoad(t, "limits: {turns: 50, members: {at_once: 3}}\n", nil).Limits
	want := config.Limits{
		Turns: 50, Reserve: 5, Members: config.Rate{AtOnce: 3, AMinute: 60}, Guests: config.Rate{AtOnce: 5, AMinute: 15},
		Chats: config.Rate{AtOnce: 20, AMinute: 120}, Schedules: config.Rate{AtOnce: 10, AMinute: 30},
	}
	if got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	for text, complaint := range map[string]string{
		"{turns: -1}":                 "limits.turns",
		"{turns: many}":               "must be a whole number",
		"{turns: 10, reserve: 10}":    "limits.reserve",
		"{guests: {a_minute: 1e9}}":   "must be a whole number",
		"{chats: {at_once: 2000000}}": "limits.chats.at_once",
	} {
		if _, err := load(t, "limits: "+text+"\n", nil); err == nil || !strings.Contains(err.Error(), complaint) {
			t.Errorf("%s: %v", text, err)
		}
	}
}
