package telegram_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"testing"
	"time"

	"parley/adapters"
	"parley/adapters/telegram"
	"parley/internal/secret"
	"parley/test/faketelegram"
)

func to(chat int64) adapters.Surface {
	return adapters.Surface{Platform: adapters.Telegram, Account: "77", Chat: strconv.FormatInt(chat, 10)}
}

func TestSends(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	alice := r.server.User(5, "Alice", "")
	asked := alice.Send(alice.DM(), "question")
	receipt, err := r.adapter.Send(r.ctx, adapters.Outgoing{Surface: to(5), Text: "**b** & `c`", ReplyTo: strconv.FormatInt(asked.MessageID, 10)})
	if err != nil {
		t.Fatal(err)
	}
	sent := r.server.Sent(5)
	if len(sent) != 1 || sent[0].Text != "b & c" || sent[0].ReplyTo != asked.MessageID || len(sent[0].Entities) != 2 {
		t.Errorf("%+v", sent)
	}
	if fmt.Sprint(receipt.MessageIDs) != fmt.Sprint([]int64{sent[0].MessageID}) {
		t.Errorf("receipt %v", receipt)
	}
	if _, err := r.adapter.Send(r.ctx, adapters.Outgoing{Surface: to(5), Text: "*<as it is>", Format: adapters.Plain, ReplyTo: "999"}); err != nil {
		t.Fatal(err)
	}
	if sent := r.server.Sent(5); sent[1].Text != "*<as it is>" || sent[1].ReplyTo != 0 {
		t.Errorf("%+v", sent[1])
	}
	if err := r.adapter.Typing(r.ctx, to(5)); err != nil {
		t.Error(err)
	}
}

// thawed is a context whose deadline has passed once the first request was
// answered, and whose timer has not fired.
type thawed struct {
	context.Context
	server *faketelegram.Server
}

func (c thawed) Deadline() (time.Time, bool) {
	for _, call := range c.server.Calls("sendMessage") {
		if call.Code != 0 {
			return time.Now().Add(-time.Second), true
		}
	}
	return time.Now().Add(time.Minute), true
}

// A message that is sent another way after a refusal is not sent so when the
// right to send may have passed to another process meanwhile.
func TestTheSecondRequestOfASendIsWithinItsDeadline(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.server.User(5, "Alice", "").DM()
	r.server.Fail("sendMessage", faketelegram.Fault{Kind: faketelegram.Refused, Code: 400, Text: "Bad Request: can't parse entities: odd"})
	_, err := r.adapter.Send(thawed{r.ctx, r.server}, adapters.Outgoing{Surface: to(5), Text: "**b**"})
	if err == nil || adapters.AsSendError(err).Kind != adapters.SendUnavailable {
		t.Errorf("it ends with %v", err)
	}
	if calls := r.server.Calls("sendMessage"); len(calls) != 1 || len(r.server.Sent(5)) != 0 {
		t.Errorf("%d requests, sent %+v", len(calls), r.server.Sent(5))
	}
}

func TestSendFallsBackOnce(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	alice := r.server.User(5, "Alice", "")
	forum := r.server.Forum(-1005, "Forum")
	topic := r.server.Topic(forum, alice)
	alice.DM()
	r.server.Fail("sendMessage", faketelegram.Fault{Kind: faketelegram.Refused, Code: 400, Text: "Bad Request: can't parse entities: odd"})
	if _, err := r.adapter.Send(r.ctx, adapters.Outgoing{Surface: to(5), Text: "**b**"}); err != nil {
		t.Fatal(err)
	}
	if sent := r.server.Sent(5); len(sent) != 1 || sent[0].Text != "**b**" {
		t.Errorf("%+v", sent)
	}
	r.server.CloseTopic(forum, topic)
	inTopic := to(forum)
	inTopic.Thread = strconv.FormatInt(topic, 10)
	if _, err := r.adapter.Send(r.ctx, adapters.Outgoing{Surface: inTopic, Text: "x"}); err != nil {
		t.Fatal(err)
	}
	if sent := r.server.Sent(forum); len(sent) != 1 || sent[0].Thread != 0 {
		t.Errorf("%+v", sent)
	}
}

func TestSendErrors(t *testing.T) {
	t.Parallel()
	fault := func(f faketelegram.Fault) func(*rig) adapters.Surface {
		return func(r *rig) adapters.Surface {
			r.server.Fail("sendMessage", f)
			return to(5)
		}
	}
	refused := func(code int, text string) func(*rig) adapters.Surface {
		return fault(faketelegram.Fault{Kind: faketelegram.Refused, Code: code, Text: text})
	}
	tests := []struct {
		name    string
		arrange func(*rig) adapters.Surface
		want    adapters.SendKind
	}{
		{"rate limit", fault(faketelegram.Fault{Kind: faketelegram.TooManyRequests, RetryAfter: 7}), adapters.SendRateLimited},
		{"server error", fault(faketelegram.Fault{Kind: faketelegram.ServerError}), adapters.SendUnknown},
		{"reset after the request", fault(faketelegram.Fault{Kind: faketelegram.CloseAtOnce}), adapters.SendUnknown},
		{"answer torn", fault(faketelegram.Fault{Kind: faketelegram.CloseMidBody, After: true}), adapters.SendUnknown},
		{"not the Bot API", fault(faketelegram.Fault{Kind: faketelegram.Garbage}), adapters.SendUnknown},
		{"internal error", refused(500, "Internal Server Error"), adapters.SendUnknown},
		{"token", refused(401, "Unauthorized"), adapters.SendDenied},
		{"not allowed", refused(400, "Bad Request: not enough rights to send text messages to the chat"), adapters.SendGone},
		{"chat not found", func(*rig) adapters.Surface { return to(404) }, adapters.SendGone},
		{"blocked", func(r *rig) adapters.Surface { r.server.User(5, "A", "").Block(); return to(5) }, adapters.SendGone},
		{"moved", func(r *rig) adapters.Surface {
			group := r.server.Group(-4, "Team")
			r.server.Migrate(group, -1004, r.server.User(5, "A", ""))
			return to(group)
		}, adapters.SendMoved},
		{"another platform", func(*rig) adapters.Surface {
			return adapters.Surface{Platform: adapters.Discord, Account: "1", Chat: "5"}
		}, adapters.SendRefused},
		{"no chat", func(*rig) adapters.Surface {
			return adapters.Surface{Platform: adapters.Telegram, Account: "77", Chat: "x"}
		}, adapters.SendRefused},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.server.User(5, "Alice", "").DM()
			_, err := r.adapter.Send(r.ctx, adapters.Outgoing{Surface: test.arrange(r), Text: "x"})
			sendErr := checkSendError(t, r, err)
			if sendErr.Kind != test.want {
				t.Fatalf("got %s, want %s: %v", sendErr.Kind, test.want, err)
			}
			if sendErr.Kind == adapters.SendRateLimited && sendErr.RetryAfter != 7*time.Second {
				t.Errorf("retry after %v", sendErr.RetryAfter)
			}
			if sendErr.Kind == adapters.SendMoved && sendErr.MovedTo != to(-1004) {
				t.Errorf("moved to %v", sendErr.MovedTo)
			}
		})
	}
}

func checkSendError(t *testing.T, r *rig, err error) *adapters.SendError {
	t.Helper()
	var sendErr *adapters.SendError
	if !errors.As(err, &sendErr) {
		t.Fatalf("%T: %v", err, err)
	}
	for cause := err; cause != nil; cause = errors.Unwrap(cause) {
		if strings.Contains(fmt.Sprintf("%v %+v", cause, cause), r.server.Token()) {
			t.Errorf("the token is in %v", cause)
		}
	}
	return sendErr
}

func TestTooLongAndEmptyAreRefused(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.server.User(5, "Alice", "").DM()
	for _, text := range []string{"", " \n", strings.Repeat("x", telegram.TextMax+1)} {
		_, err := r.adapter.Send(r.ctx, adapters.Outgoing{Surface: to(5), Text: text})
		if checkSendError(t, r, err).Kind != adapters.SendRefused {
			t.Errorf("%.20q: %v", text, err)
		}
	}
}

func TestTimeoutAfterTheRequestIsUnknown(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.server.User(5, "Alice", "").DM()
	r.server.Fail("sendMessage", faketelegram.Fault{Kind: faketelegram.Hang})
	ctx, cancel := context.WithCancel(r.ctx)
	defer cancel()
	go func() {
		defer cancel()
		r.server.WaitFor(r.ctx, func(calls []faketelegram.Call) bool { return len(calls) > 0 })
	}()
	_, err := r.adapter.Send(ctx, adapters.Outgoing{Surface: to(5), Text: "x"})
	if sendErr := checkSendError(t, r, err); sendErr.Kind != adapters.SendUnknown || !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

func TestUnreachableIsCertainlyNotSent(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.server.Close()
	_, err := r.adapter.Send(r.ctx, adapters.Outgoing{Surface: to(5), Text: "x"})
	if sendErr := checkSendError(t, r, err); sendErr.Kind != adapters.SendUnavailable {
		t.Errorf("%v", err)
	}
}

func TestLongAnswerArrivesWhole(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.server.User(5, "Alice", "").DM()
	text := "# Long\n\n" + strings.Repeat("Some **bold** words, 👍 and `code`.\n\n", 400) + "```go\n" + strings.Repeat("x := 1 < 2\n", 900) + "```\n"
	parts := r.adapter.Split(text, adapters.Markdown)
	for _, part := range parts {
		if _, err := r.adapter.Send(r.ctx, adapters.Outgoing{Surface: to(5), Text: part}); err != nil {
			t.Fatal(err)
		}
	}
	var got strings.Builder
	for _, sent := range r.server.Sent(5) {
		got.WriteString(sent.Text)
	}
	if count := strings.Count(got.String(), "x := 1 < 2"); count != 900 || strings.Contains(got.String(), "```") {
		t.Errorf("%d lines of code of 900 in %d parts", count, len(parts))
	}
}

func TestCommands(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	err := r.adapter.RegisterCommands(r.ctx, []adapters.CommandInfo{{Name: "new", Description: "Start afresh", Groups: true}, {Name: "start", Description: "Say hello"}})
	if err != nil {
		t.Fatal(err)
	}
	if got := r.server.Commands("default"); !strings.Contains(got, `"new"`) || !strings.Contains(got, `"start"`) {
		t.Error(got)
	}
	if got := r.server.Commands("all_group_chats"); !strings.Contains(got, `"new"`) || strings.Contains(got, `"start"`) {
		t.Error(got)
	}
	if err := r.adapter.RegisterCommands(r.ctx, []adapters.CommandInfo{{Name: "No!", Description: "x"}}); err == nil {
		t.Error("a bad name was accepted")
	}
}

func TestDiagnose(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	levels := func() string {
		var out []string
		for _, finding := range r.adapter.Diagnose(r.ctx) {
			out = append(out, string(finding.Level))
			if (finding.Level != adapters.LevelOK) != (finding.Remedy != "") {
				t.Errorf("%+v", finding)
			}
		}
		return strings.Join(out, " ")
	}
	if got := levels(); got != "ok ok ok" {
		t.Error(got)
	}
	r.server.SetReadAllGroupMessages(false)
	r.server.SetWebhook("https://example.org/hook")
	if got := levels(); got != "ok warning problem" {
		t.Error(got)
	}
	r.server.Fail("getMe", faketelegram.Fault{Kind: faketelegram.Refused, Code: 404, Text: "Not Found"}, faketelegram.Fault{Kind: faketelegram.CloseAtOnce})
	for range 2 {
		if got := levels(); got != "problem" {
			t.Error(got)
		}
	}
}

// TestTokenInNoError asks every method at a server that is not there.
func TestTokenInNoError(t *testing.T) {
	t.Parallel()
	const canary = "123456:canary-Token_zzz"
	adapter, err := telegram.New(telegram.Config{
		Token: secret.New(canary), APIURL: "http://127.0.0.1:1", Logger: slog.New(slog.DiscardHandler),
		Wait: func(context.Context, time.Duration) error { return context.Canceled },
	})
	if err != nil {
		t.Fatal(err)
	}
	_, sendErr := adapter.Send(t.Context(), adapters.Outgoing{Surface: to(5), Text: "x"})
	said := fmt.Sprintf("%v %+v %v %v %v %+v", sendErr, sendErr, adapter.Typing(t.Context(), to(5)),
		adapter.RegisterCommands(t.Context(), nil), adapter.Diagnose(t.Context()), adapter)
	runErr := adapter.Run(t.Context(), func(context.Context, adapters.Event) error { return nil })
	said += fmt.Sprintf("%v %+v", runErr, adapter.Health())
	if strings.Contains(said, "canary") {
		t.Errorf("the token shows in %s", said)
	}
}
