package main

import (
	"strings"
	"time"

	"parley/test/fakeopenai"
)

// How long the model thinks: mostly shortly, sometimes longer.
const (
	quickAnswer = 20 * time.Millisecond
	slowAnswer  = 400 * time.Millisecond
	slowEvery   = 23
)

// newModel answers with the numbers it was asked about.
func newModel() (*fakeopenai.Server, error) {
	return fakeopenai.New(fakeopenai.Config{LogMax: -1, Reply: reply})
}

func reply(r fakeopenai.Request) fakeopenai.Reply {
	text := present(r)
	if strings.Contains(text, hanging) {
		return fakeopenai.Hang()
	}
	if costly, asked := siegeReply(text); asked {
		return costly
	}
	numbers := numbersIn(text)
	if len(numbers) == 0 {
		return fakeopenai.Text("<NO_REPLY>")
	}
	out := fakeopenai.Text("re" + marks(numbers))
	out.Delay = quickAnswer
	if numbers[0]%slowEvery == 0 {
		out.Delay = slowAnswer
	}
	return out
}

func marks(numbers []int) string {
	var out strings.Builder
	for _, n := range numbers {
		out.WriteString(" m" + itoa(n))
	}
	return out.String()
}
