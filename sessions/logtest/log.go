package logtest

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"testing"
	"time"

	"pgregory.net/rapid"

	"parley/sessions"
)

// Log is a log by seq, without gaps but for what was cleared, and how often
// and how much was read of it.
type Log struct {
	Entries            []sessions.Entry
	Calls, EntriesRead int
	Fail               error // what Range returns, if anything
}

// Range is that of [sessions.Log], of the one session there is.
func (l *Log) Range(_ context.Context, _ string, from, to int64) ([]sessions.Entry, error) {
	if l.Fail != nil {
		return nil, l.Fail
	}
	var out []sessions.Entry
	begin, _ := slices.BinarySearchFunc(l.Entries, from, func(e sessions.Entry, seq int64) int { return int(e.Seq - seq) })
	for _, e := range l.Entries[begin:] {
		if e.Seq > to || len(out) == sessions.EntriesPerCall {
			break
		}
		out = append(out, e)
	}
	l.Calls++
	l.EntriesRead += len(out)
	return out, nil
}

// Read is the branch that a request asks for.
func Read(tb testing.TB, l *Log, request sessions.BranchRequest) []sessions.Line {
	tb.Helper()
	path, err := sessions.ReadBranch(tb.Context(), l, request)
	if err != nil {
		tb.Fatal(err)
	}
	return path
}

// Day is when the entries of the logs were written, but for seconds.
func Day() time.Time { return time.Date(2026, 3, 2, 10, 0, 0, 123e6, time.UTC) }

// Entry is an entry below the one before it.
func Entry(tb testing.TB, seq int64, kind sessions.EntryType, payload any) sessions.Entry {
	tb.Helper()
	encoded, err := json.Marshal(payload)
	if err != nil {
		tb.Fatal(err)
	}
	return sessions.Entry{Seq: seq, Parent: seq - 1, Type: kind, Payload: encoded, Time: time.Date(2026, 3, 2, 10, 0, int(seq), 0, time.UTC)}
}

// Chain is a log of n messages of a person, "m1" to "mn", each below the one
// before it.
func Chain(n int64) *Log {
	log := &Log{}
	for seq := int64(1); seq <= n; seq++ {
		text := json.RawMessage(`{"role":"user","text":"m` + strconv.FormatInt(seq, 10) + `","triggered":true}`)
		log.Entries = append(log.Entries, sessions.Entry{Seq: seq, Parent: seq - 1, Type: sessions.EntryMessage, Time: after(seq), Payload: text})
	}
	return log
}

func after(seq int64) time.Time { return Day().Add(time.Duration(seq) * time.Second) }

// Random is a log with entries whose parents are any other entry of the tree
// that is no descendant.
func Random(rt *rapid.T) *Log {
	n := rapid.IntRange(1, 600).Draw(rt, "entries")
	log := &Log{}
	var placed []int64
	order := rapid.Permutation(numbers(n)).Draw(rt, "order")
	near := rapid.Bool().Draw(rt, "near")
	parents := make(map[int64]int64, n)
	for i, seq := range order {
		if near {
			seq = int64(i) + 1
		}
		if seq%7 == 0 {
			continue
		}
		if len(placed) > 0 {
			back := rapid.IntRange(1, min(len(placed), 3)).Draw(rt, "back")
			parents[seq] = placed[len(placed)-back]
		}
		placed = append(placed, seq)
	}
	for seq := int64(1); seq <= int64(n); seq++ {
		kind := sessions.EntryMessage
		if seq%7 == 0 {
			kind = sessions.EntryTurn
		}
		text := json.RawMessage(`{"role":"user","text":"` + strconv.FormatInt(seq, 10) + `"}`)
		log.Entries = append(log.Entries, sessions.Entry{Seq: seq, Parent: parents[seq], Type: kind, Time: after(seq), Payload: text})
	}
	return log
}

func numbers(n int) []int64 {
	out := make([]int64, n)
	for i := range out {
		out[i] = int64(i) + 1
	}
	return out
}
