package config

import (
	"fmt"
	"strings"
)

// variables are a provider's part of the environment.
type variables struct {
	provider        Provider
	prefix          string // of the names
	official        URL    // the provider's own address
	base, key, name string
}

func readVariables(environ Environ, provider Provider, prefix string, official URL) variables {
	return variables{
		provider: provider, prefix: prefix, official: official,
		base: environ.get(prefix + "_BASE_URL"), key: environ.get(prefix + "_API_KEY"), name: environ.get(prefix + "_MODEL"),
	}
}

// chosen reports whether the variables ask for the provider. A name alone does not.
func (v variables) chosen() bool { return v.base != "" || v.key != "" }

// modelsFromEnvironment fills the default model, and the small one where the
// file gives it a provider of its own.
func modelsFromEnvironment(m Models, environ Environ) (filled Models, warnings []string) {
	openai := readVariables(environ, ProviderOpenAI, "OPENAI", OpenAIBaseDefault)
	anthropic := readVariables(environ, ProviderAnthropic, "ANTHROPIC", AnthropicBaseDefault)
	m.Default.Provider, warnings = providerFor(m.Default, openai, anthropic)
	for _, v := range []variables{openai, anthropic} {
		var warning []string
		if m.Default.Provider == v.provider {
			m.Default, warning = v.fill(m.Default, "models.default")
			warnings = append(warnings, warning...)
		}
		if m.Small.Provider == v.provider && m.Small.Provider != m.Default.Provider {
			m.Small, warning = v.fill(m.Small, "models.small")
			warnings = append(warnings, warning...)
		}
	}
	return m, warnings
}

// providerFor is what the file says; else the one whose variables are set,
// OpenAI where both are: so a gateway that runs does not change its model when
// a second key appears. Empty: nothing asks for one.
func providerFor(m Model, openai, anthropic variables) (Provider, []string) {
	fileAsks := m.BaseURL != "" || !m.APIKey.IsZero()
	switch {
	case m.Provider != "":
		return m.Provider, nil
	case openai.chosen() && anthropic.chosen() && !fileAsks:
		return ProviderOpenAI, []string{fmt.Sprintf("both OPENAI_… and ANTHROPIC_… are set: OpenAI's model answers; unset one, or set models.default.provider to %s", ProviderAnthropic)}
	case anthropic.chosen() && !openai.chosen() && !fileAsks:
		return ProviderAnthropic, nil
	case !m.IsZero() || openai.chosen():
		return ProviderOpenAI, nil
	}
	var warnings []string
	for _, v := range []variables{openai, anthropic} {
		if v.name != "" {
			warnings = append(warnings, fmt.Sprintf("%[1]s_MODEL is set, but neither %[1]s_API_KEY nor %[1]s_BASE_URL: the demo model answers", v.prefix))
		}
	}
	return "", warnings
}

// fill takes what the file left open. The key of the environment is used only
// with the address of the environment or the provider's own: a file that names
// another server never gets it.
func (v variables) fill(m Model, path string) (Model, []string) {
	orDefault(&m.BaseURL, URL(v.base))
	orDefault(&m.BaseURL, v.official)
	belongs := sameAddress(m.BaseURL, URL(v.base)) || sameAddress(m.BaseURL, v.official)
	if belongs {
		orSecret(&m.APIKey, v.key)
	}
	orDefault(&m.Name, v.name)
	if !belongs && v.key != "" && m.APIKey.IsZero() {
		return m, []string{fmt.Sprintf("%s_API_KEY is not sent to %s, which the file names; set %s.api_key if it belongs there", v.prefix, m.BaseURL, path)}
	}
	return m, nil
}

func sameAddress(a, b URL) bool {
	return strings.TrimRight(a.Reveal(), "/") == strings.TrimRight(b.Reveal(), "/")
}
