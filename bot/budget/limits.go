package budget

import (
	"time"

	"parley/routing"
)

// Rate bounds turns: how many at once, and how many begin a minute. A minute's
// worth may begin together. 0: no bound.
type Rate struct {
	AtOnce  int
	AMinute int
}

// Limits are the budgets. They bind everybody but owners.
type Limits struct {
	Turns     int  // of the gateway at once; above 0
	Reserve   int  // how many of them only owners have
	Members   Rate // each member
	Guests    Rate // each guest; also at most a tenth of Turns at once
	Chats     Rate // each chat, threads and topics together
	Schedules Rate // the schedules of each maker, together
}

// Ask is a turn that wants to run.
type Ask struct {
	Person   string // whose it is; empty: it is not known
	Chat     string // where it was said; empty for schedules
	Role     routing.Role
	Schedule bool // a schedule of the person's asks
}

// Use is what somebody has.
type Use struct {
	Running int     // turns now
	Spent   float64 // of the minute's worth; it runs off evenly
}

// Reason says which budget is used up. Empty: none.
type Reason string

// Reasons.
const (
	PersonBusy  Reason = "person at once"
	PersonSpent Reason = "person a minute"
	ChatBusy    Reason = "chat at once"
	ChatSpent   Reason = "chat a minute"
	Full        Reason = "reserve for owners"
)

// Decide says whether a turn may run beside what its person and its chat have,
// and all turns that are no owner's. wait is the shortest time after which the
// answer can be another one.
func (l Limits) Decide(ask Ask, person, chat Use, others int) (reason Reason, wait time.Duration) {
	if ask.Role == routing.Owner {
		return "", 0
	}
	rate := l.rate(ask)
	for _, bound := range []struct {
		reason Reason
		over   bool
		wait   time.Duration
	}{
		{PersonBusy, rate.AtOnce > 0 && person.Running >= rate.AtOnce, 0},
		{PersonSpent, rate.spent(person) > 0, rate.spent(person)},
		{ChatBusy, !ask.Schedule && l.Chats.AtOnce > 0 && chat.Running >= l.Chats.AtOnce, 0},
		{ChatSpent, !ask.Schedule && l.Chats.spent(chat) > 0, l.Chats.spent(chat)},
		{Full, others >= max(1, l.Turns-l.Reserve), 0},
	} {
		if bound.over {
			return bound.reason, bound.wait
		}
	}
	return "", 0
}

// rate is what binds whoever asks.
func (l Limits) rate(ask Ask) Rate {
	switch {
	case ask.Schedule:
		return l.Schedules
	case ask.Role == routing.Member:
		return l.Members
	}
	rate, tenth := l.Guests, max(1, l.Turns/10)
	if rate.AtOnce == 0 || rate.AtOnce > tenth {
		rate.AtOnce = tenth
	}
	return rate
}

// spent is how long it takes until there is one of the minute's worth; 0: there
// is.
func (r Rate) spent(use Use) time.Duration {
	if r.AMinute == 0 {
		return 0
	}
	over := use.Spent + 1 - float64(r.AMinute)
	return max(0, time.Duration(over/float64(r.AMinute)*float64(time.Minute)))
}
