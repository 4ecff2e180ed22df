package storetest

import (
	"slices"
	"testing"
)

// Memory answers as the real stores do, wherever it answers at all.
func TestMemoryIsAStore(t *testing.T) {
	t.Parallel()
	open := func(_ *testing.T, clock *Clock) Opened { return Opened{Store: NewMemory(clock.Now, nil)} }
	for _, group := range groups() {
		for _, test := range group.tests {
			if !slices.Contains(inMemory(), group.name) || slices.Contains(notInMemory(), test.name) {
				continue
			}
			t.Run(group.name+"/"+test.name, func(t *testing.T) {
				t.Parallel()
				test.run(newTrial(t, open))
			})
		}
	}
}

func TestMemoryAnswersAsTheModel(t *testing.T) {
	t.Parallel()
	open := func(_ *testing.T, clock *Clock) Opened { return Opened{Store: NewMemory(clock.Now, nil)} }
	modelAgrees(newTrial(t, open), (*random).turnsOnly)
}

// inMemory are the groups about messages, turns and answers.
func inMemory() []string {
	return []string{"tree", "collect", "lease", "commit", "tail", "outbox"}
}

// notInMemory are tests of what the model does not know: patches, reasons of
// dead letters, leaf entries that a caller writes, how long a key counts,
// activity.
func notInMemory() []string {
	return []string{
		"a patch of a commit applies", "done writes entries, rows and record together",
		"park makes a dead letter and frees the session", "a store never parks by itself",
		"a leaf entry moves the leaf", "a leaf entry to nowhere is refused whole", "entries beside the tree leave the leaf alone",
		"enqueue happens once per key, for its time", "a row that was sent leaves a receipt in its session",
	}
}
