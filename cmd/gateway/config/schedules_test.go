package config_test

import (
	"errors"
	"strings"
	"testing"

	"parley/cmd/gateway/config"
)

func TestSchedulesOfTheFile(t *testing.T) {
	t.Parallel()
	c := mustLoad(t, `
schedules:
  - {id: standup, cron: "0 9 * * 1-5", timezone: Europe/Berlin, prompt: "What is on?", deliver_to: ["slack:T1:C1"], missed: once}
  - id: past
    at: 2020-01-01 09:00
    prompt: |
      Two
      lines
heartbeat: {every: 30m, chat: "telegram:1:2", file: HEARTBEAT.md}
`, nil)
	if len(c.Schedules) != 2 || c.Schedules[0].Definition().Cron != "0 9 * * 1-5" || c.Schedules[1].Prompt == "" || c.Heartbeat.Chat != "telegram:1:2" {
		t.Errorf("%+v %+v", c.Schedules, c.Heartbeat)
	}
}

func TestSchedulesThatAreRefused(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`schedules: [{id: a, cron: "0 0 30 2 *", prompt: x}]`:                       "schedules[0].cron: \"0 0 30 2 *\" never comes",
		`schedules: [{id: a, cron: "* * * * * *", prompt: x}]`:                      "schedules[0].cron: it has 6 fields",
		`schedules: [{id: a, every: 1h, prompt: x, timezone: X/Y}]`:                 "schedules[0].timezone",
		`schedules: [{every: 1h, prompt: x}]`:                                       "schedules[0].id",
		`schedules: [{id: a, every: 1h}]`:                                           "schedules[0].prompt: it must not be empty",
		`schedules: [{id: a, every: 1h, prompt: x, deliver_to: [here]}]`:            "schedules[0].deliver_to",
		`schedules: [{id: a, every: 1h, prompt: x}, {id: a, every: 2h, prompt: y}]`: "schedules[1].id: \"a\" is the id of schedules[0] too",
		`schedules: [{id: a, every: 1h, prompt: x, missd: once}]`:                   "did you mean \"missed\"?",
		`heartbeat: {every: 30m}`:                                                   "heartbeat.chat: is missing",
		`heartbeat: {every: 30m, chat: here}`:                                       "heartbeat.chat: \"here\"",
		`heartbeat: {every: 1ms, chat: "telegram:1:2"}`:                             "heartbeat.every",
	} {
		_, err := load(t, text, nil)
		var problems config.Errors
		if !errors.As(err, &problems) || len(problems) != 1 || !strings.Contains(problems[0].String(), want) {
			t.Errorf("%s:\n got %v\nwant one with %q", text, err, want)
		}
	}
}
