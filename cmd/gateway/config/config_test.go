package config_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"parley/adapters"
	"parley/cmd/gateway/config"
)

const canary = "canary-5d1f"

func environ(pairs map[string]string) config.Environ {
	return func(name string) (string, bool) {
		value, set := pairs[name]
		return value, set
	}
}

func write(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "gateway.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// load reads text as a file; an empty one as a file with nothing in it.
func load(t *testing.T, text string, env map[string]string) (config.Loaded, error) {
	t.Helper()
	return config.Load(write(t, text), environ(env))
}

func mustLoad(t *testing.T, text string, env map[string]string) config.Config {
	t.Helper()
	loaded, err := load(t, text, env)
	if err != nil {
		t.Fatal(err)
	}
	return loaded.Config
}

func TestNothingConfiguredIsComplete(t *testing.T) {
	t.Parallel()
	c := mustLoad(t, "", nil)
	if c.Models.Default.Provider != config.ProviderDemo || c.Models.Small.Provider != config.ProviderDemo {
		t.Errorf("the demo model must answer: %+v", c.Models)
	}
	if c.HTTP.Listen != config.ListenDefault || c.Store.URL != "sqlite://data/gateway.db" {
		t.Errorf("listen %q, store %q", c.HTTP.Listen, c.Store.URL)
	}
	if c.Access.DM != config.DMKnown || c.Access.Groups != config.GroupsListed {
		t.Errorf("access must be closed: %+v", c.Access)
	}
	if !*c.Groups.OwnerAlways || *c.Groups.ThreadFollow {
		t.Errorf("groups: %v %v", *c.Groups.OwnerAlways, *c.Groups.ThreadFollow)
	}
}

func TestDefaultsAreStable(t *testing.T) {
	t.Parallel()
	once := config.Config{}.WithDefaults()
	if twice := once.WithDefaults(); !reflect.DeepEqual(once, twice) {
		t.Errorf("defaults changed what they had set:\n%+v\n%+v", once, twice)
	}
}

func TestEnvironmentAloneIsEnough(t *testing.T) {
	t.Parallel()
	c := mustLoad(t, "", map[string]string{
		"TELEGRAM_BOT_TOKEN": "123:abc", "TELEGRAM_API_URL": "http://127.0.0.1:9",
		"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": "http://127.0.0.1:8/v1", "OPENAI_MODEL": "m",
		"REDIS_URL": "redis://r:6379/0", "GATEWAY_OWNERS": "telegram:123, slack:U1,discord:9",
		"GATEWAY_ACCESS_DM": "anyone", "GATEWAY_ACCESS_GROUPS": "anyone",
		"GATEWAY_LISTEN": "0.0.0.0:80", "GATEWAY_TOKEN": token24, "GATEWAY_DATA": "/var/lib/x",
	})
	m := c.Models.Default
	if m.Provider != config.ProviderOpenAI || m.APIKey.Reveal() != "k" || m.BaseURL != "http://127.0.0.1:8/v1" || m.Name != "m" {
		t.Errorf("model: %+v", m)
	}
	if c.Telegram.Token.Reveal() != "123:abc" || c.Telegram.APIURL != "http://127.0.0.1:9" {
		t.Errorf("telegram: %+v", c.Telegram)
	}
	if want := []adapters.Identity{"telegram:123", "slack:U1", "discord:9"}; !slices.Equal(c.Owners, want) {
		t.Errorf("owners: %v", c.Owners)
	}
	if c.Store.URL != "redis://r:6379/0" || c.Data != "/var/lib/x" || c.HTTP.Listen != "0.0.0.0:80" || c.HTTP.Token.Reveal() != token24 {
		t.Errorf("store, data or http: %+v", c)
	}
	if c.Access != (config.Access{DM: "anyone", Groups: "anyone"}) {
		t.Errorf("access: %+v", c.Access)
	}
}

func TestFileWinsAndEnvironmentFills(t *testing.T) {
	t.Parallel()
	c := mustLoad(t, `
http: {listen: "127.0.0.1:1"}
owners: [telegram:1]
models: {default: {name: mine}}
groups: {owner_always: false}
`, map[string]string{"GATEWAY_LISTEN": "127.0.0.1:2", "GATEWAY_TOKEN": token24, "GATEWAY_OWNERS": "telegram:2", "OPENAI_API_KEY": "k", "OPENAI_MODEL": "other"})
	if c.HTTP.Listen != "127.0.0.1:1" || c.HTTP.Token.Reveal() != token24 || c.Owners[0] != "telegram:1" {
		t.Errorf("http %+v, owners %v", c.HTTP, c.Owners)
	}
	if m := c.Models.Default; m.Name != "mine" || m.APIKey.Reveal() != "k" || m.BaseURL != config.OpenAIBaseDefault {
		t.Errorf("model: %+v", m)
	}
	if *c.Groups.OwnerAlways {
		t.Error("an explicit false must stay false")
	}
}

func TestEnvironmentKeyStaysWithItsAddress(t *testing.T) {
	t.Parallel()
	loaded, err := load(t, `models: {default: {base_url: "http://elsewhere.example/v1"}, small: {base_url: "http://third.example"}}`,
		map[string]string{"OPENAI_API_KEY": canary})
	if err != nil {
		t.Fatal(err)
	}
	if m := loaded.Config.Models; !m.Default.APIKey.IsZero() || !m.Small.APIKey.IsZero() {
		t.Error("the key of the environment went to a server that the file names")
	}
	if len(loaded.Warnings) != 1 || !strings.Contains(loaded.Warnings[0], "OPENAI_API_KEY") {
		t.Errorf("warnings: %q", loaded.Warnings)
	}
}

func TestSmallModelFallsBack(t *testing.T) {
	t.Parallel()
	c := mustLoad(t, `models: {default: {api_key: k, name: big}, small: {name: tiny}}`, nil)
	if s := c.Models.Small; s.Name != "tiny" || s.APIKey.Reveal() != "k" || s.Provider != config.ProviderOpenAI {
		t.Errorf("small: %+v", s)
	}
	if d := mustLoad(t, "", map[string]string{"OPENAI_API_KEY": "k"}).Models.Default; d.Name != config.OpenAINameDefault {
		t.Errorf("a key without a name takes the default name, not %q", d.Name)
	}
}

func TestProblems(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		text string
		env  map[string]string
		want []string // each is part of one problem's line, in order
	}{
		"unknown key":         {"http:\n  lisen: x\n", nil, []string{`:2:3: http.lisen: unknown key; did you mean "listen"?`}},
		"unknown section":     {"telegrm: {token: x}\n", nil, []string{`:1:1: telegrm: unknown key; did you mean "telegram"?`}},
		"nothing like it":     {"zebra: 1\n", nil, []string{`zebra: unknown key; known here are name, persona`}},
		"all unknown keys":    {"aaa: 1\nbbb: 2\n", nil, []string{":1:1: aaa", ":2:1: bbb"}},
		"malformed":           {"http: {listen: \n", nil, []string{"not valid YAML"}},
		"duplicate key":       {"data: a\ndata: b\n", nil, []string{":2:1: not valid YAML"}},
		"two documents":       {"data: a\n---\ndata: b\n", nil, []string{"second YAML document"}},
		"anchor":              {"data: &a x\nlog: {level: *a}\n", nil, []string{"anchors", "anchors"}},
		"not a mapping":       {"http: yes\n", nil, []string{"http: must be a mapping"}},
		"not a list":          {"owners: telegram:1\n", nil, []string{"owners: must be a list"}},
		"not a scalar":        {"data: [a]\n", nil, []string{"data: must be a single value"}},
		"not a bool":          {"log: {text: sure}\n", nil, []string{"log.text: must be true or false"}},
		"top is a list":       {"- a\n", nil, []string{"must be a mapping"}},
		"unset variable":      {"telegram:\n  token: ${NOPE}\n", nil, []string{":2:10: telegram.token: the variable NOPE is not set"}},
		"unclosed variable":   {"data: ${NOPE\n", nil, []string{"no closing brace"}},
		"bad variable":        {"data: ${NO PE}\n", nil, []string{"is not a variable"}},
		"owner by name":       {"owners: [telegram:@ada]\n", nil, []string{`:1:10: owners[0]: "telegram:@ada" is not an id that stays`}},
		"owner of nowhere":    {"owners: [ada]\n", nil, []string{`owners[0]: "ada" is not platform:id`}},
		"owner is a group":    {"owners: [telegram:-100]\n", nil, []string{"owners[0]"}},
		"owner from env":      {"", map[string]string{"GATEWAY_OWNERS": "slack:ada"}, []string{`owners[0]: "slack:ada"`}},
		"blocked owner":       {"owners: [telegram:1]\nblocked: [telegram:1]\n", nil, []string{":2:11: blocked[0]"}},
		"open without token":  {"http: {listen: ':8080'}\n", nil, []string{"http.listen: :8080 can be reached from other machines"}},
		"name beyond":         {"http: {listen: 'box.example:80'}\n", nil, []string{"http.listen: box.example:80 can be reached"}},
		"no port":             {"http: {listen: localhost}\n", nil, []string{"http.listen: \"localhost\" is not HOST:PORT"}},
		"port too large":      {"http: {listen: 'localhost:70000'}\n", nil, []string{"is not a port"}},
		"store kind":          {"store: {url: 'postgres://x'}\n", nil, []string{"store.url: \"postgres://x\" names no kind"}},
		"access":              {"access: {dm: all, groups: any}\n", nil, []string{"access.dm", "access.groups"}},
		"sessions times":      {"sessions: {stale_after: soon, expire_after: -1h, max_age: 3}\n", nil, []string{":1:25: sessions.stale_after: must be a time such as", "sessions.expire_after", "sessions.max_age"}},
		"sessions too short":  {"sessions: {stale_after: 3s, max_age: 1ms, debounce: 5m, queue: steer}\n", nil, []string{":1:64: sessions.queue", "sessions.stale_after: 3s is too short", "sessions.max_age", "sessions.debounce"}},
		"webhook":             {"telegram: {mode: webhook}\n", nil, []string{"only knows polling"}},
		"telegram token":      {"telegram: {token: nope}\n", nil, []string{"telegram.token: does not look like"}},
		"discord token":       {"discord: {token: Bot a.b.c}\n", nil, []string{":1:18: discord.token: does not look like"}},
		"discord address":     {"discord: {api_url: 'ftp://x'}\n", nil, []string{"discord.api_url"}},
		"slack swapped":       {"slack: {bot_token: xapp-1, app_token: xoxb-1}\n", nil, []string{"slack.bot_token: does not look like one that begins with xoxb-", "slack.app_token: does not look like one that begins with xapp-"}},
		"slack deaf":          {"slack: {bot_token: xoxb-1}\n", nil, []string{"slack.app_token: is missing, so Slack could not be heard"}},
		"slack mute":          {"slack: {app_token: xapp-1}\n", nil, []string{"slack.bot_token: is missing"}},
		"slack secret":        {"slack: {bot_token: xoxb-1, signing_secret: short}\n", nil, []string{"slack.signing_secret: is shorter"}},
		"slack from env":      {"", map[string]string{"SLACK_SIGNING_SECRET": secret32}, []string{"slack.bot_token: is missing"}},
		"slack address":       {"slack: {api_url: x}\n", nil, []string{"slack.api_url"}},
		"anthropic no key":    {"models: {default: {provider: anthropic}}\n", nil, []string{"models.default.api_key: is missing; set ANTHROPIC_API_KEY"}},
		"small without key":   {"models: {default: {api_key: k}, small: {provider: anthropic}}\n", nil, []string{"models.small.api_key: is missing; set ANTHROPIC_API_KEY"}},
		"provider":            {"models: {default: {provider: claude}}\n", nil, []string{"models.default.provider: \"claude\""}},
		"openai without key":  {"models: {default: {provider: openai}}\n", nil, []string{"models.default.api_key: is missing"}},
		"demo with key":       {"models: {default: {provider: demo, api_key: k}}\n", nil, []string{"models.default: the demo model"}},
		"base url":            {"models: {default: {base_url: 'ftp://x'}, small: {provider: demo}}\n", nil, []string{"models.default.base_url"}},
		"several, all listed": {"log: {level: loud}\nhttp: {listen: x}\n", nil, []string{"http.listen", ":1:14: log.level"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := load(t, tt.text, tt.env)
			var problems config.Errors
			if !errors.As(err, &problems) {
				t.Fatalf("got %v, want problems", err)
			}
			if len(problems) != len(tt.want) {
				t.Fatalf("got %d problems, want %d: %v", len(problems), len(tt.want), []config.Problem(problems))
			}
			for i, want := range tt.want {
				if line := problems[i].String(); !strings.Contains(line, want) || strings.Contains(line, "\n") {
					t.Errorf("problem %d: %q does not contain %q", i, line, want)
				}
			}
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("more than one line: %q", err)
			}
		})
	}
}

func TestExpansion(t *testing.T) {
	t.Parallel()
	env := map[string]string{"A": "1", "EMPTY": "", "YAML": "x\nlog: {text: true}", "YES": "true", "NESTED": "${A}"}
	tests := map[string]string{
		"${A}":                "1",
		"x${A}y${A}z":         "x1y1z",
		"${NONE:-d}":          "d",
		"${EMPTY:-d}":         "d",
		"${EMPTY}x":           "x",
		"${A:-d}":             "1",
		"$A $ $$ cost 5$":     "$A $ $$ cost 5$",
		"$${A}":               "${A}",
		"${NESTED}":           "${A}",
		"${NONE:-a:-b}":       "a:-b",
		"'single ${A}'":       "single 1",
		"${YAML}":             env["YAML"],
		"plain":               "plain",
		"0123":                "0123",
		"\"quoted $${A}\\t\"": "quoted ${A}",
	}
	for text, want := range tests {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			c := mustLoad(t, "data: "+text+"\n", env)
			if c.Data != want || c.Log.Text {
				t.Errorf("got %q (log.text %v), want %q", c.Data, c.Log.Text, want)
			}
		})
	}
	if c := mustLoad(t, "log: {text: '${YES}'}\n", env); !c.Log.Text {
		t.Error("a variable can be a bool")
	}
}

func TestFileOnDisk(t *testing.T) {
	t.Parallel()
	if _, err := config.Load(filepath.Join(t.TempDir(), "none.yaml"), environ(nil)); err == nil || !strings.Contains(err.Error(), "--config") {
		t.Errorf("a named file that is not there: %v", err)
	}
	large := write(t, strings.Repeat("# x\n", config.FileMax/4+1))
	if _, err := config.Load(large, environ(nil)); err == nil {
		t.Error("a file beyond the limit was read")
	}
}

const secret32 = "0123456789abcdef0123456789abcdef"

func TestPlatformsFromTheEnvironment(t *testing.T) {
	t.Parallel()
	c := mustLoad(t, "", map[string]string{
		"DISCORD_BOT_TOKEN": "a.b.c", "DISCORD_API_URL": "http://127.0.0.1:7/api/v10",
		"SLACK_BOT_TOKEN": "xoxb-1", "SLACK_APP_TOKEN": "xapp-1", "SLACK_SIGNING_SECRET": secret32, "SLACK_API_URL": "http://127.0.0.1:6/api/",
	})
	if c.Discord.Token.Reveal() != "a.b.c" || c.Discord.APIURL != "http://127.0.0.1:7/api/v10" {
		t.Errorf("discord: %+v", c.Discord)
	}
	if s := c.Slack; !s.On() || s.BotToken.Reveal() != "xoxb-1" || s.AppToken.Reveal() != "xapp-1" || s.SigningSecret.Reveal() != secret32 || s.APIURL != "http://127.0.0.1:6/api/" {
		t.Errorf("slack: %+v", s)
	}
	if d := mustLoad(t, "", nil); d.Slack.On() || !d.Discord.Token.IsZero() || d.Discord.APIURL != config.DiscordAPIDefault || d.Slack.APIURL != config.SlackAPIDefault {
		t.Errorf("without variables: %+v %+v", d.Discord, d.Slack)
	}
	for _, one := range []string{"app_token: xapp-1", "signing_secret: " + secret32} {
		mustLoad(t, "slack: {bot_token: xoxb-1, "+one+"}", nil)
	}
}

func TestWhichProviderAnswers(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		text     string
		env      map[string]string
		provider config.Provider
		key      string
		base     config.URL
		name     string
		warning  string // in the only one; empty: there is none
	}{
		"nothing":             {"", nil, "demo", "", "", "demo", ""},
		"openai":              {"", map[string]string{"OPENAI_API_KEY": "o"}, "openai", "o", config.OpenAIBaseDefault, config.OpenAINameDefault, ""},
		"anthropic":           {"", map[string]string{"ANTHROPIC_API_KEY": "a"}, "anthropic", "a", config.AnthropicBaseDefault, config.AnthropicNameDefault, ""},
		"all of anthropic's":  {"", map[string]string{"ANTHROPIC_API_KEY": "a", "ANTHROPIC_BASE_URL": "http://h:1", "ANTHROPIC_MODEL": "m"}, "anthropic", "a", "http://h:1", "m", ""},
		"anthropic's address": {"", map[string]string{"ANTHROPIC_BASE_URL": "http://h:1"}, "anthropic", "", "http://h:1", config.AnthropicNameDefault, ""},
		"both":                {"", map[string]string{"ANTHROPIC_API_KEY": "a", "ANTHROPIC_MODEL": "m", "OPENAI_API_KEY": "o"}, "openai", "o", config.OpenAIBaseDefault, config.OpenAINameDefault, "OpenAI's model answers"},
		"both, file decides":  {"models: {default: {provider: anthropic}}", map[string]string{"ANTHROPIC_API_KEY": "a", "OPENAI_API_KEY": "o", "OPENAI_MODEL": "m"}, "anthropic", "a", config.AnthropicBaseDefault, config.AnthropicNameDefault, ""},
		"both, file has all":  {"models: {default: {api_key: f}}", map[string]string{"ANTHROPIC_API_KEY": "a", "OPENAI_API_KEY": "o"}, "openai", "f", config.OpenAIBaseDefault, config.OpenAINameDefault, ""},
		"file names a model":  {"models: {default: {name: n}}", map[string]string{"ANTHROPIC_API_KEY": "a"}, "anthropic", "a", config.AnthropicBaseDefault, "n", ""},
		"file has a key":      {"models: {default: {api_key: f}}", map[string]string{"ANTHROPIC_API_KEY": "a"}, "openai", "f", config.OpenAIBaseDefault, config.OpenAINameDefault, ""},
		"file says demo":      {"models: {default: {provider: demo}}", map[string]string{"ANTHROPIC_API_KEY": "a"}, "demo", "", "", "demo", ""},
		"a name alone":        {"", map[string]string{"OPENAI_MODEL": "m"}, "demo", "", "", "demo", "OPENAI_MODEL is set"},
		"anthropic's name":    {"", map[string]string{"ANTHROPIC_MODEL": "m"}, "demo", "", "", "demo", "ANTHROPIC_MODEL is set"},
		"another's server":    {"models: {default: {provider: anthropic, base_url: 'http://h:2'}}", map[string]string{"ANTHROPIC_API_KEY": "a"}, "anthropic", "", "http://h:2", config.AnthropicNameDefault, "ANTHROPIC_API_KEY is not sent to http://h:2"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			loaded, err := load(t, tt.text, tt.env)
			if err != nil {
				t.Fatal(err)
			}
			m := loaded.Config.Models.Default
			if m.Provider != tt.provider || m.APIKey.Reveal() != tt.key || m.BaseURL != tt.base || m.Name != tt.name {
				t.Errorf("got %s %q %s %s", m.Provider, m.APIKey.Reveal(), m.BaseURL, m.Name)
			}
			if tt.warning == "" && len(loaded.Warnings) > 0 || tt.warning != "" && (len(loaded.Warnings) != 1 || !strings.Contains(loaded.Warnings[0], tt.warning)) {
				t.Errorf("warnings: %q", loaded.Warnings)
			}
		})
	}
}

func TestSmallModelOfAnotherProvider(t *testing.T) {
	t.Parallel()
	c := mustLoad(t, "models: {small: {provider: anthropic}}", map[string]string{"OPENAI_API_KEY": "o", "ANTHROPIC_API_KEY": "a"})
	if d, s := c.Models.Default, c.Models.Small; d.Provider != config.ProviderOpenAI || s.APIKey.Reveal() != "a" || s.Name != config.AnthropicNameDefault {
		t.Errorf("default %+v, small %+v", d, s)
	}
}

func secretConfig(t *testing.T) config.Config {
	t.Helper()
	return mustLoad(t, `
store: {url: "redis://user:`+canary+`@host:6379/0"}
telegram: {token: "12:`+canary+`", api_url: "http://x:`+canary+`@api.example"}
discord: {token: "`+canary+`.b.c", api_url: "http://x:`+canary+`@api.example"}
slack: {bot_token: "xoxb-`+canary+`", app_token: "xapp-`+canary+`", signing_secret: "`+canary+canary+canary+`", api_url: "http://x:`+canary+`@api.example"}
http: {token: `+canary+`}
models: {default: {api_key: `+canary+`, base_url: "https://m.example/v1?api_key=`+canary+`"}}
`, nil)
}

func TestPrintMasksSecrets(t *testing.T) {
	t.Parallel()
	c := secretConfig(t)
	text, err := c.YAML()
	if err != nil {
		t.Fatal(err)
	}
	shown := string(text) + fmt.Sprintf("%v %+v %#v", c, c, c)
	if strings.Contains(shown, canary) {
		t.Fatalf("a secret shows:\n%s", shown)
	}
	if !strings.Contains(string(text), "redis://user:***@host:6379/0") || c.Store.URL.Reveal() == c.Store.URL.String() {
		t.Errorf("the address must stay readable:\n%s", text)
	}
}

func TestPrintedConfigLoadsAgain(t *testing.T) {
	t.Parallel()
	want := mustLoad(t, "owners: [telegram:1]\nlog: {text: true}\n", nil)
	text, err := want.YAML()
	if err != nil {
		t.Fatal(err)
	}
	if got := mustLoad(t, string(text), nil); !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v\nwant %+v\n%s", got, want, text)
	}
}

func TestURLMask(t *testing.T) {
	t.Parallel()
	tests := map[string]string{
		"redis://h:1/0":                     "redis://h:1/0",
		"redis://:p@h/0":                    "redis://:***@h/0",
		"redis://u:p@w@h/0":                 "redis://u:***@h/0",
		"redis://u:p/w@h/0":                 "redis://u:***@h/0",
		"redis+cluster://u:p@a:1,b:2":       "redis+cluster://u:***@a:1,b:2",
		"redis+sentinel://h?password=p&x=1": "redis+sentinel://h?password=***&x=1",
		"https://key@h":                     "https://***@h",
		"sqlite://./data/a.db":              "sqlite://./data/a.db",
	}
	for address, want := range tests {
		if got := config.URL(address).String(); got != want {
			t.Errorf("%s: got %s, want %s", address, got, want)
		}
	}
}

func TestSchemaAcceptsWhatLoadAccepts(t *testing.T) {
	t.Parallel()
	schema, err := config.Schema()
	if err != nil {
		t.Fatal(err)
	}
	resolved, err := schema.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	check := func(text string) error {
		var value any
		if err := yaml.Unmarshal([]byte(text), &value); err != nil {
			t.Fatal(err)
		}
		return resolved.Validate(value)
	}
	if err := check("owners: [telegram:1]\nmodels: {default: {provider: openai, api_key: k}}\naccess: {dm: \"${DM:-known}\"}\ngroups: {owner_always: false}\nsessions: {stale_after: 72h, expire_after: 0, queue: followup}\n"); err != nil {
		t.Errorf("refused: %v", err)
	}
	for _, text := range []string{"zebra: 1", "http: {lisen: x}", "access: {dm: all}", "sessions: {queue: steer}", "owners: telegram:1", "data: [a]"} {
		if check(text) == nil {
			t.Errorf("accepted: %s", text)
		}
	}
}

func TestSchemaDescribesEveryKey(t *testing.T) {
	t.Parallel()
	schema, err := config.Schema()
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(schema)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(text), `"default":"127.0.0.1:8080"`) {
		t.Error("the schema must name defaults")
	}
	for key, section := range schema.Properties {
		if section.Description == "" {
			t.Errorf("%s has no description", key)
		}
		for inner, property := range section.Properties {
			if property.Description == "" {
				t.Errorf("%s.%s has no description", key, inner)
			}
		}
	}
}

func FuzzLoad(f *testing.F) {
	for _, seed := range []string{"", "http: {listen: x}", "data: ${A}", "a: &b [*b]", "owners:\n- telegram:1", "? x\n: y", "%YAML 1.2\n---\na: 1", "data: !!binary x", "<<: {data: x}", "data: |\n  x\n"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		loaded, err := load(t, text, map[string]string{"A": "1"})
		if err != nil && strings.Contains(err.Error(), "\n") {
			t.Errorf("more than one line: %q", err)
		}
		if err == nil && len(loaded.Config.Validate()) > 0 {
			t.Error("a loaded configuration must be valid")
		}
	})
}
