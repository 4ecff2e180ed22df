package metrics

import (
	"context"
	"errors"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"parley/sessions"
	"parley/sessions/storewrap"
)

// storeCall counts one operation.
type storeCall struct {
	took    prometheus.Observer
	results words[string]
}

// lasts tells a subscription, whose time is its caller's: it is not counted.
func lasts(op storewrap.Op) bool { return op == storewrap.Watch || op == storewrap.Wakes }

// called counts a call that began then and ended with err.
func (m *Metrics) called(op storewrap.Op, began time.Time, err error) error {
	if !lasts(op) {
		m.storeCalls[op].took.Observe(time.Since(began).Seconds())
		m.storeCalls[op].results.inc(storeResult(err))
	}
	return nil
}

// Results of a call to the store.
const (
	resultOK          = "ok"
	resultBusy        = "busy"        // another worker has it
	resultNothing     = "nothing"     // there was nothing to do
	resultNotFound    = "not_found"   // no such thing
	resultFenced      = "fenced"      // a late write, refused
	resultRefused     = "refused"     // the request does not fit the state, or is invalid
	resultUnavailable = "unavailable" // the store did not answer
	resultEnded       = "ended"       // the caller stopped waiting
	resultError       = "error"       // anything else
)

func storeResults() []string {
	return []string{resultOK, resultBusy, resultNothing, resultNotFound, resultFenced, resultRefused, resultUnavailable, resultEnded, resultError}
}

func storeResult(err error) string {
	if err == nil {
		return resultOK
	}
	for _, known := range []struct {
		err    error
		result string
	}{
		{sessions.ErrNothing, resultNothing}, {sessions.ErrBusy, resultBusy}, {sessions.ErrNotFound, resultNotFound},
		{sessions.ErrFenced, resultFenced}, {sessions.ErrConflict, resultRefused}, {sessions.ErrGroup, resultRefused}, {sessions.ErrQueueFull, resultRefused},
		{sessions.ErrUnavailable, resultUnavailable}, {context.DeadlineExceeded, resultUnavailable}, {context.Canceled, resultEnded},
	} {
		if errors.Is(err, known.err) {
			return known.result
		}
	}
	_, state := errors.AsType[*sessions.StateError](err)
	if _, invalid := errors.AsType[*sessions.InvalidError](err); state || invalid {
		return resultRefused
	}
	return resultError
}

func (m *Metrics) makeStore(in maker) {
	calls := in.counter("store_calls_total", "Calls of the store, by operation and result. busy, nothing and not_found are ordinary answers; fenced is a late write that was refused.", "operation", "result")
	took := in.histogram("store_call_duration_seconds", "One call of the store. operation=due is the look for work that is due.", storeBuckets(), "operation")
	for op := range storewrap.Ops {
		if lasts(op) {
			continue
		}
		name := op.Word()
		m.storeCalls[op] = storeCall{took: took.WithLabelValues(name), results: wordsOf(calls.MustCurryWith(prometheus.Labels{"operation": name}), storeResults())}
	}
	m.due = in.gauge("due_items", "Work that was due at this replica's last look, at most as much as one look returns.").WithLabelValues()
}
