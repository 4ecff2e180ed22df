package routing

import (
	"bytes"
	"strings"
)

// SilenceMarker is what the model is told to write when it has nothing to say.
const SilenceMarker = "<NO_REPLY>"

// legacySilenceMarker is understood as well.
const legacySilenceMarker = "<EMPTY_RESPONSE>"

// stressMarks stood around a marker: alone they would be shown as a rule.
const stressMarks = "`*_~"

// markerMax is the length of the longest marker in bytes.
const markerMax = len(legacySilenceMarker)

// StripSilence takes the silence markers out of a reply.
//
// Every marker goes, in any letter case, wherever it stands; back-ticks that
// touch it on both sides go with it, as many as match; white space around what
// went becomes one space. That is repeated from left to right until no marker
// is left, also none that the removal of another one made. Then the ends are
// trimmed, and a rest of nothing but back-ticks, stress marks and white space is
// nothing.
//
// marked says that there was a marker; without one, shown is reply, byte for
// byte. silent says that there was one and nothing is left to show; an empty
// reply without a marker is not silent.
func StripSilence(reply string) (shown string, silent, marked bool) {
	return strip(reply, false)
}

// StripReply takes off a reply all that people must not see: silence markers
// as by [StripSilence] and, for a group's reply, then a leading label as by
// [StripLabel]. Of a marked reply a label alone is nothing.
func StripReply(reply string, group bool) (shown string, silent, marked bool) {
	return strip(reply, group)
}

func strip(reply string, labels bool) (shown string, silent, marked bool) {
	if !labels && strings.IndexByte(reply, '<') < 0 {
		return reply, false, false
	}
	stripper := Stripper{Labels: labels}
	shown = stripper.Write(reply)
	rest, silent := stripper.Close()
	return shown + rest, silent, stripper.marked
}

type ending int

const (
	endsOtherwise ending = iota
	endsInFragment
	endsInMarker
)

// endOf says whether text ends in a whole marker or in the beginning of one,
// and how long that is.
func endOf(text []byte) (ending, int) {
	window := text[max(0, len(text)-markerMax):]
	start := bytes.LastIndexByte(window, '<')
	if start < 0 {
		return endsOtherwise, 0
	}
	tail := window[start:]
	for _, marker := range [...]string{SilenceMarker, legacySilenceMarker} {
		if !beginsMarker(tail, marker) {
			continue
		}
		if len(tail) == len(marker) {
			return endsInMarker, len(tail)
		}
		return endsInFragment, len(tail)
	}
	return endsOtherwise, 0
}

// beginsMarker: only ASCII letters have another case here.
func beginsMarker(tail []byte, marker string) bool {
	if len(tail) > len(marker) {
		return false
	}
	for i, c := range tail {
		if 'a' <= c && c <= 'z' {
			c -= 'a' - 'A'
		}
		if c != marker[i] {
			return false
		}
	}
	return true
}
