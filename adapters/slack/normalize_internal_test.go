package slack

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"parley/adapters"
)

func known() facts {
	return facts{
		now:      timeOf(tsC),
		me:       self{User: "U0BOT", Bot: "B0BOT", Name: "parley", Team: "T0TEAM"},
		users:    map[string]string{"U0ALICE": "Alice & Co"},
		channels: map[string]channel{"C0GEN": {Name: "general"}, "D0ALICE": {Direct: true, With: "U0ALICE"}},
	}
}

func place(chat, thread string) adapters.Surface {
	return adapters.Surface{Platform: adapters.Slack, Account: "U0BOT", Chat: chat, Thread: thread}
}

// wrapped is an event with what Slack puts around it.
func wrapped(event string) incoming {
	return incoming{kind: kindEvents, payload: json.RawMessage(`{"type":"event_callback","team_id":"T0TEAM","event_id":"Ev1",
		"authorizations":[{"team_id":"T0TEAM","user_id":"U0BOT","is_bot":true}],"event":` + event + `}`)}
}

const (
	tsA = "1716000000.000100"
	tsB = "1716000005.000200"
	tsC = "1716000009.000300"
)

func at(ts string) time.Time { return timeOf(ts) }

func TestNormalizeMessages(t *testing.T) {
	t.Parallel()
	alice := adapters.Sender{ID: "slack:U0ALICE", Name: "Alice & Co"}
	base := adapters.Event{
		Kind: adapters.EventMessage, ID: "m:C0GEN:" + tsA, Surface: place("C0GEN", ""), Title: "#general", Workspace: "T0TEAM", BotName: "parley",
		Sender: alice, MessageID: tsA, Sequence: 1716000000000100, Time: at(tsA), Text: "hi",
	}
	with := func(change func(*adapters.Event)) adapters.Event { e := base; change(&e); return e }
	for name, test := range map[string]struct {
		event string
		want  adapters.Event
	}{
		"message": {`{"type":"message","channel":"C0GEN","channel_type":"channel","user":"U0ALICE","text":"hi","ts":"` + tsA + `"}`, base},
		"mention as message": {`{"type":"message","channel":"C0GEN","channel_type":"channel","user":"U0ALICE","text":"<@U0BOT> hi","ts":"` + tsA + `"}`,
			with(func(e *adapters.Event) { e.Mentioned = true })},
		"mention as mention": {`{"type":"app_mention","channel":"C0GEN","user":"U0ALICE","text":"<@U0BOT> hi","ts":"` + tsA + `"}`,
			with(func(e *adapters.Event) { e.Mentioned = true })},
		"unknown blocks": {`{"type":"message","channel":"C0GEN","user":"U0ALICE","text":"hi","ts":"` + tsA + `","blocks":[{"type":7},"x"]}`, base},
		"direct": {`{"type":"message","channel":"D0ALICE","channel_type":"im","user":"U0ALICE","text":"hi","ts":"` + tsA + `"}`,
			with(func(e *adapters.Event) {
				e.ID, e.Surface, e.Direct, e.Title = "m:D0ALICE:"+tsA, place("D0ALICE", ""), true, ""
			})},
		"several people's chat": {`{"type":"message","channel":"G0MANY","channel_type":"mpim","user":"U0ALICE","text":"hi","ts":"` + tsA + `"}`,
			with(func(e *adapters.Event) { e.ID, e.Surface, e.Title = "m:G0MANY:"+tsA, place("G0MANY", ""), "" })},
		"thread": {`{"type":"message","channel":"C0GEN","user":"U0ALICE","text":"hi","ts":"` + tsB + `","thread_ts":"` + tsA + `","parent_user_id":"U0ALICE"}`,
			with(func(e *adapters.Event) {
				e.ID, e.MessageID, e.Sequence, e.Time = "m:C0GEN:"+tsB, tsB, 1716000005000200, at(tsB)
				e.Surface, e.ReplyTo = place("C0GEN", tsA), tsA
			})},
		"thread of the bot": {`{"type":"message","subtype":"thread_broadcast","channel":"C0GEN","user":"U0ALICE","text":"hi","ts":"` + tsB + `","thread_ts":"` + tsA + `","parent_user_id":"U0BOT"}`,
			with(func(e *adapters.Event) {
				e.ID, e.MessageID, e.Sequence, e.Time = "m:C0GEN:"+tsB, tsB, 1716000005000200, at(tsB)
				e.Surface, e.ReplyTo, e.InBotThread = place("C0GEN", tsA), tsA, true
			})},
		"what a thread hangs from": {`{"type":"message","channel":"C0GEN","user":"U0ALICE","text":"hi","ts":"` + tsA + `","thread_ts":"` + tsA + `"}`, base},
		"file": {`{"type":"message","subtype":"file_share","channel":"C0GEN","user":"U0ALICE","text":"hi","ts":"` + tsA + `","files":[{"id":"F1","name":"a.png","mimetype":"image/png","size":7},{"id":"F2"}]}`,
			with(func(e *adapters.Event) {
				e.Attachments = []adapters.Attachment{{Kind: "photo", Name: "a.png", MIME: "image/png", Size: 7, Ref: "F1"}, {Kind: "other", Ref: "F2"}}
			})},
		"the bot itself": {`{"type":"message","channel":"C0GEN","user":"U0BOT","bot_id":"B0BOT","text":"hi","ts":"` + tsA + `"}`,
			with(func(e *adapters.Event) { e.Sender = adapters.Sender{ID: "slack:U0BOT", Bot: true, Self: true} })},
		"another bot": {`{"type":"message","channel":"C0GEN","user":"U0OTHER","bot_id":"B0OTHER","text":"hi","ts":"` + tsA + `"}`,
			with(func(e *adapters.Event) { e.Sender = adapters.Sender{ID: "slack:U0OTHER", Bot: true} })},
		"webhook": {`{"type":"message","subtype":"bot_message","channel":"C0GEN","bot_id":"B0HOOK","username":"Alice","text":"hi","ts":"` + tsA + `"}`,
			with(func(e *adapters.Event) {
				e.Sender = adapters.Sender{ID: "slack:B0HOOK", Name: "Alice", Bot: true, Unverified: true}
			})},
		"edit": {`{"type":"message","subtype":"message_changed","channel":"C0GEN","ts":"` + tsB + `","event_ts":"` + tsB + `",
			"message":{"user":"U0ALICE","text":"hi","ts":"` + tsA + `","edited":{"user":"U0ALICE","ts":"` + tsC + `"}},"previous_message":{"user":"U0ALICE","text":"h","ts":"` + tsA + `"}}`,
			with(func(e *adapters.Event) {
				e.Kind, e.ID, e.Sequence, e.Time = adapters.EventEdit, "e:C0GEN:"+tsA+":"+tsC, 1716000009000300, at(tsC)
			})},
		"delete": {`{"type":"message","subtype":"message_deleted","channel":"C0GEN","event_ts":"` + tsB + `","deleted_ts":"` + tsA + `","previous_message":{"user":"U0ALICE","text":"hi","ts":"` + tsA + `"}}`,
			with(func(e *adapters.Event) {
				e.Kind, e.ID, e.Text, e.Sequence, e.Time = adapters.EventDelete, "d:C0GEN:"+tsA, "", 1716000005000200, at(tsB)
			})},
		"delete below which a thread hangs": {`{"type":"message","subtype":"message_changed","channel":"C0GEN","event_ts":"` + tsB + `",
			"message":{"subtype":"tombstone","user":"USLACKBOT","text":"gone","ts":"` + tsA + `"},"previous_message":{"user":"U0ALICE","text":"hi","ts":"` + tsA + `"}}`,
			with(func(e *adapters.Event) {
				e.Kind, e.ID, e.Text, e.Sequence, e.Time = adapters.EventDelete, "d:C0GEN:"+tsA, "", 1716000005000200, at(tsB)
			})},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := normalize(wrapped(test.event), known())
			if err != nil || len(got.events) != 1 || !reflect.DeepEqual(got.events[0], test.want) {
				t.Errorf("%v\n got %+v\nwant %+v", err, got.events, test.want)
			}
			if got.delivery != "Ev1" {
				t.Errorf("the delivery is %q", got.delivery)
			}
		})
	}
}

func TestNormalizeOthers(t *testing.T) {
	t.Parallel()
	event := func(kind adapters.EventKind, id, chat, ts string, change func(*adapters.Event)) adapters.Event {
		e := adapters.Event{
			Kind: kind, ID: id, Surface: place(chat, ""), Workspace: "T0TEAM", BotName: "parley",
			Sender: adapters.Sender{ID: "slack:U0ALICE", Name: "Alice & Co"}, Sequence: sequenceOf(ts), Time: at(ts),
		}
		if chat == "C0GEN" {
			e.Title = "#general"
		}
		if change != nil {
			change(&e)
		}
		return e
	}
	for name, test := range map[string]struct {
		in   incoming
		want adapters.Event
	}{
		"reaction": {wrapped(`{"type":"reaction_added","user":"U0ALICE","reaction":"tada","event_ts":"` + tsB + `","item":{"type":"message","channel":"C0GEN","ts":"` + tsA + `"}}`),
			event(adapters.EventReaction, "r:C0GEN:"+tsA+":U0ALICE:tada:"+tsB, "C0GEN", tsB, func(e *adapters.Event) { e.MessageID, e.Text = tsA, "tada" })},
		"reaction taken back": {wrapped(`{"type":"reaction_removed","user":"U0ALICE","reaction":"tada","event_ts":"` + tsB + `","item":{"type":"message","channel":"C0GEN","ts":"` + tsA + `"}}`),
			event(adapters.EventReaction, "r:C0GEN:"+tsA+":U0ALICE:tada:"+tsB, "C0GEN", tsB, func(e *adapters.Event) { e.MessageID = tsA })},
		"join": {wrapped(`{"type":"member_joined_channel","user":"U0ALICE","channel":"C0GEN","event_ts":"` + tsA + `"}`),
			event(adapters.EventMember, "u:C0GEN:U0ALICE:joined:"+tsA, "C0GEN", tsA, func(e *adapters.Event) { e.Text = "joined" })},
		"departure": {wrapped(`{"type":"member_left_channel","user":"U0ALICE","channel":"C0GEN","channel_type":"C","team":"T0TEAM","event_ts":"` + tsA + `"}`),
			event(adapters.EventLeft, "u:C0GEN:U0ALICE:left:"+tsA, "C0GEN", tsA, nil)},
		"new channel id": {wrapped(`{"type":"channel_id_changed","old_channel_id":"C0GEN","new_channel_id":"C0NEW","event_ts":"` + tsA + `"}`),
			event(adapters.EventMigrate, "x:C0GEN:C0NEW", "C0GEN", tsA, func(e *adapters.Event) {
				e.Sender, e.Sequence, e.MigratedTo = adapters.Sender{}, 0, place("C0NEW", "")
			})},
		"command in a group": {incoming{kindCommand, json.RawMessage(`{"command":"/New","text":" idea <@U0ALICE> ","team_id":"T0TEAM","channel_id":"C0GEN","user_id":"U0ALICE","user_name":"al","trigger_id":"1.2.x"}`)},
			event(adapters.EventMessage, "c:1.2.x", "C0GEN", "", func(e *adapters.Event) {
				e.Time = at(tsC)
				e.Text, e.Command = "/new idea @Alice & Co", &adapters.NativeCommand{Name: "new", Args: "idea @Alice & Co"}
			})},
		"command in the bot's own chat": {incoming{kindCommand, json.RawMessage(`{"command":"/help","team_id":"T0TEAM","channel_id":"D0ALICE","user_id":"U0ALICE","trigger_id":"1"}`)},
			event(adapters.EventMessage, "c:1", "D0ALICE", "", func(e *adapters.Event) {
				e.Time = at(tsC)
				e.Direct, e.Text, e.Command = true, "/help", &adapters.NativeCommand{Name: "help"}
			})},
		"command in other people's chat": {incoming{kindCommand, json.RawMessage(`{"command":"/help","team_id":"T0TEAM","channel_id":"D0OTHERS","user_id":"U0ALICE","trigger_id":"1"}`)},
			event(adapters.EventMessage, "c:1", "D0OTHERS", "", func(e *adapters.Event) {
				e.Time = at(tsC)
				e.Text, e.Command = "/help", &adapters.NativeCommand{Name: "help"}
			})},
		"button": {incoming{kindInteractive, json.RawMessage(`{"type":"block_actions","team":{"id":"T0TEAM"},"user":{"id":"U0ALICE","name":"al"},"channel":{"id":"C0GEN"},
			"container":{"channel_id":"C0GEN","message_ts":"` + tsA + `"},"actions":[{"action_id":"yes","value":"v1","action_ts":"` + tsB + `"}]}`)},
			event(adapters.EventButton, "b:C0GEN:"+tsA+":U0ALICE:yes:"+tsB, "C0GEN", tsB, func(e *adapters.Event) { e.MessageID, e.Text = tsA, "v1" })},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := normalize(test.in, known())
			if err != nil || len(got.events) != 1 || !reflect.DeepEqual(got.events[0], test.want) {
				t.Errorf("%v\n got %+v\nwant %+v", err, got.events, test.want)
			}
		})
	}
}

func TestUmbrellaCommand(t *testing.T) {
	t.Parallel()
	me := self{Name: "helper"}
	for _, test := range []struct{ name, args, want, wantArgs string }{
		{"new", "status", "new", "status"},
		{"parley", "status", "status", ""},
		{"parley", "/Allow  slack:U1:C1 ", "allow", "slack:U1:C1"},
		{"parley", "allow\tx\ny", "allow", "x\ny"},
		{"parley", "", "help", ""},
		{"helper", "new", "new", ""},
	} {
		if got := under(test.name, test.args, me); got.Name != test.want || strings.TrimSpace(got.Args) != test.wantArgs {
			t.Errorf("/%s %s is %+v", test.name, test.args, got)
		}
	}
	if got := under("parley", "status", self{}); got.Name != "status" {
		t.Errorf("without a name: %+v", got)
	}
}

func TestNormalizeRefuses(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		in   incoming
		want error
		kind string
	}{
		"unknown envelope":    {incoming{kind: "tomorrow"}, errUnknownKind, "tomorrow"},
		"unknown callback":    {incoming{kindEvents, json.RawMessage(`{"type":"app_rate_limited"}`)}, errUnknownKind, "app_rate_limited"},
		"unknown event":       {wrapped(`{"type":"novelty"}`), errUnknownKind, "novelty"},
		"unknown subtype":     {wrapped(`{"type":"message","subtype":"novelty","channel":"C0GEN"}`), errUnknownKind, "message/novelty"},
		"of no use":           {wrapped(`{"type":"message","subtype":"channel_topic","channel":"C0GEN"}`), errNoUse, "message/channel_topic"},
		"preview of a link":   {wrapped(`{"type":"message","subtype":"message_changed","channel":"C0GEN","message":{"user":"U1","text":"x","ts":"` + tsA + `"},"previous_message":{"user":"U1","text":"x","ts":"` + tsA + `"}}`), errNoUse, "message/message_changed"},
		"reaction to a file":  {wrapped(`{"type":"reaction_added","user":"U1","reaction":"x","item":{"type":"file"}}`), errNoUse, "reaction_added"},
		"no author":           {wrapped(`{"type":"message","channel":"C0GEN","text":"x","ts":"` + tsA + `"}`), errMalformed, "message"},
		"author by name":      {wrapped(`{"type":"message","channel":"C0GEN","user":"alice","text":"x","ts":"` + tsA + `"}`), errMalformed, "message"},
		"no channel":          {wrapped(`{"type":"message","user":"U1","text":"x","ts":"` + tsA + `"}`), errMalformed, "message"},
		"bad time":            {wrapped(`{"type":"message","channel":"C0GEN","user":"U1","text":"x","ts":"1.1"}`), errMalformed, "message"},
		"bad thread":          {wrapped(`{"type":"message","channel":"C0GEN","user":"U1","text":"x","ts":"` + tsA + `","thread_ts":"../x"}`), errMalformed, "message"},
		"wrong type":          {wrapped(`{"type":"message","channel":"C0GEN","user":"U1","text":5,"ts":"` + tsA + `"}`), errMalformed, "message"},
		"edit of nothing":     {wrapped(`{"type":"message","subtype":"message_changed","channel":"C0GEN"}`), errMalformed, "message/message_changed"},
		"delete of nothing":   {wrapped(`{"type":"message","subtype":"message_deleted","channel":"C0GEN","deleted_ts":"` + tsA + `"}`), errMalformed, "message/message_deleted"},
		"button without":      {incoming{kindInteractive, json.RawMessage(`{"type":"block_actions"}`)}, errMalformed, "interactive/block_actions"},
		"modal":               {incoming{kindInteractive, json.RawMessage(`{"type":"view_submission"}`)}, errUnknownKind, "interactive/view_submission"},
		"command without /":   {incoming{kindCommand, json.RawMessage(`{"command":"new","channel_id":"C1","user_id":"U1","trigger_id":"1"}`)}, errMalformed, kindCommand},
		"an id of a megabyte": {wrapped(`{"type":"reaction_added","user":"U1","reaction":"` + strings.Repeat("x", 1<<20) + `","item":{"type":"message","channel":"C1","ts":"` + tsA + `"}}`), errMalformed, "reaction_added"},
		"another workspace": {incoming{kindEvents, json.RawMessage(`{"type":"event_callback","team_id":"T9","authorizations":[{"team_id":"T9","user_id":"U9"}],
			"event":{"type":"message","channel":"C1","user":"U1","text":"x","ts":"` + tsA + `"}}`)}, errElsewhere, "message"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := normalize(test.in, known())
			if !errors.Is(err, test.want) || len(got.events) > 0 || got.kind != test.kind {
				t.Errorf("%v, kind %q, events %+v", err, got.kind, got.events)
			}
		})
	}
}

// TestMentionCarriesFiles: whichever of the two events of one text comes
// second, it has all that its payload has.
func TestMentionCarriesFiles(t *testing.T) {
	t.Parallel()
	const rest = `"channel":"C0GEN","user":"U0ALICE","text":"<@U0BOT> see","ts":"` + tsA + `","files":[{"id":"F1","name":"a","mimetype":"text/plain"}]}`
	first, err := normalize(wrapped(`{"type":"message","subtype":"file_share",`+rest), known())
	if err != nil {
		t.Fatal(err)
	}
	second, err := normalize(wrapped(`{"type":"app_mention",`+rest), known())
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(first.events, second.events) || len(first.events[0].Attachments) != 1 {
		t.Errorf("%+v\n%+v", first.events, second.events)
	}
}

func TestReadable(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]string{
		"plain":                        "plain",
		"a &lt;b&gt; &amp;amp; &quot;": "a <b> &amp; &quot;",
		"<@U0BOT> hello":               "hello",
		"hello <@U0BOT>":               "hello",
		"hello <@U0BOT> there":         "hello there",
		"<@U0BOT|parley>\nnew":         "new",
		"<@U0BOT>":                     "",
		"<@U0BOTX> hi":                 "@U0BOTX hi",
		"<@U0ALICE> and <@U0BOB|bob> and <@U0EVE>":                    "@Alice & Co and @bob and @U0EVE",
		"<#C0GEN> <#C9|dev> <#C8>":                                    "#general #dev #C8",
		"<!here> <!channel|channel> <!subteam^S1|@ops> <!subteam^S2>": "@here @channel @ops @subteam",
		"<!date^1392734382^{date}|Feb 18, 2014>":                      "Feb 18, 2014",
		"<https://x.org/?a=1&amp;b=2>":                                "https://x.org/?a=1&b=2",
		"<https://x.org|x.org> <https://x.org/|x.org>":                "https://x.org https://x.org/",
		"<https://x.org|the site>":                                    "the site (https://x.org)",
		"<mailto:a@x.org|a@x.org> <mailto:a@x.org>":                   "a@x.org a@x.org",
		"a < b, <unclosed":                                            "a < b, <unclosed",
		"&lt;@U0BOT&gt;":                                              "<@U0BOT>",
	} {
		got, mentioned := readable(raw, known())
		if got != want {
			t.Errorf("%q reads %q, want %q", raw, got, want)
		}
		if mentioned != (strings.Contains(raw, "<@U0BOT>") || strings.Contains(raw, "<@U0BOT|")) {
			t.Errorf("%q: mentioned is %v", raw, mentioned)
		}
	}
}

func TestMicroseconds(t *testing.T) {
	t.Parallel()
	for ts, want := range map[string]int64{"1716000000.123456": 1716000000123456, "0.000001": 1} {
		if got, ok := microseconds(ts); !ok || got != want {
			t.Errorf("%q is %d, %v", ts, got, ok)
		}
	}
	for _, ts := range []string{"", ".", "1", "1.1", "-1.000000", "1.-00001", "1.0000000", "9999999999999.000000", "1 .000000", "１.000000"} {
		if _, ok := microseconds(ts); ok {
			t.Errorf("%q counts as a time", ts)
		}
	}
}

func FuzzNormalize(f *testing.F) {
	for _, seed := range []string{
		`{"type":"message","channel":"C0GEN","user":"U0ALICE","text":"<@U0BOT> <x|y> &lt;","ts":"` + tsA + `","thread_ts":"` + tsB + `","files":[{}]}`,
		`{"type":"message","subtype":"message_changed","channel":"C0GEN","message":{"user":"U1","text":"x","ts":"` + tsA + `"},"previous_message":{}}`,
		`{"type":"message","subtype":"message_deleted","channel":"C0GEN","deleted_ts":"` + tsA + `","previous_message":{"bot_id":"B1"}}`,
		`{"type":"reaction_added","user":"U1","reaction":"x","item":{"type":"message","channel":"C1","ts":"` + tsA + `"}}`,
		`{"type":"channel_id_changed","old_channel_id":"C1","new_channel_id":"C2"}`,
		`{"type":"member_joined_channel","user":"U1","channel":"C1"}`,
	} {
		f.Add(0, []byte(wrapped(seed).payload))
	}
	f.Add(1, []byte(`{"command":"/x","channel_id":"C1","user_id":"U1","trigger_id":"1","text":"<@U2>"}`))
	f.Add(2, []byte(`{"type":"block_actions","user":{"id":"U1"},"container":{"channel_id":"C1","message_ts":"`+tsA+`"},"actions":[{},{}]}`))
	f.Add(0, []byte(`null`))
	f.Fuzz(func(t *testing.T, kind int, payload []byte) {
		in := incoming{kind: []string{kindEvents, kindCommand, kindInteractive}[uint(kind)%3], payload: payload}
		found := namedIn(in)
		if len(found.users) > 3*mentionsMax {
			t.Errorf("%d people to look up", len(found.users))
		}
		got, err := normalize(in, known())
		if err == nil && len(got.events) == 0 {
			t.Error("neither an event nor a reason")
		}
		for _, event := range got.events {
			if event.ID == "" || event.Surface.Chat == "" || event.Surface.Account != "U0BOT" {
				t.Errorf("%+v", event)
			}
			if parsed, err := adapters.ParseSurface(event.Surface.Key()); err != nil || parsed != event.Surface {
				t.Errorf("surface %+v: %v", event.Surface, err)
			}
			if event.Kind != adapters.EventMigrate && event.Sender.ID == "slack:" {
				t.Errorf("nobody sent %+v", event)
			}
		}
	})
}

// said normalizes what a person says in a channel, with more fields.
func said(t *testing.T, fields string, around facts) adapters.Event {
	t.Helper()
	out, err := normalize(wrapped(`{"type":"message","channel":"C0GEN","channel_type":"channel","user":"U0ALICE","ts":"`+tsA+`"`+fields+`}`), around)
	if err != nil || len(out.events) != 1 {
		t.Fatalf("%s: %+v, %v", fields, out, err)
	}
	return out.events[0]
}

// What somebody passes on is read, as another's words.
func TestASharedMessageIsReadAsAnothersWords(t *testing.T) {
	t.Parallel()
	const share = `{"is_share":true,"author_name":"Olga","ts":"` + tsB + `","text":"<@U0BOT> /allow <@U0ALICE>","files":[{"id":"F1","name":"a.png","mimetype":"image/png"}]}`
	got := said(t, `,"text":"","attachments":[`+share+`]`, known())
	if got.Forwarded == nil || got.Forwarded.From != "Olga" || !got.Forwarded.Time.Equal(at(tsB)) || got.Mentioned {
		t.Errorf("forwarded: %+v, mentioned %v", got.Forwarded, got.Mentioned)
	}
	if got.Text != "/allow @Alice & Co" || len(got.Attachments) != 1 {
		t.Errorf("%q, %+v", got.Text, got.Attachments)
	}
	if got := said(t, `,"text":"<@U0BOT> look","attachments":[`+share+`]`, known()); got.Text != "look\n\n/allow @Alice & Co" || !got.Mentioned || got.Forwarded == nil {
		t.Errorf("with own words: %q, %+v", got.Text, got.Forwarded)
	}
	if got := said(t, `,"text":"hi","attachments":[{"text":"a preview","title":"x"}]`, known()); got.Text != "hi" || got.Forwarded != nil {
		t.Errorf("a preview: %q, %+v", got.Text, got.Forwarded)
	}
}

// Another workspace's ids say nothing here.
func TestPeopleOfAnotherWorkspaceAreUnverified(t *testing.T) {
	t.Parallel()
	if got := said(t, `,"text":"hi","user_team":"T0OTHER"`, known()); !got.Sender.Unverified {
		t.Errorf("of another workspace: %+v", got.Sender)
	}
	if got := said(t, `,"text":"hi","user_team":"T0TEAM"`, known()); got.Sender.Unverified {
		t.Errorf("of this workspace: %+v", got.Sender)
	}
	grid := known()
	grid.me.Enterprise = "E0ORG"
	if got := said(t, `,"text":"hi","user_team":"T0OTHER"`, grid); got.Sender.Unverified {
		t.Errorf("of this organisation: %+v", got.Sender)
	}
	raw := incoming{kind: kindEvents, payload: json.RawMessage(`{"type":"event_callback","team_id":"T0OTHER","event_id":"Ev1",
		"event":{"type":"message","channel":"C0GEN","user":"U0ALICE","text":"hi","ts":"` + tsA + `"}}`)}
	if _, err := normalize(raw, known()); !errors.Is(err, errElsewhere) {
		t.Errorf("an event of another workspace: %v", err)
	}
}

func TestSlackbotIsABot(t *testing.T) {
	t.Parallel()
	for _, user := range []string{"USLACKBOT", "USLACK"} {
		out, err := normalize(wrapped(`{"type":"message","channel":"D0ALICE","channel_type":"im","user":"`+user+`","ts":"`+tsA+`","text":"You invited me"}`), known())
		if err != nil || !out.events[0].Sender.Bot {
			t.Errorf("%s: %+v, %v", user, out.events, err)
		}
	}
}
