package config

import (
	"errors"
	"fmt"
	"time"

	"parley/adapters"
	"parley/scheduler"
)

// Schedule is a schedule that the file declares: what is removed here is
// removed.
type Schedule struct {
	ID        string   `json:"id,omitempty" jsonschema:"Its name: letters, digits, dots, dashes, underscores."`
	Cron      string   `json:"cron,omitempty" jsonschema:"When: minute, hour, day of the month, month, weekday; or @hourly, @daily, @weekly, @monthly, @yearly. Exactly one of cron, every and at."`
	Every     string   `json:"every,omitempty" jsonschema:"Or at an interval: 90s, 30m, 12h, 2d."`
	At        string   `json:"at,omitempty" jsonschema:"Or once: 2026-05-01 09:00, or with an offset 2026-05-01T09:00:00+02:00."`
	Timezone  string   `json:"timezone,omitempty" jsonschema:"Time zone of cron and at, as in Europe/Berlin. Default: the gateway's."`
	Prompt    string   `json:"prompt,omitempty" jsonschema:"What the agent is asked."`
	Agent     string   `json:"agent,omitempty" jsonschema:"Which agent is asked."`
	Tools     []string `json:"tools,omitempty" jsonschema:"The only tools it may use."`
	Session   string   `json:"session,omitempty" jsonschema:"shared (one conversation for all runs, the default) or fresh (each run its own)."`
	DeliverTo []string `json:"deliver_to,omitempty" jsonschema:"Where the answer goes: keys of chats, as /whoami prints them. Without any it stays in the schedule's own conversation."`
	ReportTo  string   `json:"report_to,omitempty" jsonschema:"Where failures are told: the key of a chat. Default: to the owners."`
	Missed    string   `json:"missed,omitempty" jsonschema:"What becomes of runs whose time passed while no gateway ran: skip, once (one run for all of them, the default) or all."`
	Overlap   string   `json:"overlap,omitempty" jsonschema:"What becomes of a run whose time comes while the one before goes on: skip (the default) or queue."`
	Jitter    string   `json:"jitter,omitempty" jsonschema:"Each run is late by up to this, so that not all begin at the full hour. At most 1h."`
	TimeLimit string   `json:"time_limit,omitempty" jsonschema:"How long one attempt may take. Default: 10m."`
}

// Definition is the schedule as the scheduler knows it.
func (s Schedule) Definition() scheduler.Definition {
	return scheduler.Definition{
		ID: s.ID, Cron: s.Cron, Every: s.Every, At: s.At, Timezone: s.Timezone, Prompt: s.Prompt, Agent: s.Agent, Tools: s.Tools,
		Session: scheduler.SessionMode(s.Session), DeliverTo: s.DeliverTo, ReportTo: s.ReportTo, Missed: scheduler.Missed(s.Missed),
		Overlap: scheduler.Overlap(s.Overlap), Jitter: s.Jitter, TimeLimit: s.TimeLimit, By: scheduler.ByConfig,
	}
}

// Heartbeat is a turn in a chat from time to time, silent when there is nothing.
type Heartbeat struct {
	Every Duration `json:"every,omitzero" jsonschema:"How often the agent looks whether there is something to say in the chat. 0: never."`
	Chat  string   `json:"chat,omitempty" jsonschema:"The chat, by its key as /whoami prints it there."`
	File  string   `json:"file,omitempty" jsonschema:"A checklist in Markdown, read each time. While there is nothing in it but headings, no model is asked."`
}

// heartbeatMin is the shortest interval that is no mistake.
const heartbeatMin = Duration(time.Second)

// schedules checks what can be known without a connection; that a place can
// be reached is checked at the start.
func (v *validator) schedules(list []Schedule) {
	ids := map[string]int{}
	for i, s := range list {
		path := fmt.Sprintf("schedules[%d]", i)
		if first, twice := ids[s.ID]; twice && s.ID != "" {
			v.complain(path+".id", "%q is the id of schedules[%d] too", s.ID, first)
		}
		ids[s.ID] = i
		err := s.Definition().CheckDeclared(scheduler.World{Surface: surfaceProblem})
		refused, is := errors.AsType[*scheduler.RefusedError](err)
		if !is {
			continue
		}
		for _, p := range refused.Problems {
			v.complain(path+"."+p.Field, "%s", p.What)
		}
	}
}

func surfaceProblem(key string) string {
	surface, err := adapters.ParseSurface(key)
	switch {
	case err != nil:
		return "is not the key of a chat; /whoami prints it there"
	case surface.Platform == adapters.Schedule:
		return "is no place where people read"
	}
	return ""
}

func (v *validator) heartbeat(h Heartbeat) {
	switch {
	case h.Every == 0:
		return
	case h.Every < heartbeatMin:
		v.complain("heartbeat.every", "%s is too short; use at least %s, or 0 for never", h.Every, heartbeatMin)
	case h.Chat == "":
		v.complain("heartbeat.chat", "is missing; send the bot /whoami in the chat to see its key")
	default:
		if why := surfaceProblem(h.Chat); why != "" {
			v.complain("heartbeat.chat", "%q %s", h.Chat, why)
		}
	}
}
