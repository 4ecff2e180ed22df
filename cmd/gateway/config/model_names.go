package config

import "time"

// The names of models, and when some of them end, as the providers' own pages
// said on 22 November 2026: OpenAI's "Deprecations" and its page of GPT-6 Luna,
// Anthropic's "Model deprecations" and its page of Claude Haiku 5.5, and
// Amazon's card of that model.
//
// GPT-6 Luna came on 22 September 2026, is what OpenAI names as the replacement
// of the GPT-4.1 and GPT-4o families, and has no date to end. Claude Haiku 5.5
// came on 7 October 2026 and ends no sooner than a year later.
const (
	OpenAINameDefault    = "gpt-6-luna"       // where a key or address of an OpenAI-compatible API is set and no name
	AnthropicNameDefault = "claude-haiku-5-5" // likewise for Anthropic
	DemoNameDefault      = "demo"
)

// Ending is when a provider takes a model away.
type Ending struct {
	On      time.Time // the first day without it
	Instead string    // what the provider names in its place; empty: nothing
}

// ModelEnding is when a provider ends a model at its own address, as far as was
// known when this was written. Elsewhere nobody knows what a name means.
func (m Model) ModelEnding() (Ending, bool) {
	if m.Provider != ProviderOpenAI || !sameAddress(m.BaseURL, OpenAIBaseDefault) {
		return Ending{}, false
	}
	ending, known := endings()[m.Name]
	return ending, known
}

// endings are OpenAI's, by name.
func endings() map[string]Ending {
	out := map[string]Ending{}
	for _, batch := range []struct {
		on      time.Time
		instead string
		names   []string
	}{
		{day(2026, time.October, 23), "gpt-5.6-terra", []string{"gpt-3.5-turbo", "gpt-3.5-turbo-0125", "o4-mini", "o4-mini-2025-04-16"}},
		{day(2026, time.October, 23), "gpt-5.6-sol", []string{
			"gpt-4", "gpt-4-0613", "gpt-4-1106-preview", "gpt-4-turbo", "gpt-4-turbo-2024-04-09", "gpt-4o-2024-05-13",
			"o1", "o1-2024-12-17", "o3-mini", "o3-mini-2025-01-31",
		}},
		{day(2026, time.October, 23), "gpt-5.6-luna", []string{"gpt-4.1-nano", "gpt-4.1-nano-2025-04-14"}},
		{day(2026, time.December, 11), "gpt-6.1-sol", []string{"gpt-5", "gpt-5-2025-08-07", "o3", "o3-2025-04-16"}},
		{day(2026, time.December, 11), "gpt-6.1-terra", []string{"gpt-5-mini", "gpt-5-mini-2025-08-07"}},
		{day(2026, time.December, 11), "gpt-6-luna", []string{"gpt-5-nano", "gpt-5-nano-2025-08-07"}},
		{day(2027, time.January, 14), "gpt-6-luna", []string{
			"gpt-4o", "gpt-4o-2024-08-06", "gpt-4o-2024-11-20", "gpt-4o-mini", "gpt-4o-mini-2024-07-18",
			"gpt-4.1", "gpt-4.1-2025-04-14", "gpt-4.1-mini", "gpt-4.1-mini-2025-04-14",
		}},
		{day(2027, time.April, 1), "", []string{"gpt-5.1", "gpt-5.4-nano"}},
	} {
		for _, name := range batch.names {
			out[name] = Ending{On: batch.on, Instead: batch.instead}
		}
	}
	return out
}

func day(year int, month time.Month, date int) time.Time {
	return time.Date(year, month, date, 0, 0, 0, 0, time.UTC)
}
