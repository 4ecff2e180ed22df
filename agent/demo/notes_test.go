package demo_test

import (
	"strings"
	"testing"

	"parley/agent"
	"parley/agent/demo"
)

// The demo's notes are of the form that is asked for, and say what they are.
func TestNotes(t *testing.T) {
	t.Parallel()
	for name, said := range map[string][]agent.CheckpointLine{
		"nothing": nil, "one": {{Text: "fail"}}, "two": {{Text: "help \"\n"}, {Text: strings.Repeat("y", 500)}},
	} {
		request, err := agent.CheckpointRequest(agent.CheckpointInput{Said: said})
		if err != nil {
			t.Fatal(err)
		}
		shown := ""
		answer, err := demo.New(demo.Options{}).Complete(t.Context(), request, func(piece string) { shown += piece })
		if err != nil || shown != answer.Text {
			t.Fatalf("%s: %q, %v", name, shown, err)
		}
		notes, err := agent.ReadCheckpoint(answer.Text)
		if err != nil || !strings.HasPrefix(notes.Description, "(demo)") || !strings.Contains(notes.WorkingMemory, "understands nothing") {
			t.Errorf("%s: %+v, %v", name, notes, err)
		}
	}
}
