package scheduler

import (
	"time"
)

// Definition is a schedule as people write it. Exactly one of Cron, Every and
// At is set. Durations are texts such as 90s, 30m, 12h, 2d.
type Definition struct {
	ID       string `json:"id"`
	Cron     string `json:"cron,omitempty"`     // five fields, or @hourly, @daily, @weekly, @monthly, @yearly
	Every    string `json:"every,omitempty"`    // EveryMin to EveryMax, counted from when it was made
	At       string `json:"at,omitempty"`       // once: RFC 3339, or 2026-05-01 09:00 in Timezone
	Timezone string `json:"timezone,omitempty"` // IANA name; default: the Book's

	Prompt    string      `json:"prompt"`
	Agent     string      `json:"agent,omitempty"`
	Tools     []string    `json:"tools,omitempty"` // the only tools it may use; empty: none but the agent's own
	Session   SessionMode `json:"session,omitempty"`
	In        string      `json:"in,omitempty"`         // surface key: it runs in that surface's current session
	DeliverTo []string    `json:"deliver_to,omitempty"` // surface keys; empty: the result stays in the schedule's session
	ReportTo  string      `json:"report_to,omitempty"`  // surface key: where failures are told; empty: the owners

	Missed    Missed  `json:"missed,omitempty"`
	Overlap   Overlap `json:"overlap,omitempty"`
	Jitter    string  `json:"jitter,omitempty"`     // a firing is late by up to this
	TimeLimit string  `json:"time_limit,omitempty"` // of one attempt; default 10m

	// By is who made it: an identity, ByConfig or ByOperator. Its firings have
	// the maker's rights at that time.
	By string `json:"by,omitempty"`
}

// Makers that are no identities.
const (
	ByConfig   = "config"   // the configuration file
	ByOperator = "operator" // the command line or the API, by whoever holds the token
	ByGateway  = "gateway"  // the gateway itself: its chores
)

// SessionMode says in which session a firing runs.
type SessionMode string

// Session modes.
const (
	Shared SessionMode = "shared" // one for all firings; the default
	Fresh  SessionMode = "fresh"  // each firing its own
)

// Missed says what becomes of firings whose time passed while no gateway ran.
type Missed string

// Ways to treat missed firings.
const (
	MissedSkip Missed = "skip" // they are left out
	MissedOnce Missed = "once" // one run for all of them; the default
	MissedAll  Missed = "all"  // each is made up for, one after the other
)

// Overlap says what becomes of a firing whose time comes while the run before
// it still goes on.
type Overlap string

// Ways to treat overlapping firings.
const (
	OverlapSkip  Overlap = "skip"  // it is left out; the default
	OverlapQueue Overlap = "queue" // it waits
)

// Limits of a definition.
const (
	IDMax          = 64
	PromptMax      = 32 << 10 // bytes
	TargetsMax     = 20
	ToolsMax       = 50
	NameMax        = 64 // of an agent or tool, in bytes
	CronMax        = 256
	EveryMin       = time.Second
	EveryMinMember = time.Minute // of those that members make
	EveryMax       = 366 * day
	JitterMax      = time.Hour
	TimeLimitMin   = time.Second
	TimeLimitMax   = day
	// YearsAhead is how far in the future a one-shot may lie.
	YearsAhead = 10

	day = 24 * time.Hour
)

// WithDefaults fills in what was left open.
func (d Definition) WithDefaults() Definition {
	d.Timezone = orElse(d.Timezone, "UTC")
	d.Session = orElse(d.Session, Shared)
	d.Missed = orElse(d.Missed, MissedOnce)
	d.Overlap = orElse(d.Overlap, OverlapSkip)
	d.TimeLimit = orElse(d.TimeLimit, "10m")
	return d
}

func orElse[T ~string](value, otherwise T) T {
	if value == "" {
		return otherwise
	}
	return value
}

// Interval is how often it fires; 0 where it does not go by an interval, or by
// one that cannot be read.
func (d Definition) Interval() time.Duration {
	every, err := parseBetween(d.Every, EveryMin, EveryMax)
	if err != nil {
		return 0
	}
	return every
}

// sameTiming reports whether two definitions fire at the same times, so that
// a change of the rest does not disturb what is planned.
func (d Definition) sameTiming(other Definition) bool {
	return d.Cron == other.Cron && d.Every == other.Every && d.At == other.At && d.Timezone == other.Timezone
}
