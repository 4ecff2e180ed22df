package config

import "strconv"

// Limits say how the turns of one gateway are shared out. 0 is the default.
type Limits struct {
	Turns     int  `json:"turns,omitempty" jsonschema:"Turns at once; more wait in the store. Default: 1000."`
	Reserve   int  `json:"reserve,omitempty" jsonschema:"How many of them only owners have. Default: a tenth."`
	Members   Rate `json:"members,omitzero" jsonschema:"What each member may have. Default: 20 at once, 60 a minute."`
	Guests    Rate `json:"guests,omitzero" jsonschema:"What each guest may have, and never more than a tenth of the turns at once. Default: 5 at once, 15 a minute."`
	Chats     Rate `json:"chats,omitzero" jsonschema:"What all who are no owners may have in one chat, its threads and topics together. Default: 20 at once, 120 a minute."`
	Schedules Rate `json:"schedules,omitzero" jsonschema:"What the schedules of one member may have, together. Default: 10 at once, 30 a minute."`
}

// Rate bounds turns.
type Rate struct {
	AtOnce  int `json:"at_once,omitempty" jsonschema:"Turns at the same time."`
	AMinute int `json:"a_minute,omitempty" jsonschema:"Turns that begin in a minute; a minute's worth may begin together."`
}

// Defaults of Limits.
const (
	TurnsDefault = 1000
	limitMax     = 1_000_000
)

func (l Limits) withDefaults() Limits {
	orDefault(&l.Turns, TurnsDefault)
	orDefault(&l.Reserve, max(1, l.Turns/10))
	l.Members.orElse(20, 60)
	l.Guests.orElse(5, 15)
	l.Chats.orElse(20, 120)
	l.Schedules.orElse(10, 30)
	return l
}

func (r *Rate) orElse(atOnce, aMinute int) {
	orDefault(&r.AtOnce, atOnce)
	orDefault(&r.AMinute, aMinute)
}

func (v *validator) limits(l Limits) {
	v.bounded("limits.turns", l.Turns)
	v.bounded("limits.reserve", l.Reserve)
	for _, rate := range []struct {
		path string
		Rate
	}{{"limits.members", l.Members}, {"limits.guests", l.Guests}, {"limits.chats", l.Chats}, {"limits.schedules", l.Schedules}} {
		v.bounded(rate.path+".at_once", rate.AtOnce)
		v.bounded(rate.path+".a_minute", rate.AMinute)
	}
	if l.Turns > 1 && l.Reserve >= l.Turns {
		v.complain("limits.reserve", "%d of %d turns leaves none for anybody else; use less", l.Reserve, l.Turns)
	}
}

func (v *validator) bounded(path string, n int) {
	if n < 1 || n > limitMax {
		v.complain(path, "%s is not possible; use 1 to %d", strconv.Itoa(n), limitMax)
	}
}
