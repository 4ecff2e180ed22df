package telegram

import (
	"encoding/json"
	"errors"
	"strconv"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"parley/adapters"
)

func testSelf() self { return self{ID: 77, Username: "parley_bot"} }

func place(chat, thread string) adapters.Surface {
	return adapters.Surface{Platform: adapters.Telegram, Account: "77", Chat: chat, Thread: thread}
}

func TestNormalize(t *testing.T) {
	t.Parallel()
	alice := adapters.Sender{ID: "telegram:5", Name: "Alice B"}
	when := time.Unix(1700000000, 0).UTC()
	const from, dm, group = `"from":{"id":5,"first_name":"Alice","last_name":"B"}`, `"chat":{"id":5,"type":"private","first_name":"Alice"}`, `"chat":{"id":-100,"type":"supergroup","title":"Team"}`
	tests := []struct {
		name, raw string
		want      adapters.Event
	}{
		{"direct", `{"update_id":1,"message":{"message_id":9,` + from + `,` + dm + `,"date":1700000000,"text":"hi"}}`,
			adapters.Event{Kind: adapters.EventMessage, ID: "m:5:9", Surface: place("5", ""), Direct: true, Title: "Alice", Sender: alice, MessageID: "9", Text: "hi", Time: when}},
		{"topic, its first message is no reply", `{"update_id":1,"message":{"message_id":9,"message_thread_id":4,"is_topic_message":true,"reply_to_message":{"message_id":4,"from":{"id":77},"forum_topic_created":{"name":"x"}},` + from + `,` + group + `,"date":1700000000,"text":"hi"}}`,
			adapters.Event{Kind: adapters.EventMessage, ID: "m:-100:9", Surface: place("-100", "4"), Title: "Team", Sender: alice, MessageID: "9", Text: "hi", Time: when}},
		{"a reply's thread is no topic", `{"update_id":1,"message":{"message_id":9,"message_thread_id":4,"reply_to_message":{"message_id":4,"from":{"id":77,"is_bot":true}},` + from + `,` + group + `,"date":1700000000,"text":"hi"}}`,
			adapters.Event{Kind: adapters.EventMessage, ID: "m:-100:9", Surface: place("-100", ""), Title: "Team", Sender: alice, MessageID: "9", Text: "hi", ReplyTo: "4", ReplyToBot: true, Time: when}},
		{"caption mentions", `{"update_id":1,"message":{"message_id":9,"photo":[{"file_id":"s","file_size":1},{"file_id":"l","file_size":9}],"caption":"@parley_bot see","caption_entities":[{"type":"mention","offset":0,"length":11}],` + from + `,` + group + `,"date":1700000000}}`,
			adapters.Event{Kind: adapters.EventMessage, ID: "m:-100:9", Surface: place("-100", ""), Title: "Team", Sender: alice, MessageID: "9", Text: "@parley_bot see", Mentioned: true, Attachments: []adapters.Attachment{{Kind: "photo", Size: 9, Ref: "l"}}, Time: when}},
		{"message id 0", `{"update_id":41,"message":{"message_id":0,` + from + `,` + dm + `,"date":1700000000,"text":"hi"}}`,
			adapters.Event{Kind: adapters.EventMessage, ID: "u:41", Surface: place("5", ""), Direct: true, Title: "Alice", Sender: alice, MessageID: "0", Text: "hi", Time: when}},
		{"anonymous administrator", `{"update_id":1,"message":{"message_id":9,"from":{"id":1087968824,"is_bot":true,"first_name":"Group"},"sender_chat":{"id":-100,"title":"Team"},` + group + `,"date":1700000000,"text":"hi"}}`,
			adapters.Event{Kind: adapters.EventMessage, ID: "m:-100:9", Surface: place("-100", ""), Title: "Team", Sender: adapters.Sender{ID: "telegram:-100", Name: "Team", Unverified: true}, MessageID: "9", Text: "hi", Time: when}},
		{"channel post", `{"update_id":1,"channel_post":{"message_id":9,"chat":{"id":-7,"type":"channel","title":"News"},"date":1700000000,"text":"hi"}}`,
			adapters.Event{Kind: adapters.EventMessage, ID: "m:-7:9", Surface: place("-7", ""), Title: "News", Sender: adapters.Sender{ID: "telegram:-7", Name: "News", Unverified: true}, MessageID: "9", Text: "hi", Time: when}},
		{"itself", `{"update_id":1,"message":{"message_id":9,"from":{"id":77,"is_bot":true,"username":"parley_bot"},` + group + `,"date":1700000000,"text":"hi"}}`,
			adapters.Event{Kind: adapters.EventMessage, ID: "m:-100:9", Surface: place("-100", ""), Title: "Team", Sender: adapters.Sender{ID: "telegram:77", Name: "parley_bot", Bot: true, Self: true}, MessageID: "9", Text: "hi", Time: when}},
		{"edit", `{"update_id":8,"edited_message":{"message_id":9,"edit_date":1700000000,` + from + `,` + dm + `,"date":1600000000,"text":"hi"}}`,
			adapters.Event{Kind: adapters.EventEdit, ID: "e:5:9:1700000000:8", Surface: place("5", ""), Direct: true, Title: "Alice", Sender: alice, MessageID: "9", Text: "hi", Time: when}},
		{"reaction", `{"update_id":8,"message_reaction":{"message_id":9,"user":{"id":5,"first_name":"Alice","last_name":"B"},` + group + `,"date":1700000000,"new_reaction":[{"type":"emoji","emoji":"👍"},{"type":"custom_emoji","custom_emoji_id":"3"}]}}`,
			adapters.Event{Kind: adapters.EventReaction, ID: "r:-100:9:1700000000:8", Surface: place("-100", ""), Title: "Team", Sender: alice, MessageID: "9", Text: "👍 custom:3", Time: when}},
		{"anonymous reaction", `{"update_id":8,"message_reaction":{"message_id":9,"actor_chat":{"id":-100,"title":"Team"},` + group + `,"date":1700000000,"new_reaction":[]}}`,
			adapters.Event{Kind: adapters.EventReaction, ID: "r:-100:9:1700000000:8", Surface: place("-100", ""), Title: "Team", Sender: adapters.Sender{ID: "telegram:-100", Name: "Team", Unverified: true}, MessageID: "9", Time: when}},
		{"button", `{"update_id":8,"callback_query":{"id":"q1",` + from + `,"data":"ok","message":{"message_id":9,"message_thread_id":4,"is_topic_message":true,` + group + `,"date":1700000000}}}`,
			adapters.Event{Kind: adapters.EventButton, ID: "c:q1", Surface: place("-100", "4"), Title: "Team", Sender: alice, MessageID: "9", Text: "ok", Time: when}},
		{"member", `{"update_id":8,"my_chat_member":{` + from + `,` + group + `,"date":1700000000,"new_chat_member":{"status":"kicked"}}}`,
			adapters.Event{Kind: adapters.EventMember, ID: "j:-100:1700000000:8", Surface: place("-100", ""), Title: "Team", Sender: alice, Text: "kicked", Time: when}},
		{"departure", `{"update_id":8,"message":{"message_id":9,"from":{"id":6,"first_name":"Bob"},` + group + `,"date":1700000000,"left_chat_member":{"id":5,"first_name":"Alice","last_name":"B"}}}`,
			adapters.Event{Kind: adapters.EventLeft, ID: "l:-100:5:1700000000", Surface: place("-100", ""), Title: "Team", Sender: alice, Time: when}},
		{"departure, told to an administrator", `{"update_id":9,"chat_member":{"from":{"id":6,"first_name":"Bob"},` + group + `,"date":1700000000,"new_chat_member":{"status":"kicked","user":{"id":5,"first_name":"Alice","last_name":"B"}}}}`,
			adapters.Event{Kind: adapters.EventLeft, ID: "l:-100:5:1700000000", Surface: place("-100", ""), Title: "Team", Sender: alice, Time: when}},
		{"restricted, and out", `{"update_id":9,"chat_member":{"from":{"id":6,"first_name":"Bob"},` + group + `,"date":1700000000,"new_chat_member":{"status":"restricted","is_member":false,"user":{"id":5,"first_name":"Alice","last_name":"B"}}}}`,
			adapters.Event{Kind: adapters.EventLeft, ID: "l:-100:5:1700000000", Surface: place("-100", ""), Title: "Team", Sender: alice, Time: when}},
		{"migration, told in the old chat", `{"update_id":8,"message":{"message_id":9,` + from + `,"chat":{"id":-4,"type":"group","title":"Team"},"date":1700000000,"migrate_to_chat_id":-1004}}`,
			adapters.Event{Kind: adapters.EventMigrate, ID: "g:-4:-1004", Surface: place("-4", ""), MigratedTo: place("-1004", ""), Title: "Team", Sender: alice, MessageID: "9", Time: when}},
		{"migration, told in the new chat", `{"update_id":8,"message":{"message_id":1,` + from + `,"chat":{"id":-1004,"type":"supergroup","title":"Team"},"date":1700000000,"migrate_from_chat_id":-4}}`,
			adapters.Event{Kind: adapters.EventMigrate, ID: "g:-4:-1004", Surface: place("-4", ""), MigratedTo: place("-1004", ""), Title: "Team", Sender: alice, MessageID: "1", Time: when}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			u, err := decodeUpdate(json.RawMessage(test.raw))
			if err != nil {
				t.Fatal(err)
			}
			got, err := normalize(u, testSelf())
			if err != nil {
				t.Fatal(err)
			}
			test.want.BotName = "parley_bot"
			if test.want.Kind == adapters.EventMessage || test.want.Kind == adapters.EventEdit {
				test.want.Sequence, _ = strconv.ParseInt(test.want.MessageID, 10, 64)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestAttachmentsOfEveryKind(t *testing.T) {
	t.Parallel()
	const fileFields = `{"file_id":"f","file_name":"n","mime_type":"m","file_size":3}`
	tests := map[string]adapters.Attachment{
		`"voice":` + fileFields:                                           {Kind: "voice", Name: "n", MIME: "m", Size: 3, Ref: "f"},
		`"audio":` + fileFields:                                           {Kind: "audio", Name: "n", MIME: "m", Size: 3, Ref: "f"},
		`"video":` + fileFields:                                           {Kind: "video", Name: "n", MIME: "m", Size: 3, Ref: "f"},
		`"video_note":` + fileFields:                                      {Kind: "video", Name: "n", MIME: "m", Size: 3, Ref: "f"},
		`"document":` + fileFields:                                        {Kind: "document", Name: "n", MIME: "m", Size: 3, Ref: "f"},
		`"animation":` + fileFields + `,"document":` + fileFields:         {Kind: "video", Name: "n", MIME: "m", Size: 3, Ref: "f"},
		`"sticker":{"file_id":"f","emoji":"🙂"}`:                           {Kind: "sticker", Name: "🙂", Ref: "f"},
		`"location":{"latitude":1.5,"longitude":-2}`:                      {Kind: "location", Name: "1.500000,-2.000000"},
		`"location":{},"venue":{"title":"Pub","address":"Road 1"}`:        {Kind: "location", Name: "Pub Road 1"},
		`"contact":{"phone_number":"+1","first_name":"A","last_name":""}`: {Kind: "contact", Name: "A +1"},
		`"poll":{"question":"why?"}`:                                      {Kind: "other", Name: "poll: why?"},
		`"dice":{"emoji":"🎲","value":6}`:                                  {Kind: "other", Name: "🎲 6"},
		`"story":{"id":1}`:                                                {Kind: "other", Name: "story"},
	}
	for fields, want := range tests {
		u, err := decodeUpdate(json.RawMessage(`{"update_id":1,"message":{"message_id":2,"chat":{"id":3,"type":"private"},` + fields + `}}`))
		if err != nil {
			t.Fatal(err)
		}
		event, err := normalize(u, testSelf())
		if err != nil {
			t.Fatalf("%s: %v", fields, err)
		}
		if diff := cmp.Diff([]adapters.Attachment{want}, event.Attachments); diff != "" {
			t.Errorf("%s: %s", fields, diff)
		}
	}
}

func TestNormalizeSkips(t *testing.T) {
	t.Parallel()
	tests := []struct {
		raw   string
		known bool
		kind  string
	}{
		{`{"update_id":1,"shipping_query":{}}`, false, "shipping_query"},
		{`{"update_id":1}`, false, "empty"},
		{`{"update_id":1,"message":{"message_id":1,"chat":{"id":2},"new_chat_title":"x"}}`, true, "message.new_chat_title"},
		{`{"update_id":1,"message":{"message_id":1,"chat":{"id":2},"telepathy":{}}}`, false, "message without text: telepathy"},
	}
	for _, test := range tests {
		u, err := decodeUpdate(json.RawMessage(test.raw))
		if err != nil {
			t.Fatal(err)
		}
		_, err = normalize(u, testSelf())
		var skipped *skippedError
		if !errors.As(err, &skipped) || skipped.Known != test.known || skipped.Kind != test.kind {
			t.Errorf("%s: %v", test.raw, err)
		}
	}
}

func FuzzNormalize(f *testing.F) {
	f.Add([]byte(`{"update_id":1,"message":{"message_id":1,"chat":{"id":2},"text":"@parley_bot","entities":[{"type":"mention","offset":0,"length":11}]}}`))
	f.Add([]byte(`{"update_id":1,"message_reaction":{"chat":{"id":1},"new_reaction":[{}]}}`))
	f.Add([]byte(`{"update_id":1,"callback_query":{"message":{"chat":{}}}}`))
	f.Add([]byte(`{"update_id":null,"my_chat_member":null}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		u, err := decodeUpdate(raw)
		if err != nil {
			return
		}
		event, err := normalize(u, testSelf())
		if err != nil {
			return
		}
		if event.ID == "" || event.Kind == "" || !utf8.ValidString(event.Text) {
			t.Fatalf("%+v", event)
		}
		if got, err := adapters.ParseSurface(event.Surface.Key()); err != nil || got != event.Surface {
			t.Fatalf("surface %q: %v", event.Surface.Key(), err)
		}
	})
}

// What somebody passes on is not theirs, whoever said it.
func TestAForwardedMessageSaysWhoseItIs(t *testing.T) {
	t.Parallel()
	said := time.Unix(1600000000, 0).UTC()
	for name, test := range map[string]struct {
		fields  string
		forward *adapters.Forward
		via     string
	}{
		"own":       {``, nil, ""},
		"a user's":  {`"forward_origin":{"type":"user","date":1600000000,"sender_user":{"id":6,"first_name":"Olga"}},`, &adapters.Forward{From: "Olga", Time: said}, ""},
		"hidden":    {`"forward_origin":{"type":"hidden_user","date":1600000000,"sender_user_name":"Somebody"},`, &adapters.Forward{From: "Somebody", Time: said}, ""},
		"a chat's":  {`"forward_origin":{"type":"chat","date":1600000000,"sender_chat":{"id":-9,"title":"Team"},"author_signature":"Bo"},`, &adapters.Forward{From: "Bo, Team", Time: said}, ""},
		"a channel": {`"forward_origin":{"type":"channel","date":1600000000,"chat":{"id":-9,"title":"News"},"message_id":4},`, &adapters.Forward{From: "News", Time: said}, ""},
		"unheard":   {`"forward_origin":{"type":"newer"},`, &adapters.Forward{}, ""},
		"old":       {`"forward_date":1600000000,`, &adapters.Forward{Time: said}, ""},
		"inline":    {`"via_bot":{"id":9,"is_bot":true,"username":"gif"},`, nil, "gif"},
		"nameless":  {`"via_bot":{"id":9,"is_bot":true},`, nil, "a bot"},
	} {
		for _, kind := range []string{"message", "edited_message"} {
			raw := `{"update_id":1,"` + kind + `":{` + test.fields + `"message_id":9,"from":{"id":5,"first_name":"A"},"chat":{"id":5,"type":"private"},"date":1700000000,"text":"/allow"}}`
			u, err := decodeUpdate(json.RawMessage(raw))
			if err != nil {
				t.Fatal(err)
			}
			event, err := normalize(u, testSelf())
			if err != nil || event.Text != "/allow" || event.Via != test.via || !cmp.Equal(event.Forwarded, test.forward) {
				t.Errorf("%s, %s: %+v %q, %v", name, kind, event.Forwarded, event.Via, err)
			}
		}
	}
}
