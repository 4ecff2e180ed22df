package sessions

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestPreviewOf(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"": "", " \n\t ": "", "hello": "hello", "  two\n\nlines \t here ": "two lines here",
		strings.Repeat("ä", PreviewMax):            strings.Repeat("ä", PreviewMax),
		strings.Repeat("ä", PreviewMax+1):          strings.Repeat("ä", PreviewMax-1) + "…",
		strings.Repeat("a", PreviewMax-1) + " b c": strings.Repeat("a", PreviewMax-1) + "…",
	} {
		if got := PreviewOf(text); got != want {
			t.Errorf("PreviewOf(%q) = %q, want %q", text, got, want)
		}
	}
}

func TestOneLineHoldsItsLimit(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.String().Draw(t, "text")
		limit := rapid.IntRange(2, 40).Draw(t, "limit")
		got := oneLine(text, limit)
		if utf8.RuneCountInString(got) > limit || strings.ContainsAny(got, "\n\r\t") || got != strings.TrimSpace(got) {
			t.Fatalf("oneLine(%q, %d) = %q", text, limit, got)
		}
		if whole := strings.Join(strings.Fields(text), " "); utf8.RuneCountInString(whole) <= limit && utf8.ValidString(text) && got != whole {
			t.Fatalf("oneLine(%q, %d) = %q, want all of it", text, limit, got)
		}
	})
}

func TestReasonOf(t *testing.T) {
	t.Parallel()
	if got := ReasonOf("short"); got != "short" {
		t.Error(got)
	}
	got := ReasonOf(strings.Repeat("x", ReasonMax-1) + "ää")
	if len(got) > ReasonMax || !utf8.ValidString(got) || len(got) < ReasonMax-1 {
		t.Errorf("cut to %d bytes, valid %v", len(got), utf8.ValidString(got))
	}
}

func TestPatchApply(t *testing.T) {
	t.Parallel()
	r := Record{Name: "old", WorkingMemory: "kept", Metadata: map[string]any{"a": 1, "b": 2}, Description: "mine", DescriptionSource: DescriptionUser}
	before := r.Metadata
	err := Patch{
		Name: new("new"), Preview: new(" a\nb "), ContextTokens: new(int64(3)), Metadata: map[string]any{"a": nil, "c": 3},
		Description: &Description{Text: "its", Source: DescriptionAgent},
	}.Apply(&r)
	want := Record{Name: "new", Preview: "a b", WorkingMemory: "kept", ContextTokens: 3, Metadata: map[string]any{"b": 2, "c": 3}, Description: "mine", DescriptionSource: DescriptionUser}
	if err != nil || !cmp.Equal(r, want) {
		t.Errorf("%v: %s", err, cmp.Diff(want, r))
	}
	if !cmp.Equal(before, map[string]any{"a": 1, "b": 2}) {
		t.Error("the old metadata was changed in place")
	}
}

func TestPatchThatExceedsLeavesTheRecord(t *testing.T) {
	t.Parallel()
	half := strings.Repeat("x", MetadataMax*2/3)
	r := Record{Name: "old", Metadata: map[string]any{"a": half}}
	wantInvalid(t, Patch{Name: new("new"), Metadata: map[string]any{"b": half}}.Apply(&r))
	if r.Name != "old" || len(r.Metadata) != 1 {
		t.Errorf("half applied: %q, %d keys", r.Name, len(r.Metadata))
	}
}

func TestMergeMetadata(t *testing.T) {
	t.Parallel()
	if got := MergeMetadata(map[string]any{"a": 1}, map[string]any{"a": nil}); got != nil {
		t.Errorf("nothing is left, yet %v", got)
	}
	if got := MergeMetadata(nil, map[string]any{"a": 1}); !cmp.Equal(got, map[string]any{"a": 1}) {
		t.Errorf("got %v", got)
	}
}
