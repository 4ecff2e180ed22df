package main

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"parley/adapters"
	"parley/cmd/gateway/cli"
	"parley/cmd/gateway/wiring"
	"parley/test/fakeanthropic"
	"parley/test/fakediscord"
	"parley/test/fakeslack"
)

func TestSlackOverSignedRequests(t *testing.T) {
	t.Parallel()
	slack := fakeslack.New(t, fakeslack.Options{})
	owner := slack.User("U0ADA", "Ada")
	m := newMachine(t)
	m.env["SLACK_API_URL"], m.env["SLACK_BOT_TOKEN"], m.env["SLACK_SIGNING_SECRET"] = slack.URL(), slack.BotToken(), slack.SigningSecret()
	m.env["GATEWAY_OWNERS"] = "slack:U0ADA"
	g := m.runs()
	g.log.see(t, "slack: connected")
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	address := g.address + wiring.SlackEvents
	if err := slack.Verify(ctx, address); err != nil {
		t.Error(err)
	}
	slack.DeliverTo(address)
	owner.Say(owner.DM(), "hello")
	if _, err := slack.WaitSent(ctx, owner.DM(), nil); err != nil {
		t.Error(err)
	}
	forged, err := http.NewRequestWithContext(ctx, http.MethodPost, address, strings.NewReader(`{"type":"event_callback"}`))
	if err != nil {
		t.Fatal(err)
	}
	response, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(forged)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusUnauthorized {
		t.Errorf("an unsigned request: %d", response.StatusCode)
	}
	if code, log := g.stop(); code != exitOK || strings.Contains(log, slack.BotToken()) || strings.Contains(log, slack.SigningSecret()) {
		t.Errorf("%d: %s", code, log)
	}
}

func TestWithoutASigningSecretNothingListensForSlack(t *testing.T) {
	t.Parallel()
	g := newMachine(t).runs()
	if status := get(t, g.address+wiring.SlackEvents); status != http.StatusNotFound {
		t.Errorf("got %d", status)
	}
}

func TestAnthropicAnswers(t *testing.T) {
	t.Parallel()
	server := fakeanthropic.Start(t, fakeanthropic.Config{})
	m := newMachine(t)
	m.env["ANTHROPIC_API_KEY"], m.env["ANTHROPIC_BASE_URL"], m.env["ANTHROPIC_MODEL"] = server.Key(), server.URL(), fakeanthropic.ModelDefault
	if level := m.diagnosed("model"); level != adapters.LevelOK {
		t.Errorf("the doctor finds the model %s", level)
	}
	if code, out, errs := m.does("hello\n", "chat"); code != exitOK || !strings.Contains(out, "You said: hello") {
		t.Errorf("%d, %q, %q", code, out, errs)
	}
	server.AssertNoRefusals(t)
	m.env["ANTHROPIC_API_KEY"] = "sk-ant-canary"
	code, out, _ := m.does("", "doctor")
	if code != exitFailure || !strings.Contains(out, "ANTHROPIC_API_KEY") || strings.Contains(out, "sk-ant-canary") {
		t.Errorf("a wrong key: %d\n%s", code, out)
	}
}

func TestDoctorAsksEachPlatform(t *testing.T) {
	t.Parallel()
	discord := fakediscord.Start(t, fakediscord.Config{NoContentIntent: true})
	slack := fakeslack.New(t, fakeslack.Options{})
	m := newMachine(t)
	for part, want := range map[string]adapters.Level{"telegram": adapters.LevelOff, "discord": adapters.LevelOff, "slack": adapters.LevelOff, "access": adapters.LevelOK} {
		if level := m.diagnosed(part); level != want {
			t.Errorf("nothing configured: %s is %s", part, level)
		}
	}
	m.env["DISCORD_API_URL"], m.env["DISCORD_BOT_TOKEN"] = discord.URL(), discord.Token()
	m.env["SLACK_API_URL"], m.env["SLACK_BOT_TOKEN"], m.env["SLACK_APP_TOKEN"] = slack.URL(), slack.BotToken(), slack.AppToken()
	m.env["GATEWAY_OWNERS"] = "slack:U0ADA"
	_, out, _ := m.does("", "doctor")
	for _, want := range []string{"no owner on Discord", "discord:…", "Message Content Intent", "Slack knows the bot as parley"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is missing in\n%s", want, out)
		}
	}
	if strings.Contains(out, "no owner on Slack") {
		t.Errorf("Slack has an owner:\n%s", out)
	}
	discord.Revoke()
	slack.RevokeBotToken()
	for _, part := range []string{"discord", "slack"} {
		if level := m.diagnosed(part); level != adapters.LevelProblem {
			t.Errorf("%s with a revoked token: %s", part, level)
		}
	}
}

func TestStartSaysHowEachPlatformIs(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	load := func() string {
		p, _, _ := m.program("")
		loaded, err := p.Load(&cli.Flags{})
		if err != nil {
			t.Fatal(err)
		}
		var out strings.Builder
		for _, platform := range wiring.Platforms() {
			row := platformRow(platform, loaded.Config)
			out.WriteString(row.part + " " + row.state + " → " + row.next + "\n")
		}
		return out.String()
	}
	for _, want := range []string{"Telegram off → Ask @BotFather", "Discord off → ", "DISCORD_BOT_TOKEN", "Slack off → ", "SLACK_APP_TOKEN"} {
		if shown := load(); !strings.Contains(shown, want) {
			t.Errorf("%q is missing in\n%s", want, shown)
		}
	}
	m.env["DISCORD_BOT_TOKEN"], m.env["SLACK_BOT_TOKEN"], m.env["SLACK_SIGNING_SECRET"] = "a.b.c", "xoxb-1", strings.Repeat("0", 32)
	m.env["GATEWAY_OWNERS"] = "discord:9"
	for _, want := range []string{"Discord on → \n", "Slack on, events over HTTP at /slack/events, but nobody may talk to it yet → Send the bot /whoami, put what it prints (slack:…)"} {
		if shown := load(); !strings.Contains(shown, want) {
			t.Errorf("%q is missing in\n%s", want, shown)
		}
	}
}
