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
	newest []*sessions.Sender // of each id, the newest first
	voices []voice            // one for each spelling of a name; they are few
}

// voice is what is found out once about how somebody writes their name.
type voice struct {
	name, id string
	look     string // what the name passes for
	label    string // made when it is needed
}

// speakersOf finds the speakers of a group. Pure.
func speakersOf(read reading) speakers {
	var out speakers
	for _, block := range slices.Backward(read.Present) {
		out.hear(block.Lines)
	}
	out.hear(read.Unheard)
	for _, block := range slices.Backward(read.History) {
		out.hear(block.Lines)
	}
	return out
}

func (s *speakers) hear(lines []sessions.Line) {
	for _, line := range slices.Backward(lines) {
		m := line.Message
		if m == nil || m.Sender == nil || m.Role != sessions.RoleUser || s.voice(*m.Sender) != nil {
			continue
		}
		who := m.Sender
		s.voices = append(s.voices, voice{name: who.Name, id: who.ID, look: routing.LookAlike(who.Name, who.ID)})
		if !slices.ContainsFunc(s.newest, func(other *sessions.Sender) bool { return other.ID == who.ID }) {
			s.newest = append(s.newest, who)
		}
	}
}

func (s *speakers) voice(who sessions.Sender) *voice {
	for i := range s.voices {
		if v := &s.voices[i]; v.id == who.ID && v.name == who.Name {
			return v
		}
	}
	return nil
}

// label is who speaks, as the model reads it. The id stands behind a name that
// passes for another speaker's.
func (s *speakers) label(who sessions.Sender) string {
	v := s.voice(who)
	if v == nil {
		return routing.SpeakerLabel(who.Name, who.ID, false)
	}
	if v.label == "" {
		alike := slices.ContainsFunc(s.voices, func(other voice) bool { return other.look == v.look && other.id != v.id })
		v.label = routing.SpeakerLabel(v.name, v.id, alike)
	}
	return v.label
}

// roles are what the speakers are, as of their newest messages.
func (s *speakers) roles() []agent.Speaker {
	var out []agent.Speaker
	for _, who := range s.newest[:min(len(s.newest), speakersMax)] {
		if who.Role != "" {
			out = append(out, agent.Speaker{Label: s.label(*who), Role: who.Role})
		}
	}
	return out
}
