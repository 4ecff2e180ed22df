package storetest

import (
	"testing"

	"parley/sessions"
)

// Opened is a store for one test, and what its backend can do besides.
type Opened struct {
	// Store is empty, shares nothing with any other test's, takes its time
	// from the clock, and is closed and removed by the test's clean-up.
	Store sessions.Store
	// Reopen closes Store and opens the same data once more, as a restart
	// does. Nil: it cannot; tests that need it are skipped.
	Reopen func(t *testing.T) sessions.Store
	// FreesHeld: Reopen proves that nobody else holds anything, so every lease,
	// lane, lock and fired timer is free after it. Otherwise they stay with
	// their holders until their times have run out.
	FreesHeld bool
	// Expire makes a session expired, behind the store's back. Nil: it
	// cannot; tests that need it are skipped.
	Expire func(t *testing.T, id string)
}

// Open opens a store for one test.
type Open func(t *testing.T, clock *Clock) Opened

// Run runs the whole suite, each test parallel to the others.
func Run(t *testing.T, open Open) {
	t.Helper()
	for _, group := range groups() {
		t.Run(group.name, func(t *testing.T) {
			t.Parallel()
			for _, test := range group.tests {
				t.Run(test.name, func(t *testing.T) {
					t.Parallel()
					test.run(newTrial(t, open))
				})
			}
		})
	}
}

type group struct {
	name  string
	tests []test
}

type test struct {
	name string
	run  func(tr *trial)
}

func groups() []group {
	return []group{
		{"records", recordTests()},
		{"find", findTests()},
		{"life", lifeTests()},
		{"leave", leaveTests()},
		{"attach", attachTests()},
		{"delete", deleteTests()},
		{"sweep", sweepTests()},
		{"notes", noteTests()},
		{"clear", clearTests()},
		{"users", userTests()},
		{"import", importTests()},
		{"archive", archiveTests()},
		{"a lost answer, then once more", repeatTests()},
		{"post", postTests()},
		{"tree", treeTests()},
		{"collect", collectTests()},
		{"lease", leaseTests()},
		{"commit", commitTests()},
		{"tail", tailTests()},
		{"retry", retryTests()},
		{"outbox", outboxTests()},
		{"timers", timerTests()},
		{"schedules", scheduleTests()},
		{"locks", lockTests()},
		{"chats", chatTests()},
		{"live", liveTests()},
		{"work", workTests()},
		{"limits", limitTests()},
		{"closing", closingTests()},
		{"many", manyTests()},
		{"model", modelTests()},
	}
}
