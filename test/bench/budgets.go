package main

import (
	"fmt"
	"math"
	"slices"
)

// measure names a figure; with a store's name before it, "sqlite/turns", it is
// the figure's id.
type measure string

// The measures.
const (
	measurePosts        measure = "posts"
	measurePostTrips    measure = "posts.trips"
	measurePostAllocs   measure = "posts.allocs"
	measureP50          measure = "turn.p50"
	measureP99          measure = "turn.p99"
	measurePlatform50   measure = "platform.p50"
	measurePlatform99   measure = "platform.p99"
	measureTurns        measure = "turns"
	measureShare        measure = "turns.share"
	measureTurnCPU      measure = "turns.cpu"
	measurePostCPU      measure = "posts.cpu"
	measureTurnTrips    measure = "turn.trips"
	measureTurnAllocs   measure = "turn.allocs"
	measureLongPost     measure = "long.post"
	measureLongTurn     measure = "long.turn"
	measureReplicas     measure = "replicas.cpu"
	measureSessionBytes measure = "session.bytes"
	measureStart        measure = "start"
	measureIdleRSS      measure = "rss.idle"
	measureLiveRSS      measure = "rss.live"
	measureFind         measure = "million.find"
	measureSweep        measure = "million.sweep"
	measureManyStart    measure = "million.start"
	measureManyRSS      measure = "million.rss"
)

// meaning is what a measure tells people.
type meaning struct {
	measure measure
	text    string
	unit    string
	digits  int
	long    bool // only a long run says enough to be judged
}

// meanings are all measures in the order they are shown.
func meanings() []meaning {
	return []meaning{
		{measurePosts, "group messages that do not trigger, durable", "/s", 0, true},
		{measurePostCPU, "  one: CPU of gateway and store", "ms", 3, true},
		{measurePostTrips, "  one: store round trips", "", 2, false},
		{measurePostAllocs, "  one: allocations", "", 0, false},
		{measureLongPost, "  one in a long session / in a short one", "×", 2, true},
		{measureTurns, "turns of 200 chats, durable", "/s", 0, true},
		{measureShare, "  share of the raw limit", "%", 0, true},
		{measureTurnCPU, "  one: CPU of gateway, store and fakes", "ms", 3, true},
		{measureP50, "one turn, event received → reply at the platform, p50", "ms", 2, true},
		{measureP99, "  p99", "ms", 2, true},
		{measurePlatform50, "  person's message → reply, both at the platform, p50", "ms", 2, true},
		{measurePlatform99, "  p99", "ms", 2, true},
		{measureTurnTrips, "  one: store round trips", "", 2, false},
		{measureTurnAllocs, "  one: allocations", "", 0, false},
		{measureLongTurn, "  one in a long session / in a short one", "×", 2, true},
		{measureReplicas, "  CPU of one among two replicas / of one replica alone", "×", 2, true},
		{measureSessionBytes, "idle session in Redis besides its entries", "B", 0, true},
		{measureStart, "gateway, start → ready on an empty store", "ms", 0, true},
		{measureIdleRSS, "  resident memory, idle", "MB", 1, true},
		{measureLiveRSS, "  resident memory, 200 chats with a running turn each", "MB", 1, true},
		{measureFind, "among 1,000,000 sessions: a page found by the slowest filter, p50", "ms", 1, true},
		{measureSweep, "  sweep of 1,000 stale ones / among 10,000 sessions", "×", 2, true},
		{measureManyStart, "  gateway, start → ready", "ms", 0, true},
		{measureManyRSS, "  resident memory, idle", "MB", 1, true},
	}
}

// place is where a measure stands among all; -1: there is none of that name.
func (m measure) place() int {
	return slices.IndexFunc(meanings(), func(known meaning) bool { return known.measure == m })
}

// meaning is the zero value for a measure that there is not.
func (m measure) meaning() meaning {
	if i := m.place(); i >= 0 {
		return meanings()[i]
	}
	return meaning{}
}

// noRaw stands for the raw limit of a figure that has none.
func noRaw() float64 { return math.NaN() }

// budget is what a figure must reach.
type budget struct {
	limit float64
	least bool // the figure must be at least limit; else at most
	text  string
}

func atMost(limit float64, text string) *budget { return &budget{limit: limit, text: "≤ " + text} }
func atLeast(limit float64, text string) *budget {
	return &budget{limit: limit, least: true, text: "≥ " + text}
}

// reaches reports whether value is good enough for a limit.
func (b budget) reaches(value, limit float64) bool {
	if b.least {
		return value >= limit
	}
	return value <= limit
}

// tripsTolerance is what a round trip in the background may add to the average
// of one message.
const tripsTolerance = 0.1

// budgetOf is the budget of a figure; nil: it has none.
func budgetOf(store string, m measure, raw float64) *budget {
	onRedis := store != sqliteName
	switch {
	case m == measurePosts && onRedis:
		return atLeast(10_000, "10,000/s")
	case m == measurePosts:
		return atLeast(3_000, "3,000/s")
	case m == measurePostTrips:
		return atMost(1+tripsTolerance, "1")
	case m == measureTurnTrips:
		return atMost(3+tripsTolerance, "3")
	case m == measureFind && onRedis:
		return atMost(10, "10 ms")
	case m == measureFind:
		return atMost(20, "20 ms")
	case m == measureP50 && store == redisName+"everysec":
		return atMost(2.5, "2.5 ms")
	case m == measureP99 && store == redisName+"everysec":
		return atMost(10, "10 ms")
	case m == measureP50 && store == redisName+"always":
		return atMost(raw+4, fmt.Sprintf("raw + 4 = %.2f ms", raw+4))
	}
	return budgetOfAny(m)
}

// budgetOfAny is the budget of a figure that is the same on every store.
func budgetOfAny(m measure) *budget {
	switch m {
	case measureTurns:
		return atLeast(1_500, "1,500/s")
	case measureShare:
		return atLeast(40, "40 %")
	case measureLongPost, measureLongTurn:
		return atMost(1.2, "1.2 ×")
	case measureReplicas:
		return atMost(1.15, "1.15 ×")
	case measureSessionBytes:
		return atMost(2048, "2,048 B")
	case measureStart:
		return atMost(100, "100 ms")
	case measureIdleRSS:
		return atMost(30, "30 MB")
	case measureSweep:
		return atMost(1.5, "1.5 ×")
	case measureManyStart:
		return atMost(1000, "1,000 ms")
	case measureManyRSS:
		return atMost(50, "30 + 20 MB")
	case measureLiveRSS:
		return atMost(60, "60 MB")
	}
	return nil
}
