package discord_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"parley/adapters"
	"parley/test/fakediscord"
)

// TestSendErrors holds Discord's refusals to their kinds.
func TestSendErrors(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		fault  fakediscord.Fault
		kind   adapters.SendKind
		global bool
	}{
		"limit":             {fakediscord.RateLimited(2*time.Second, false), adapters.SendRateLimited, false},
		"global limit":      {fakediscord.RateLimited(2*time.Second, true), adapters.SendRateLimited, true},
		"proxy's block":     {fakediscord.Blocked("30"), adapters.SendRateLimited, true},
		"no access":         {refusal(403, `{"code":50001,"message":"Missing Access"}`), adapters.SendGone, false},
		"no permission":     {refusal(403, `{"code":50013,"message":"Missing Permissions"}`), adapters.SendGone, false},
		"closed DMs":        {refusal(403, `{"code":50007,"message":"Cannot send messages to this user"}`), adapters.SendGone, false},
		"unknown channel":   {refusal(404, `{"code":10003,"message":"Unknown Channel"}`), adapters.SendGone, false},
		"proxy says no":     {refusal(403, `<html>`), adapters.SendUnavailable, false},
		"bad form":          {refusal(400, `{"code":50035,"message":"Invalid Form Body"}`), adapters.SendRefused, false},
		"too large":         {refusal(413, `{"code":40005,"message":"Request entity too large"}`), adapters.SendRefused, false},
		"switched off":      {refusal(400, `{"code":40004,"message":"Send messages has been temporarily disabled"}`), adapters.SendUnavailable, false},
		"unauthorized":      {refusal(401, `{"code":0,"message":"401: Unauthorized"}`), adapters.SendDenied, false},
		"server error":      {refusal(500, `{"code":0,"message":"500: Internal Server Error"}`), adapters.SendUnknown, false},
		"bad gateway":       {refusal(502, `<html>`), adapters.SendUnknown, false},
		"unreadable answer": {refusal(200, `<html>`), adapters.SendUnknown, false},
		"redirect":          {refusal(302, ``), adapters.SendUnknown, false},
		"odd limit":         {fakediscord.Fault{Status: 429, Body: `{"retry_after":-5}`, Headers: map[string]string{"X-RateLimit-Reset-After": "soon"}}, adapters.SendRateLimited, false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, fakediscord.Config{})
			c := r.connect(nil).hearing()
			r.fake.Fail(postRoute, 1, test.fault)
			_, err := c.Send(t.Context(), adapters.Outgoing{Surface: c.surface(r.group), Text: "x", DeliveryID: "1", Attempt: 1})
			if err == nil {
				t.Fatal("no error")
			}
			failed := adapters.AsSendError(err)
			if failed.Kind != test.kind || failed.Global != test.global || strings.Contains(err.Error(), r.fake.Token()) {
				t.Errorf("is %+v", failed)
			}
			if n := r.count(postRoute); n != 1 {
				t.Errorf("%d requests for one attempt", n)
			}
		})
	}
}

func refusal(status int, body string) fakediscord.Fault {
	return fakediscord.Fault{Status: status, Body: body, Headers: map[string]string{"Content-Type": "application/json"}}
}

func (c *connection) surface(channel string) adapters.Surface {
	return adapters.Surface{Platform: adapters.Discord, Account: c.Account(), Chat: channel}
}

// TestLimitsAreKept: a limit that Discord has told is not run into, and holds
// for its channel only.
func TestLimitsAreKept(t *testing.T) {
	t.Parallel()
	r := newRig(t, fakediscord.Config{PerChannel: 2, Window: time.Hour})
	c := r.connect(nil).hearing()
	send := func(channel, id string) error {
		_, err := c.Send(t.Context(), adapters.Outgoing{Surface: c.surface(channel), Text: id, DeliveryID: id, Attempt: 1})
		return err
	}
	for _, id := range []string{"1", "2"} {
		if err := send(r.group, id); err != nil {
			t.Error(err)
		}
	}
	failed := adapters.AsSendError(send(r.group, "3"))
	if failed.Kind != adapters.SendRateLimited || failed.RetryAfter < 59*time.Minute || failed.Global {
		t.Errorf("%+v", failed)
	}
	if err := send(r.direct, "4"); err != nil {
		t.Error(err)
	}
	r.fake.AssertNoViolations(t)
}

// TestMessageForm: what a message carries besides its text.
func TestMessageForm(t *testing.T) {
	t.Parallel()
	r := newRig(t, fakediscord.Config{})
	c := r.connect(nil).hearing()
	question := r.fake.Post(r.group, r.alice, "why")
	c.answer(c.next(), "because @everyone", "a delivery")
	message := r.fake.Messages(r.group)[0]
	if message.ReplyTo != question || message.Nonce == "" || len(message.Nonce) > 25 || message.Flags != 4 {
		t.Errorf("%+v", message)
	}
	body := r.fake.Calls(postRoute)[0].Body
	for _, want := range []string{`"allowed_mentions":{"parse":[],"replied_user":false}`, `"enforce_nonce":true`, `"fail_if_not_exists":false`} {
		if !strings.Contains(body, want) {
			t.Errorf("%s is not in %s", want, body)
		}
	}
}

// TestReferenceRefused: a reply that Discord does not allow is sent without
// referring.
func TestReferenceRefused(t *testing.T) {
	t.Parallel()
	r := newRig(t, fakediscord.Config{})
	c := r.connect(nil).hearing()
	r.fake.Post(r.group, r.alice, "why")
	event := c.next()
	for _, body := range []string{
		`{"code":50035,"message":"Invalid Form Body","errors":{"message_reference":{"_errors":[{"code":"REPLIES_CANNOT_REPLY_TO_SYSTEM_MESSAGE"}]}}}`,
		`{"code":160002,"message":"Cannot reply without permission to read message history"}`,
	} {
		r.fake.Fail(postRoute, 1, refusal(http.StatusBadRequest, body))
		c.answer(event, "because", "delivery "+body[:20])
	}
	for _, message := range r.fake.AwaitMessages(t, r.group, 2) {
		if message.ReplyTo != "" {
			t.Errorf("%+v", message)
		}
	}
}

// TestSendRefusesWhatCannotBe without asking Discord.
func TestSendRefusesWhatCannotBe(t *testing.T) {
	t.Parallel()
	r := newRig(t, fakediscord.Config{})
	c := r.connect(nil).hearing()
	here := c.surface(r.group)
	for name, test := range map[string]struct {
		message adapters.Outgoing
		kind    adapters.SendKind
	}{
		"too long":       {adapters.Outgoing{Surface: here, Text: strings.Repeat("x", 2001)}, adapters.SendRefused},
		"empty":          {adapters.Outgoing{Surface: here, Text: " \n"}, adapters.SendRefused},
		"not a channel":  {adapters.Outgoing{Surface: c.surface("../users/@me"), Text: "x"}, adapters.SendGone},
		"other platform": {adapters.Outgoing{Surface: adapters.Surface{Platform: adapters.Slack, Account: "1", Chat: "2"}, Text: "x"}, adapters.SendGone},
	} {
		if _, err := c.Send(t.Context(), test.message); err == nil || adapters.AsSendError(err).Kind != test.kind {
			t.Errorf("%s: %v", name, err)
		}
	}
	if n := r.count(postRoute); n != 0 {
		t.Errorf("%d requests", n)
	}
}
