package sessions

import (
	"maps"
	"strings"
)

// PreviewOf is the preview of a message: its text on one line, cut to
// [PreviewMax] runes.
func PreviewOf(text string) string { return oneLine(text, PreviewMax) }

// DescriptionOf is the fallback description drawn from a first message: its
// text on one line, cut to [DescriptionMax] runes.
func DescriptionOf(text string) string { return oneLine(text, DescriptionMax) }

// oneLine joins the words of text with single spaces; what is longer than
// limit runes ends with an ellipsis. It looks at no more of a long text than
// it needs.
func oneLine(text string, limit int) string {
	var line strings.Builder
	runes := 0
	for word := range strings.FieldsSeq(text) {
		if runes > 0 {
			line.WriteByte(' ')
			runes++
		}
		for _, r := range word {
			line.WriteRune(r)
			runes++
		}
		if runes > limit {
			return strings.TrimRight(string([]rune(line.String())[:limit-1]), " ") + "…"
		}
	}
	return line.String()
}

// ReasonOf cuts a reason to [ReasonMax] bytes, at a rune's end.
func ReasonOf(reason string) string {
	if len(reason) <= ReasonMax {
		return reason
	}
	return strings.ToValidUTF8(reason[:ReasonMax], "")
}

// descriptionRank orders description sources; 0 is no source.
func descriptionRank(s DescriptionSource) int {
	switch s {
	case DescriptionFallback:
		return 1
	case DescriptionAgent:
		return 2
	case DescriptionUser:
		return 3
	}
	return 0
}

// Describe sets the description unless a stronger source wrote the one there is.
// An empty text takes it away, and then every source may write one.
func (r *Record) Describe(d Description) {
	if descriptionRank(d.Source) < descriptionRank(r.DescriptionSource) {
		return
	}
	if r.Description, r.DescriptionSource = DescriptionOf(d.Text), d.Source; r.Description == "" {
		r.DescriptionSource = ""
	}
}

// Apply changes the record as the patch says. The *InvalidError of
// [checkMetadata] leaves the record as it was.
func (p Patch) Apply(r *Record) error {
	merged := MergeMetadata(r.Metadata, p.Metadata)
	if err := checkMetadata(merged); err != nil {
		return err
	}
	r.Metadata = merged
	set(&r.Name, p.Name)
	set(&r.WorkingMemory, p.WorkingMemory)
	set(&r.Agent, p.Agent)
	set(&r.ContextTokens, p.ContextTokens)
	set(&r.Checkpoint, p.Checkpoint)
	if p.Preview != nil {
		r.Preview = PreviewOf(*p.Preview)
	}
	if p.Description != nil {
		r.Describe(*p.Description)
	}
	return nil
}

func set[T any](field, value *T) {
	if value != nil {
		*field = *value
	}
}

// MergeMetadata is a copy of old with the keys of changes; a nil value removes
// its key. Nil if nothing is left.
func MergeMetadata(old, changes map[string]any) map[string]any {
	if len(changes) == 0 {
		return old
	}
	merged := make(map[string]any, len(old)+len(changes))
	maps.Copy(merged, old)
	for key, value := range changes {
		if value == nil {
			delete(merged, key)
			continue
		}
		merged[key] = value
	}
	if len(merged) == 0 {
		return nil
	}
	return merged
}
