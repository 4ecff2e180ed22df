package main

import (
	"time"
	_ "time/tzdata" // time zones are known on machines without them, too

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
