package markdown_test

import (
	"testing"

	"parley/cmd/gateway/terminal/markdown"
	"parley/test/bombs"
)

func TestNoAnswerCostsMuchToShow(t *testing.T) { //nolint:paralleltest // it counts what is allocated
	for _, width := range []int{markdown.WidthMin, 100} {
		bombs.Defuse(t, 8<<20, func(source string) int {
			return len(markdown.Render(source, markdown.Options{Width: width, Color: true}))
		})
	}
}

func FuzzRenderCosts(f *testing.F) {
	for _, source := range bombs.All(2 << 10) {
		f.Add(source)
	}
	f.Fuzz(func(t *testing.T, source string) {
		if len(source) > bombs.Size {
			return
		}
		if allocated := bombs.Allocated(func() { markdown.Render(source, markdown.Options{Width: 80, Color: true}) }); allocated > bombs.AllocatedMax {
			t.Fatalf("%d bytes of source, %d allocated", len(source), allocated)
		}
	})
}
