package demo

import (
	"context"
	"strings"
	"time"
	"unicode/utf8"

	"parley/agent"
	"parley/internal/pause"
)

// Name is the model's name, in answers and in status lines.
const Name = "demo"

// pieceMin is the length in bytes at which a streamed piece ends with the next word.
const pieceMin = 12

// SlowPause is how long the slow answer waits between two of its words.
const SlowPause = 400 * time.Millisecond

// Options changes how the model waits. The zero value waits in real time.
type Options struct {
	// Wait returns nil after the pause, or the context's error as soon as it ends.
	Wait func(ctx context.Context, pause time.Duration) error
}

// Model is the demo. It is safe for use by many goroutines and keeps nothing.
type Model struct {
	wait func(context.Context, time.Duration) error
}

var (
	_ agent.Model  = (*Model)(nil)
	_ agent.Prober = (*Model)(nil)
)

// New gives a demo model.
func New(options Options) *Model {
	if options.Wait == nil {
		options.Wait = wait
	}
	return &Model{wait: options.Wait}
}

// Name is "demo".
func (m *Model) Name() string { return Name }

// Probe always succeeds: there is nothing to reach.
func (m *Model) Probe(context.Context) error { return nil }

// Complete answers the last message by its keyword; see the package's Keywords.
// Asked for a checkpoint's notes it counts, and says that it only counts.
// Equal requests get equal answers. MaxTokens is not looked at: the longest
// answer is a fixed text.
func (m *Model) Complete(ctx context.Context, request agent.Request, onText func(string)) (agent.Answer, error) {
	answer := agent.Answer{Model: Name}
	if in, is := agent.CheckpointOf(request); is {
		answer.Text, answer.FinishReason = notes(in), "stop"
		if onText != nil {
			onText(answer.Text)
		}
		return answer, ctx.Err()
	}
	heard := listen(request)
	if heard.keyword == keyFail {
		return answer, failure()
	}
	var said strings.Builder
	err := m.say(ctx, heard, reply(heard, request), func(piece string) {
		said.WriteString(piece)
		if onText != nil {
			onText(piece)
		}
	})
	answer.Text = said.String()
	if err == nil {
		answer.FinishReason = "stop"
	}
	return answer, err
}

// say hands text out in pieces, each a few words, until ctx ends.
func (m *Model) say(ctx context.Context, heard heard, text string, onText func(string)) error {
	for text != "" {
		if err := ctx.Err(); err != nil {
			return err
		}
		piece := firstPiece(text)
		text = text[len(piece):]
		onText(piece)
		if heard.keyword == keySlow && text != "" {
			if err := m.wait(ctx, SlowPause); err != nil {
				return err
			}
		}
	}
	return ctx.Err()
}

// firstPiece ends behind a space or line break, or within a very long word
// between two characters.
func firstPiece(text string) string {
	const pieceMax = 4 * pieceMin
	if len(text) <= pieceMin {
		return text
	}
	if end := strings.IndexAny(text[pieceMin:min(len(text), pieceMax)], " \n"); end >= 0 {
		return text[:pieceMin+end+1]
	}
	end := min(len(text), pieceMax)
	for end < len(text) && !utf8.RuneStart(text[end]) {
		end++
	}
	return text[:end]
}

func wait(ctx context.Context, d time.Duration) error {
	if pause.For(ctx, d) {
		return nil
	}
	return ctx.Err()
}

func failure() error {
	return &agent.ModelError{Kind: agent.KindUnavailable, Reason: `the demo model was asked to fail (keyword "fail")`}
}
