package main

import (
	"time"

	"parley/bot"
	"parley/cmd/gateway/config"
	"parley/scheduler"
)

// deadLettersFor is how long a dead letter is kept.
const deadLettersFor = 30 * 24 * time.Hour

// declared are the schedules of the file: never nil, since an empty list
// removes what was declared before.
func declared(c config.Config) []scheduler.Definition {
	out := make([]scheduler.Definition, len(c.Schedules))
	for i, s := range c.Schedules {
		out[i] = s.Definition()
		if out[i].Timezone == "" {
			out[i].Timezone = c.Timezone // else it keeps the one that it was first made with
		}
	}
	return out
}

func retention(c config.Config) bot.Retention {
	return bot.Retention{
		StaleAfter: time.Duration(*c.Sessions.StaleAfter), ExpireAfter: time.Duration(c.Sessions.ExpireAfter),
		MaxAge: time.Duration(c.Sessions.MaxAge), DeadLetters: deadLettersFor,
	}
}

func heartbeat(c config.Config) bot.Heartbeat {
	return bot.Heartbeat{Every: time.Duration(c.Heartbeat.Every), Chat: c.Heartbeat.Chat, File: c.Heartbeat.File}
}
