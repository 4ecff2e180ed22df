package slack_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"parley/adapters"
	"parley/adapters/adaptertest"
	"parley/adapters/slack"
	"parley/test/fakeslack"
)

// desk is an adapter that only sends.
type desk struct {
	*slack.Adapter
	t     *testing.T
	fake  *fakeslack.Server
	alice *fakeslack.User
}

func newDesk(t *testing.T) *desk {
	t.Helper()
	fake := start(t, fakeslack.Options{})
	alice := fake.User("U0ALICE", "Alice")
	fake.Channel("C0GEN", "general", alice)
	return &desk{Adapter: quick(t, fake, adaptertest.Options{}), t: t, fake: fake, alice: alice}
}

func (d *desk) message(thread string) adapters.Outgoing {
	return adapters.Outgoing{
		Surface: adapters.Surface{Platform: adapters.Slack, Account: d.fake.BotUser(), Chat: "C0GEN", Thread: thread},
		Text:    "**hello**", DeliveryID: "d-1", Attempt: 1,
	}
}

func (d *desk) send(out adapters.Outgoing) (adapters.Receipt, error) {
	d.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), waitMax)
	defer cancel()
	return d.Send(ctx, out)
}

func (d *desk) mustSend(out adapters.Outgoing) string {
	d.t.Helper()
	receipt, err := d.send(out)
	if err != nil || len(receipt.MessageIDs) != 1 {
		d.t.Fatalf("%+v, %v", receipt, err)
	}
	return receipt.MessageIDs[0]
}

func (d *desk) kind(out adapters.Outgoing) adapters.SendKind {
	d.t.Helper()
	_, err := d.send(out)
	if err == nil {
		d.t.Fatal("no error")
	}
	return adapters.AsSendError(err).Kind
}

// lost posts a message whose answer is lost.
func (d *desk) lost(out adapters.Outgoing) {
	d.t.Helper()
	d.fake.Fail("chat.postMessage", fakeslack.Fault{Drop: true, After: true})
	if kind := d.kind(out); kind != adapters.SendUnknown {
		d.t.Fatalf("a lost answer is %s", kind)
	}
}

func (d *desk) sent() []fakeslack.Sent { return d.fake.Sent("C0GEN") }

func TestSendFindsWhatWasSent(t *testing.T) {
	t.Parallel()
	for name, threaded := range map[string]bool{"in a channel": false, "in a thread": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			out := d.message("")
			if threaded {
				out = d.message(d.alice.Say("C0GEN", "parent"))
			}
			d.lost(out)
			for i := range 250 { // more than a page of a thread
				extra := out
				extra.DeliveryID = fmt.Sprint("other-", i)
				if threaded || i < 10 {
					d.mustSend(extra)
				}
			}
			before := len(d.sent())
			out.Attempt, out.MaybeSent = 2, true
			if ts := d.mustSend(out); ts != d.sent()[0].TS {
				t.Errorf("the receipt names %s, the message is %s", ts, d.sent()[0].TS)
			}
			if len(d.sent()) != before {
				t.Error("it was posted again")
			}
		})
	}
}

func TestSendAgainWhatWasNotSent(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	out := d.message("")
	out.Attempt, out.MaybeSent = 2, true
	d.mustSend(out)
	if len(d.sent()) != 1 {
		t.Errorf("%d messages", len(d.sent()))
	}
}

// TestSendLooksOnlyIfItMay: without the scope it is sent again, which is the
// lesser evil; while Slack cannot answer, it is not.
func TestSendLooksOnlyIfItMay(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	out := d.message("")
	out.Attempt, out.MaybeSent = 2, true
	for _, test := range []struct {
		fault fakeslack.Fault
		kind  adapters.SendKind
	}{
		{fakeslack.Fault{Status: http.StatusTooManyRequests, RetryAfter: 9 * time.Second}, adapters.SendRateLimited},
		{fakeslack.Fault{Status: http.StatusServiceUnavailable}, adapters.SendUnknown},
		{fakeslack.Fault{Drop: true}, adapters.SendUnknown},
		{fakeslack.Fault{Error: "channel_not_found"}, adapters.SendGone},
		{fakeslack.Fault{Error: "internal_error"}, adapters.SendUnknown},
		{fakeslack.Fault{Error: "invalid_auth"}, adapters.SendDenied},
	} {
		d.fake.Fail("conversations.history", test.fault)
		if kind := d.kind(out); kind != test.kind {
			t.Errorf("%+v: %s, want %s", test.fault, kind, test.kind)
		}
	}
	if len(d.sent()) > 0 {
		t.Fatal("it was posted without looking")
	}
	d.fake.SetScopes("chat:write")
	d.mustSend(out)
}

// TestSendTrustsItsOwnMetadataOnly: another bot that copies a delivery's id
// does not make it count as sent.
func TestSendTrustsItsOwnMetadataOnly(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.fake.Bot("U0ROBOT", "Robot").Say("C0GEN", "mine", fakeslack.With("metadata", map[string]any{
		"event_type": "parley_delivery", "event_payload": map[string]any{"delivery_id": "d-1"},
	}))
	out := d.message("")
	out.Attempt, out.MaybeSent = 2, true
	d.mustSend(out)
	if len(d.sent()) != 1 {
		t.Error("the bot's message is missing")
	}
}

func TestSendFallsBackToText(t *testing.T) {
	t.Parallel()
	for _, code := range []string{"invalid_blocks", "msg_blocks_too_long"} {
		d := newDesk(t)
		d.fake.Fail("chat.postMessage", fakeslack.Fault{Error: code})
		d.mustSend(d.message(""))
		if sent := d.sent()[0]; sent.Markdown != "" || sent.Text != "*hello*" || sent.DeliveryID != "d-1" {
			t.Errorf("%s: sent %+v", code, sent)
		}
	}
}

// TestSendOwnClientID: where Slack takes the client_msg_id for one it has seen
// and has no message for it, the message goes without.
func TestSendOwnClientID(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.fake.Fail("chat.postMessage", fakeslack.Fault{Error: "duplicate_message_not_found"})
	d.mustSend(d.message(""))
	if sent := d.sent()[0]; sent.Params.Has("client_msg_id") || sent.DeliveryID != "d-1" {
		t.Errorf("sent %+v", sent)
	}
}

func TestSendArguments(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	parent := d.alice.Say("C0GEN", "parent")
	out := d.message(parent)
	out.Text = "see <!channel> and <@U0ALICE> at https://x.org"
	d.mustSend(out)
	sent := d.sent()[0]
	if sent.Thread != parent || len(sent.Notifies) > 0 || sent.Params.Get("unfurl_links") != "false" || sent.Params.Get("unfurl_media") != "false" {
		t.Errorf("sent %+v", sent)
	}
}

func TestSendRefusesForeignSurfaces(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	for _, surface := range []adapters.Surface{
		{Platform: adapters.Discord, Account: d.fake.BotUser(), Chat: "C0GEN"},
		{Platform: adapters.Slack, Account: d.fake.BotUser(), Chat: "#general"},
		{Platform: adapters.Slack, Account: d.fake.BotUser(), Chat: "C0GEN", Thread: "1"},
	} {
		out := d.message("")
		out.Surface = surface
		if kind := d.kind(out); kind != adapters.SendGone {
			t.Errorf("%s: %s", surface, kind)
		}
	}
	if len(d.fake.Calls()) > 0 {
		t.Error("Slack was asked")
	}
}

func TestSendWhereTheBotIsNot(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.fake.Remove("C0GEN")
	_, err := d.send(d.message(""))
	if failed := adapters.AsSendError(err); failed.Kind != adapters.SendGone || !strings.Contains(failed.Reason, "invite") {
		t.Errorf("%v", err)
	}
}

func TestDiagnose(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	problems := func(a *slack.Adapter) (list []string) {
		for _, finding := range a.Diagnose(ctx) {
			if finding.Level == adapters.LevelProblem {
				list = append(list, finding.What+" -> "+finding.Remedy)
			}
			if finding.Level != adapters.LevelOK && finding.Remedy == "" {
				t.Errorf("no remedy: %+v", finding)
			}
		}
		return list
	}
	d := newDesk(t)
	if found := problems(d.Adapter); len(found) > 0 {
		t.Errorf("all is well, and %q", found)
	}
	scopes := []string{}
	for scope := range slack.BotScopes() {
		if scope != "im:history" && scope != "users:read" {
			scopes = append(scopes, scope)
		}
	}
	d.fake.SetScopes(scopes...)
	found := problems(d.Adapter)
	if len(found) != 2 || !strings.Contains(found[0], "im:history") || !strings.Contains(found[1], "users:read") {
		t.Errorf("missing scopes: %q", found)
	}
	d.fake.RevokeAppToken()
	if found := problems(d.Adapter); len(found) != 3 || !strings.Contains(found[2], "app-level token was revoked") {
		t.Errorf("revoked app token: %q", found)
	}
	d.fake.RevokeBotToken()
	if found := problems(d.Adapter); len(found) != 1 || !strings.Contains(found[0], "bot token was revoked") {
		t.Errorf("revoked bot token: %q", found)
	}
}

func TestDiagnoseTokenWithoutConnections(t *testing.T) {
	t.Parallel()
	fake := start(t, fakeslack.Options{AppScopes: []string{"authorizations:read"}})
	a := quick(t, fake, adaptertest.Options{})
	for _, finding := range a.Diagnose(context.Background()) {
		if finding.Level == adapters.LevelProblem && strings.Contains(finding.What, "connections:write") {
			return
		}
	}
	t.Error("a token that opens no sockets is not noticed")
}
