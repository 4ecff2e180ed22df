package adaptertest

import (
	"fmt"
	"testing"
)

// Run runs the suite: every test in a world of its own, all in parallel. The
// caller's TestMain should fail on goroutines that are left, which is how the
// suite sees that adapters stop cleanly.
func Run(t *testing.T, world func(t *testing.T) World) {
	t.Helper()
	tests := map[string]func(*stage){
		"Surfaces":          testSurfaces,
		"SuccessorSurfaces": testSuccessorSurfaces,
		"Addressed":         testAddressed,
		"OwnMessages":       testOwnMessages,
		"Senders":           testSenders,
		"Duplicate":         testDuplicate,
		"Edits":             testEdits,
		"Leaving":           testLeaving,
		"Strange":           testStrange,
		"NotTaken":          testNotTaken,
		"Killed":            testKilled,
		"Order":             testOrder,
		"Reconnect":         testReconnect,
		"Send":              testSend,
		"SplitFits":         testSplitFits,
		"SplitKeeps":        testSplitKeeps,
		"TextMax":           testTextMax,
		"SendTwice":         testSendTwice,
		"LookUp":            testLookUp,
		"ReplyToNothing":    testReplyToNothing,
		"SendFaults":        testSendFaults,
		"SendTimeout":       testSendTimeout,
		"SendLate":          testSendLate,
		"SendUnreachable":   testSendUnreachable,
		"Deaf":              testDeaf,
		"Revoked":           testRevoked,
		"RefusedAtStart":    testRefusedAtStart,
		"Stop":              testStop,
		"StopBeforeHearing": testStopBeforeHearing,
		"Optional":          testOptional,
		"Diagnose":          testDiagnose,
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(newStage(t, world))
		})
	}
}

func sprint(err error) string { return fmt.Sprintf("%v %+v %#v", err, err, err) }
