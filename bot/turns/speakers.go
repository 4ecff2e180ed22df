package turns

import (
	"slices"

	"parley/agent"
	"parley/routing"
	"parley/sessions"
)

// speakersMax bounds how many of those who speak in a group the prompt tells
// the role of; those who spoke last come first.
const speakersMax = 50

// speakers are those whose messages a model reads, and which of them have a
// name that passes for another's.
type speakers struct {
	newest []*sessions.Sender         // of each id, the newest first
	alike  map[string]map[string]bool // the ids behind each name
}

// speakersOf finds the speakers of a group. Pure.
func speakersOf(read reading) speakers {
	out := speakers{alike: map[string]map[string]bool{}}
	seen := map[string]bool{}
	look := func(lines []sessions.Line) {
		for _, line := range slices.Backward(lines) {
			m := line.Message
			if m == nil || m.Sender == nil || m.Role != sessions.RoleUser {
				continue
			}
			name := routing.LookAlike(m.Sender.Name, m.Sender.ID)
			if out.alike[name] == nil {
				out.alike[name] = map[string]bool{}
			}
			out.alike[name][m.Sender.ID] = true
			if !seen[m.Sender.ID] {
				seen[m.Sender.ID] = true
				out.newest = append(out.newest, m.Sender)
			}
		}
	}
	for _, block := range slices.Backward(read.Present) {
		look(block.Lines)
	}
	look(read.Unheard)
	for _, block := range slices.Backward(read.History) {
		look(block.Lines)
	}
	return out
}

// namesake reports whether another speaker's name passes for this one's.
func (s speakers) namesake(who sessions.Sender) bool {
	return len(s.alike[routing.LookAlike(who.Name, who.ID)]) > 1
}

// roles are what the speakers are, as of their newest messages.
func (s speakers) roles() []agent.Speaker {
	var out []agent.Speaker
	for _, who := range s.newest[:min(len(s.newest), speakersMax)] {
		if who.Role != "" {
			out = append(out, agent.Speaker{Label: routing.SpeakerLabel(who.Name, who.ID, s.namesake(*who)), Role: who.Role})
		}
	}
	return out
}
