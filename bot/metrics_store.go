package bot

import (
	"context"
	"errors"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"parley/sessions"
)

// operation is one method of the store that is counted.
type operation int

// Operations. What is not here (Close, and
// the subscriptions, which last) passes uncounted.
const (
	opOpen operation = iota
	opGet
	opBound
	opUpdate
	opRotate
	opRange
	opPost
	opClaim
	opRenew
	opAppend
	opCommit
	opStop
	opAgain
	opDeadLetters
	opReplay
	opDropDead
	opEnqueue
	opTake
	opSettle
	opSetTimer
	opCancelTimer
	opFire
	opFinishTimer
	opLock
	opSaveLock
	opUnlock
	opListChat
	opUnlistChat
	opChatListed
	opMoveChat
	opPublish
	opDue
	opPing
	opFind
	opAttach
	opDetach
	opTouch
	opExpire
	opDelete
	opDiscard
	opSweep
	opNote
	opClear
	opImport
	opWho
	opSetRole
	opOfferLink
	opTakeLink
	opListUsers
	opDump
	opRestore
	opSaveSchedule
	opSchedule
	opListSchedules
	opRemoveSchedule
	opScheduleRuns
	operations
)

func operationNames() [operations]string {
	return [operations]string{
		opOpen:           "open",
		opGet:            "get",
		opBound:          "bound",
		opUpdate:         "update",
		opRotate:         "rotate",
		opRange:          "range",
		opPost:           "post",
		opClaim:          "claim",
		opRenew:          "renew",
		opAppend:         "append",
		opCommit:         "commit",
		opStop:           "stop",
		opAgain:          "again",
		opDeadLetters:    "dead_letters",
		opReplay:         "replay",
		opDropDead:       "drop_dead",
		opEnqueue:        "enqueue",
		opTake:           "take",
		opSettle:         "settle",
		opSetTimer:       "set_timer",
		opCancelTimer:    "cancel_timer",
		opFire:           "fire",
		opFinishTimer:    "finish_timer",
		opLock:           "lock",
		opSaveLock:       "save_lock",
		opUnlock:         "unlock",
		opListChat:       "list_chat",
		opUnlistChat:     "unlist_chat",
		opChatListed:     "chat_listed",
		opMoveChat:       "move_chat",
		opPublish:        "publish",
		opDue:            "due",
		opPing:           "ping",
		opFind:           "find",
		opAttach:         "attach",
		opDetach:         "detach",
		opTouch:          "touch",
		opExpire:         "expire",
		opDelete:         "delete",
		opDiscard:        "discard",
		opSweep:          "sweep",
		opNote:           "note",
		opClear:          "clear",
		opImport:         "import",
		opWho:            "who",
		opSetRole:        "set_role",
		opOfferLink:      "offer_link",
		opTakeLink:       "take_link",
		opListUsers:      "list_users",
		opDump:           "dump",
		opRestore:        "restore",
		opSaveSchedule:   "save_schedule",
		opSchedule:       "schedule",
		opListSchedules:  "list_schedules",
		opRemoveSchedule: "remove_schedule",
		opScheduleRuns:   "schedule_runs",
	}
}

// storeCall counts one operation.
type storeCall struct {
	took    prometheus.Observer
	results words[string]
}

// done counts a call that began then and ended with *err.
func (c *storeCall) done(began time.Time, err *error) {
	c.took.Observe(time.Since(began).Seconds())
	c.results.inc(storeResult(*err))
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
	if _, state := errors.AsType[*sessions.StateError](err); state || isInvalid(err) {
		return resultRefused
	}
	return resultError
}

func (m *Metrics) makeStore(in maker) {
	calls := in.counter("store_calls_total", "Calls of the store, by operation and result. busy, nothing and not_found are ordinary answers; fenced is a late write that was refused.", "operation", "result")
	took := in.histogram("store_call_duration_seconds", "One call of the store. operation=due is the look for work that is due.", storeBuckets(), "operation")
	for i, name := range operationNames() {
		m.storeCalls[i] = storeCall{took: took.WithLabelValues(name), results: wordsOf(calls.MustCurryWith(prometheus.Labels{"operation": name}), storeResults())}
	}
	m.due = in.gauge("due_items", "Work that was due at this replica's last look, at most as much as one look returns.").WithLabelValues()
}
