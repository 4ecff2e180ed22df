package e2e

import (
	"testing"

	"parley/test/fakeslack"
)

// onSlack is a workspace with a channel, an app and two people.
type onSlack struct {
	fake    *fakeslack.Server
	people  [2]*fakeslack.User
	channel string
}

func openSlack(t *testing.T) platform {
	t.Helper()
	s := &onSlack{fake: fakeslack.New(t, fakeslack.Options{})}
	s.people = [2]*fakeslack.User{s.fake.User("U0OLGA", "Olga"), s.fake.User("U0GUS", "Gus")}
	s.channel = s.fake.Channel("C0LUNCH", "lunch", s.people[:]...)
	return s
}

func (s *onSlack) name() string { return "slack" }

func (s *onSlack) env() map[string]string {
	return map[string]string{
		"SLACK_BOT_TOKEN": s.fake.BotToken(), "SLACK_APP_TOKEN": s.fake.AppToken(), "SLACK_API_URL": s.fake.URL(),
		"GATEWAY_OWNERS": "slack:" + s.people[olga].ID,
	}
}

func (s *onSlack) secrets() []string {
	return []string{s.fake.BotToken(), s.fake.AppToken(), s.fake.SigningSecret()}
}

func (s *onSlack) connected() bool            { return true }
func (s *onSlack) dm(who person) string       { return s.people[who].DM() }
func (s *onSlack) group() string              { return s.channel }
func (s *onSlack) mention(text string) string { return "<@" + s.fake.BotUser() + "> " + text }

func (s *onSlack) say(who person, chat, text string) string { return s.people[who].Say(chat, text) }

func (s *onSlack) command(who person, chat, name string) {
	s.people[who].Command(chat, "/"+name, "")
}

func (s *onSlack) again(chat, id string)   { s.fake.Again(chat, id) }
func (s *onSlack) taken(_, id string) bool { return s.fake.Acknowledged(id) }
func (s *onSlack) revoke()                 { s.fake.RevokeBotToken() }
func (s *onSlack) violations() []string    { return s.fake.Violations() }

func (s *onSlack) shown(chat string) []string {
	var out []string
	for _, sent := range s.fake.Sent(chat) {
		out = append(out, sent.Shown())
	}
	return out
}

func TestSlack(t *testing.T) { playAll(t, openSlack) }

// onSlackHTTP is the same workspace, whose app sends signed requests.
type onSlackHTTP struct{ *onSlack }

func openSlackHTTP(t *testing.T) platform {
	t.Helper()
	return onSlackHTTP{openSlack(t).(*onSlack)}
}

func (s onSlackHTTP) env() map[string]string {
	env := s.onSlack.env()
	delete(env, "SLACK_APP_TOKEN")
	env["SLACK_SIGNING_SECRET"] = s.fake.SigningSecret()
	return env
}

func (s onSlackHTTP) served(address string) { s.fake.DeliverTo(address + "/slack/events") }

func TestSlackOverHTTP(t *testing.T) { playAll(t, openSlackHTTP) }
