package doctor

import (
	"strings"
	"testing"
	"time"

	"parley/adapters"
	"parley/cmd/gateway/config"
)

func TestAModelThatEndsIsWarnedOf(t *testing.T) {
	t.Parallel()
	m := config.Model{Provider: config.ProviderOpenAI, Name: "gpt-4.1-mini", BaseURL: config.OpenAIBaseDefault}
	last := time.Date(2027, 1, 13, 12, 0, 0, 0, time.UTC)
	for now, want := range map[time.Time]adapters.Level{last: adapters.LevelWarning, last.Add(24 * time.Hour): adapters.LevelProblem} {
		e := &examination{now: func() time.Time { return now }}
		e.ending("models.default", m)
		if len(e.checks) != 1 || e.checks[0].Level != want || !strings.Contains(e.checks[0].What, "14 January 2027") || !strings.Contains(e.checks[0].Remedy, "gpt-6-luna") {
			t.Errorf("on %s: %+v", now, e.checks)
		}
	}
	e := &examination{now: func() time.Time { return last }}
	if m.Name = config.OpenAINameDefault; true {
		e.ending("models.default", m)
	}
	if len(e.checks) != 0 {
		t.Errorf("the default is warned of: %+v", e.checks)
	}
}
