package config_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"parley/cmd/gateway/config"
)

func TestTheBotCanBeToldWhoItIs(t *testing.T) {
	t.Parallel()
	c := mustLoad(t, "name: Ada\npersona: |\n  You look after the garden.\n  Be short.\n", nil)
	if text, err := c.PersonaText(); err != nil || text != "You look after the garden.\nBe short." || c.Name != "Ada" {
		t.Errorf("%q as %q (%v)", text, c.Name, err)
	}
	file := filepath.Join(t.TempDir(), "persona.md")
	if err := os.WriteFile(file, []byte("You are from a file.\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c = mustLoad(t, "persona_file: "+file, nil)
	if text, err := c.PersonaText(); err != nil || text != "You are from a file." {
		t.Errorf("%q (%v)", text, err)
	}
}

func TestAPersonaThatCannotBeUsedIsNamed(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	large, wrong := filepath.Join(folder, "large.md"), filepath.Join(folder, "wrong.md")
	if err := os.WriteFile(large, []byte(strings.Repeat("x", config.PersonaMax+1)), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(wrong, []byte("\xff\xfe"), 0o600); err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		"persona_file: " + filepath.Join(folder, "none.md"):    "persona_file: the persona cannot be read",
		"persona_file: " + large:                               "persona_file: " + large + " is longer than 32768 bytes",
		"persona_file: " + wrong:                               "is not text in UTF-8",
		"persona: a\npersona_file: " + wrong:                   "persona_file: cannot be used together with persona",
		"persona: " + strings.Repeat("x", config.PersonaMax+1): "persona: is longer than",
		"name: " + strings.Repeat("x", config.NameMax+1):       "name: must be one line",
	} {
		if _, err := load(t, text, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60s\n got %v\nwant %s", text, err, want)
		}
	}
}

func TestTheGatewaysOwnTimeZone(t *testing.T) {
	t.Parallel()
	if c := mustLoad(t, "timezone: Europe/Berlin", nil); c.Timezone != "Europe/Berlin" {
		t.Error(c.Timezone)
	}
	for _, zone := range []string{"Berlin", "Local", "../etc/passwd"} {
		if _, err := load(t, "timezone: "+zone, nil); err == nil || !strings.Contains(err.Error(), "timezone: ") {
			t.Errorf("%s: %v", zone, err)
		}
	}
}

func TestDefaultModelsStayThroughNextYear(t *testing.T) {
	t.Parallel()
	for _, key := range []string{"OPENAI_API_KEY", "ANTHROPIC_API_KEY"} {
		m := mustLoad(t, "", map[string]string{key: "k"}).Models.Default
		if ending, known := m.ModelEnding(); known {
			t.Errorf("%s ends on %s", m.Name, ending.On)
		}
	}
	old := mustLoad(t, "", map[string]string{"OPENAI_API_KEY": "k", "OPENAI_MODEL": "gpt-4.1-mini"}).Models.Default
	ending, known := old.ModelEnding()
	if want := time.Date(2027, 1, 14, 0, 0, 0, 0, time.UTC); !known || !ending.On.Equal(want) || ending.Instead != config.OpenAINameDefault {
		t.Errorf("%+v %v", ending, known)
	}
	own := mustLoad(t, "models: {default: {base_url: \"http://127.0.0.1:1/v1\", name: gpt-4.1-mini}}", nil).Models.Default
	if _, known := own.ModelEnding(); known {
		t.Error("what another server calls gpt-4.1-mini is not OpenAI's")
	}
}

func TestPeopleOfAChannelsPlatformCanBeMembers(t *testing.T) {
	t.Parallel()
	token := "http: {token: the-owner, tokens: [{name: bridge, token: bridge-" + token24 + ", scope: channel, namespace: matrix}]}\n"
	if c := mustLoad(t, token+`members: ["matrix:@ann:example.org"]`, nil); len(c.Members) != 1 {
		t.Errorf("%+v", c.Members)
	}
	for _, text := range []string{"members: [matrix:ann]", token + `members: ["matrix:ann b"]`, token + "members: [telegrm:12345]"} {
		if _, err := load(t, text, nil); err == nil || !strings.Contains(err.Error(), "members[0]: ") {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestWhatIsWrongWithARedisURLIsFoundBeforeItIsDialled(t *testing.T) {
	t.Parallel()
	for url, want := range map[string]string{
		"redis://h:6379/0?replicas=x":   "replicas must be a number",
		"redis://h?replica=1":           "unknown setting",
		"redis://h?ca=/nowhere":         "ca is for TLS",
		"rediss://h?ca=/nowhere/ca.pem": "ca cannot be read",
		"redis+sentinel://h":            "must name the master",
		"redis+cluster://h/3":           "a cluster has only 0",
		"redis://h?synced=true":         "needs replicas=N",
	} {
		_, err := load(t, "", map[string]string{"REDIS_URL": url})
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "store.url") {
			t.Errorf("%s\n got %v\nwant %s", url, err, want)
		}
	}
	secret := "redis://:" + canary + "@h?nothing=1"
	if _, err := load(t, "", map[string]string{"REDIS_URL": secret}); err == nil || strings.Contains(err.Error(), canary) {
		t.Errorf("the password is told: %v", err)
	}
	if c := mustLoad(t, "", map[string]string{"REDIS_URL": "redis+cluster://a,b:7000?tls=true&replicas=1&synced=true"}); c.Store.URL == "" {
		t.Error("a good one was not taken")
	}
}
