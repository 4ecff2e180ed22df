package faketelegram_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"parley/adapters/markdown"
	"parley/test/faketelegram"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

type answer struct {
	OK          bool
	Result      json.RawMessage
	ErrorCode   int `json:"error_code"`
	Description string
	Parameters  map[string]int64
}

func post(t *testing.T, s *faketelegram.Server, method string, params ...string) answer {
	t.Helper()
	form := url.Values{}
	for i := 0; i < len(params); i += 2 {
		form.Set(params[i], params[i+1])
	}
	response, err := http.PostForm(s.URL()+"/bot"+s.Token()+"/"+method, form)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	var a answer
	if err := json.NewDecoder(response.Body).Decode(&a); err != nil {
		t.Fatal(err)
	}
	return a
}

func ids(t *testing.T, a answer) string {
	t.Helper()
	var updates []struct {
		ID int64 `json:"update_id"`
	}
	if err := json.Unmarshal(a.Result, &updates); err != nil {
		t.Fatalf("%v: %s %s", err, a.Result, a.Description)
	}
	var out []int64
	for _, u := range updates {
		out = append(out, u.ID-1000)
	}
	return fmt.Sprint(out)
}

func TestUpdatesComeUntilConfirmed(t *testing.T) {
	t.Parallel()
	s := faketelegram.New(t, faketelegram.Options{})
	alice := s.User(5, "Alice", "")
	for range 5 {
		alice.Send(alice.DM(), "x")
	}
	for _, step := range []struct{ offset, limit, want string }{
		{"", "", "[0 1 2 3 4]"}, {"", "2", "[0 1]"}, {"1002", "", "[2 3 4]"}, {"1001", "", "[2 3 4]"}, {"-1", "", "[4]"}, {"", "", "[4]"}, {"1005", "", "[]"},
	} {
		if got := ids(t, post(t, s, "getUpdates", "offset", step.offset, "limit", step.limit)); got != step.want {
			t.Errorf("offset %q: got %s, want %s", step.offset, got, step.want)
		}
	}
}

func TestLongPollWakes(t *testing.T) {
	t.Parallel()
	s := faketelegram.New(t, faketelegram.Options{})
	alice := s.User(5, "Alice", "")
	got := make(chan string, 1)
	go func() { got <- ids(t, post(t, s, "getUpdates", "timeout", "50")) }()
	waitCalls(t, s, 1)
	alice.Send(alice.DM(), "x")
	if got := <-got; got != "[0]" {
		t.Error(got)
	}
}

func waitCalls(t *testing.T, s *faketelegram.Server, n int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := s.WaitFor(ctx, func(calls []faketelegram.Call) bool { return len(calls) >= n }); err != nil {
		t.Fatal(err)
	}
}

func TestTwoPollersAndWebhookConflict(t *testing.T) {
	t.Parallel()
	s := faketelegram.New(t, faketelegram.Options{})
	first := make(chan answer, 2)
	poll := func() { first <- post(t, s, "getUpdates", "timeout", "50") }
	go poll()
	waitCalls(t, s, 1)
	go poll()
	if a := <-first; a.ErrorCode != 409 || !strings.Contains(a.Description, "other getUpdates") {
		t.Errorf("%+v", a)
	}
	post(t, s, "setWebhook", "url", "https://example.org")
	if a := <-first; a.ErrorCode != 409 || !strings.Contains(a.Description, "setWebhook") {
		t.Errorf("%+v", a)
	}
	if a := post(t, s, "getUpdates"); a.ErrorCode != 409 || !strings.Contains(a.Description, "webhook is active") {
		t.Errorf("%+v", a)
	}
	post(t, s, "deleteWebhook")
	if a := post(t, s, "getUpdates"); !a.OK {
		t.Errorf("%+v", a)
	}
}

func TestPrivacyModeHoldsBack(t *testing.T) {
	t.Parallel()
	s := faketelegram.New(t, faketelegram.Options{})
	alice := s.User(5, "Alice", "")
	group := s.Supergroup(-100, "Team")
	seen := func(text string, options ...faketelegram.SendOptions) bool {
		return alice.Send(group, text, options...).UpdateID != 0
	}
	if seen("hello") || seen("@parley_bot hello") || seen("/new") || seen("/new@other_bot") {
		t.Error("privacy mode shows what it must hold back")
	}
	if !seen("/new@parley_bot") {
		t.Error("a command for the bot was held back")
	}
	post(t, s, "sendMessage", "chat_id", "-100", "text", "hi")
	mine := s.Sent(group)[0].MessageID
	if !seen("/new") || !seen("thanks", faketelegram.SendOptions{ReplyTo: mine}) {
		t.Error("a command after the bot spoke, or a reply, was held back")
	}
	s.SetReadAllGroupMessages(true)
	if !seen("hello") {
		t.Error("held back with privacy mode off")
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	s := faketelegram.New(t, faketelegram.Options{})
	alice := s.User(5, "Alice", "")
	asked := alice.Send(alice.DM(), "x")
	group := s.Group(-4, "Team")
	s.Migrate(group, -1004, alice)
	long := strings.Repeat("🙂", 2049)
	tests := []struct {
		want   string
		params []string
	}{
		{"message text is empty", []string{"chat_id", "5", "text", " \n"}},
		{"message text is empty", []string{"chat_id", "5", "text", "<b></b>", "parse_mode", "HTML"}},
		{"message is too long", []string{"chat_id", "5", "text", long}},
		{"chat not found", []string{"chat_id", "6", "text", "x"}},
		{"can't parse entities: Unsupported start tag \"x\"", []string{"chat_id", "5", "text", "<x>", "parse_mode", "HTML"}},
		{"can't parse entities: Can't find end tag", []string{"chat_id", "5", "text", "<b>a", "parse_mode", "HTML"}},
		{"can't parse entities: Unmatched end tag", []string{"chat_id", "5", "text", "<b><i>a</b></i>", "parse_mode", "HTML"}},
		{"can't parse entities: Unexpected end tag", []string{"chat_id", "5", "text", "</b>", "parse_mode", "HTML"}},
		{"thread not found", []string{"chat_id", "5", "text", "x", "message_thread_id", "3"}},
		{"message to be replied not found", []string{"chat_id", "5", "text", "x", "reply_parameters", `{"message_id":99}`}},
		{"upgraded to a supergroup", []string{"chat_id", "-4", "text", "x"}},
	}
	for _, test := range tests {
		if a := post(t, s, "sendMessage", test.params...); a.OK || a.ErrorCode != 400 || !strings.Contains(a.Description, test.want) {
			t.Errorf("%q: %+v", test.params, a)
		}
	}
	alice.Block()
	if a := post(t, s, "sendMessage", "chat_id", "5", "text", "x"); a.ErrorCode != 403 {
		t.Errorf("%+v", a)
	}
	alice.Unblock()
	if a := post(t, s, "editMessageText", "chat_id", "5", "message_id", strconv.FormatInt(asked.MessageID, 10), "text", "x"); !strings.Contains(a.Description, "can't be edited") {
		t.Errorf("%+v", a)
	}
}

func TestEditsAndDeletes(t *testing.T) {
	t.Parallel()
	s := faketelegram.New(t, faketelegram.Options{})
	s.User(5, "Alice", "").DM()
	post(t, s, "sendMessage", "chat_id", "5", "text", "one")
	for _, step := range []struct{ method, text, want string }{
		{"editMessageText", "two", ""}, {"editMessageText", "two", "message is not modified"},
		{"deleteMessage", "", ""}, {"deleteMessage", "", "message to delete not found"}, {"editMessageText", "x", "message to edit not found"},
	} {
		params := []string{"chat_id", "5", "message_id", "1"}
		if step.text != "" {
			params = append(params, "text", step.text)
		}
		if a := post(t, s, step.method, params...); !strings.Contains(a.Description, step.want) || a.OK != (step.want == "") {
			t.Errorf("%+v: %+v", step, a)
		}
	}
}

func TestUnknownThingsAreViolations(t *testing.T) {
	t.Parallel()
	s := faketelegram.Start(faketelegram.Options{})
	defer s.Close()
	if a := post(t, s, "sendTelepathy"); a.ErrorCode != 404 {
		t.Errorf("%+v", a)
	}
	if a := post(t, s, "sendMessage", "chat_id", "5", "txt", "x"); a.ErrorCode != 400 {
		t.Errorf("%+v", a)
	}
	if got := s.Violations(); len(got) != 2 {
		t.Errorf("%q", got)
	}
}

func TestTokenIsChecked(t *testing.T) {
	t.Parallel()
	s := faketelegram.New(t, faketelegram.Options{})
	for path, want := range map[string]int{"/bot1:wrong/getMe": 401, "/botwrong/getMe": 404, "/": 404} {
		response, err := http.Get(s.URL() + path)
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		if response.StatusCode != want {
			t.Errorf("%s: %d", path, response.StatusCode)
		}
	}
}

func TestKeepsTheNewestCalls(t *testing.T) {
	t.Parallel()
	s := faketelegram.New(t, faketelegram.Options{KeepCalls: 10})
	for range 35 {
		post(t, s, "getMe")
	}
	calls := s.Calls()
	if last := calls[len(calls)-1]; last.Seq != 35 || last.Code != 200 || len(calls) > 20 {
		t.Errorf("%d calls, last %+v", len(calls), last)
	}
}

// FuzzTelegramHTML: whatever the source, the renderer's output is what the
// server parses, to the very length the renderer counted.
func FuzzTelegramHTML(f *testing.F) {
	for _, seed := range []string{
		"# a *b* `c` [d](http://e)", "> > a\n> ```go\n> x", "|a|b|\n|-|-|\n|`c`|**d**|", "**a `b` ~~c~~**", "[![i](http://a)](http://b)",
		"<b>&lt;&#0;&bogus;", "[a `b`](http://x) *[c](mailto:d)*", "- > a\n  - ```\n    b", "\x00\r\n\r",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, source string) {
		text, _, err := faketelegram.ParseHTML(markdown.Telegram(source))
		if err != nil {
			t.Fatalf("%v\nsource %q\nhtml   %q", err, source, markdown.Telegram(source))
		}
		if got := faketelegram.UTF16Length(text); got != markdown.TelegramLength(source) {
			t.Fatalf("the renderer counts %d, the server %d, for %q", markdown.TelegramLength(source), got, source)
		}
	})
}

func TestFindEntities(t *testing.T) {
	t.Parallel()
	text := "👍 @parley_bot see https://x.org/@nobody or me@x.org, /new@parley_bot (/stop) a@b @ab 1/2"
	got := fmt.Sprint(faketelegram.FindEntities(text))
	want := "[{mention 3 11  <nil> } {url 19 21  <nil> } {email 44 8  <nil> } {bot_command 54 15  <nil> } {bot_command 71 5  <nil> }]"
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestFaults(t *testing.T) {
	t.Parallel()
	s := faketelegram.New(t, faketelegram.Options{})
	s.User(5, "Alice", "").DM()
	s.Fail("sendMessage", faketelegram.Fault{Kind: faketelegram.TooManyRequests, RetryAfter: 3}, faketelegram.Fault{Kind: faketelegram.ServerError, After: true})
	if a := post(t, s, "sendMessage", "chat_id", "5", "text", "one"); a.ErrorCode != 429 || a.Parameters["retry_after"] != 3 {
		t.Errorf("%+v", a)
	}
	response, err := http.PostForm(s.URL()+"/bot"+s.Token()+"/sendMessage", url.Values{"chat_id": {"5"}, "text": {"two"}})
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	if sent := s.Sent(5); response.StatusCode != http.StatusBadGateway || len(sent) != 1 || sent[0].Text != "two" {
		t.Errorf("%d, %+v", response.StatusCode, sent)
	}
}
