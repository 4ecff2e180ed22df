package slack

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	slackapi "github.com/slack-go/slack"

	"parley/adapters"
	"parley/adapters/markdown"
)

func out(text string) adapters.Outgoing {
	return adapters.Outgoing{Surface: place("C0GEN", ""), Text: text, DeliveryID: "d-1"}
}

func TestRender(t *testing.T) {
	t.Parallel()
	threaded := out("**hi** <!channel>")
	threaded.Surface.Thread, threaded.ReplyTo = tsA, tsB
	got := render(threaded)
	want := url.Values{
		"channel": {"C0GEN"}, "thread_ts": {tsA}, "unfurl_links": {"false"}, "unfurl_media": {"false"}, "link_names": {"false"},
		"metadata":      {`{"event_type":"parley_delivery","event_payload":{"delivery_id":"d-1"}}`},
		"client_msg_id": {clientMessageID(threaded)},
		"text":          {"*hi* &lt;!channel&gt;"},
		"blocks":        {`[{"type":"markdown","text":"**hi** \u003c` + "\u200b" + `!channel\u003e"}]`},
	}
	if got.Encode() != want.Encode() {
		t.Errorf("\n got %v\nwant %v", got, want)
	}
	plain := out("*a* <b> & <!here>")
	plain.Format = adapters.Plain
	got = render(plain)
	if got.Has("blocks") || got.Get("text") != "*a* &lt;b&gt; &amp; &lt;!here&gt;" || got.Get("mrkdwn") != "false" || got.Has("thread_ts") {
		t.Errorf("plain: %v", got)
	}
}

func TestClientMessageID(t *testing.T) {
	t.Parallel()
	a, b, c := out("x"), out("y"), out("x")
	b.Attempt = 3
	c.DeliveryID = "d-2"
	if clientMessageID(a) != clientMessageID(b) || clientMessageID(a) == clientMessageID(c) {
		t.Error("the id does not follow the delivery")
	}
	if !regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$`).MatchString(clientMessageID(a)) {
		t.Errorf("%q is no UUID", clientMessageID(a))
	}
}

func TestClip(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		text  string
		limit int
		want  string
	}{
		{"short", 5, "short"},
		{"shorter", 5, "shor…"},
		{"ab&amp;cd", 5, "ab…"},
		{"a <https://x.org|y> b", 12, "a …"},
		{"🦊🦊🦊", 4, "🦊…"},
	} {
		if got := clip(test.text, test.limit); got != test.want {
			t.Errorf("clip(%q, %d) is %q, want %q", test.text, test.limit, got, test.want)
		}
	}
}

func FuzzRender(f *testing.F) {
	for _, seed := range []string{"hi", "<!channel>", "|a|b|\n|-|-|\n|1|2|", strings.Repeat("&<", 3000), "```\n<@U1>\n", "[x](https://y|<!here>)"} {
		f.Add(seed, false)
		f.Add(seed, true)
	}
	control := regexp.MustCompile(`(?i)<(!|[@#][a-z0-9])`)
	f.Fuzz(func(t *testing.T, text string, plain bool) {
		message := out(text)
		if plain {
			message.Format = adapters.Plain
		}
		a := &Adapter{}
		for _, part := range a.Split(text, message.Format) {
			message.Text = part
			values := render(message)
			if n := markdown.UTF16Length(values.Get("text")); n > plainMax {
				t.Errorf("the text has %d units", n)
			}
			if found := control.FindString(values.Get("text")); found != "" {
				t.Errorf("the text has %q", found)
			}
			if values.Has("blocks") {
				checkBlocks(t, values.Get("blocks"))
			}
		}
	})
}

func checkBlocks(t *testing.T, encoded string) {
	t.Helper()
	var blocks []struct{ Type, Text string }
	if err := json.Unmarshal([]byte(encoded), &blocks); err != nil || len(blocks) != 1 || blocks[0].Type != "markdown" {
		t.Fatalf("blocks %.200s: %v", encoded, err)
	}
	if n := markdown.UTF16Length(blocks[0].Text); n > textMax {
		t.Errorf("the block has %d units", n)
	}
}

func TestSendErrors(t *testing.T) {
	t.Parallel()
	said := func(code string) error { return slackapi.SlackErrorResponse{Err: code} }
	for _, test := range []struct {
		err   error
		kind  adapters.SendKind
		after time.Duration
	}{
		{&slackapi.RateLimitedError{RetryAfter: 7 * time.Second}, adapters.SendRateLimited, 7 * time.Second},
		{said("ratelimited"), adapters.SendRateLimited, retryAfterDefault},
		{slackapi.StatusCodeError{Code: 500}, adapters.SendUnknown, 0},
		{slackapi.StatusCodeError{Code: 502}, adapters.SendUnknown, 0},
		{slackapi.StatusCodeError{Code: 503}, adapters.SendUnavailable, 0},
		{slackapi.StatusCodeError{Code: 408}, adapters.SendUnknown, 0},
		{slackapi.StatusCodeError{Code: 404}, adapters.SendUnavailable, 0},
		{slackapi.StatusCodeError{Code: 413}, adapters.SendRefused, 0},
		{slackapi.StatusCodeError{Code: 302}, adapters.SendUnavailable, 0},
		{said("channel_not_found"), adapters.SendGone, 0},
		{said("is_archived"), adapters.SendGone, 0},
		{said("not_in_channel"), adapters.SendGone, 0},
		{said("msg_too_long"), adapters.SendRefused, 0},
		{said("no_text"), adapters.SendRefused, 0},
		{said("invalid_auth"), adapters.SendDenied, 0},
		{said("missing_scope"), adapters.SendDenied, 0},
		{said("service_unavailable"), adapters.SendUnavailable, 0},
		{said("internal_error"), adapters.SendUnknown, 0},
		{said("fatal_error"), adapters.SendUnknown, 0},
		{said("something_of_tomorrow"), adapters.SendUnknown, 0},
		{&callError{Written: false, Err: errors.New("dial")}, adapters.SendUnavailable, 0},
		{&callError{Written: true, Err: errors.New("reset")}, adapters.SendUnknown, 0},
		{errors.New("what"), adapters.SendUnknown, 0},
	} {
		got := sendError(fmt.Errorf("posting: %w", test.err))
		if got.Kind != test.kind || got.RetryAfter != test.after || got.Reason == "" {
			t.Errorf("%v: %+v, want %s", test.err, got, test.kind)
		}
	}
}

func TestRetryAfter(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]time.Duration{"7": 7 * time.Second, "1": time.Second, "": retryAfterDefault, "soon": retryAfterDefault, "-3": retryAfterDefault, "0": retryAfterDefault} {
		if got := retryAfter(http.Header{"Retry-After": {value}}); got != want {
			t.Errorf("%q is %s", value, got)
		}
	}
}

func TestScrub(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"dial wss://x/link?ticket=abc-1&app_id=A1": "dial wss://x/link?***&app_id=A1",
		`"xoxb-12-ab" and xapp-1-A-2-c`:            `"***" and ***`,
		"xoxe.xoxp-1-ab":                           "***",
	} {
		if got := (Config{}).scrub(text); got != want {
			t.Errorf("%q becomes %q", text, got)
		}
	}
}
