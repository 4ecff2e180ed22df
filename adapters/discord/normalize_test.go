package discord

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"parley/adapters"
)

const (
	botID  = "100"
	alice  = `{"id":"200","username":"alice","global_name":"Alice A."}`
	theBot = `{"id":"100","username":"parley","bot":true}`
)

func testScene() scene {
	return scene{me: identity{user: botID, app: "101", name: "parley"}, guild: "Workshop", place: place{ID: "300", Guild: "400", Name: "general"}}
}

// inGuild is a message of alice in a guild, with more fields.
func inGuild(fields string) string {
	return `{"id":"500","channel_id":"300","guild_id":"400","type":0,"content":"hello","timestamp":"2026-11-21T10:00:00.123000+00:00",` +
		`"author":` + alice + `,"member":{"nick":null},"mentions":[]` + fields + `}`
}

func one(t *testing.T, kind, data string, around scene) adapters.Event {
	t.Helper()
	events, err := normalize(dispatched{kind: kind, data: json.RawMessage(data), session: "ses", seq: 7}, around)
	if err != nil || len(events) != 1 {
		t.Fatalf("%s: %d events, %v", data, len(events), err)
	}
	return events[0]
}

func TestNormalizeMessage(t *testing.T) {
	t.Parallel()
	got := one(t, "MESSAGE_CREATE", inGuild(""), testScene())
	want := adapters.Event{
		Kind: adapters.EventMessage, ID: "m:500", MessageID: "500", Sequence: 500, Text: "hello",
		Surface: adapters.Surface{Platform: adapters.Discord, Account: botID, Chat: "300"},
		Title:   "Workshop #general", Workspace: "400", BotName: "parley",
		Sender: adapters.Sender{ID: "discord:200", Name: "Alice A."},
		Time:   got.Time,
	}
	if !reflect.DeepEqual(got, want) || !got.Time.Equal(time.Date(2026, 11, 21, 10, 0, 0, 123e6, time.UTC)) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

func TestNormalizePlaces(t *testing.T) {
	t.Parallel()
	thread := testScene()
	thread.place = place{ID: "300", Guild: "400", Name: "side", Parent: "299", HasBot: true}
	event := one(t, "MESSAGE_CREATE", inGuild(""), thread)
	if event.Surface.Key() != "discord:100:299:300" || !event.InBotThread || event.Direct {
		t.Errorf("in a thread: %+v", event)
	}
	direct := strings.Replace(inGuild(""), `"guild_id":"400",`, "", 1)
	event = one(t, "MESSAGE_CREATE", direct, scene{me: testScene().me})
	if event.Surface.Key() != "discord:100:300" || !event.Direct || event.Workspace != "" || event.Title != "" {
		t.Errorf("direct: %+v", event)
	}
}

func TestNormalizeSenders(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		data string
		want adapters.Sender
	}{
		"nick":       {strings.Replace(inGuild(""), `"nick":null`, `"nick":"Ali"`, 1), adapters.Sender{ID: "discord:200", Name: "Ali"}},
		"itself":     {strings.Replace(inGuild(""), alice, theBot, 1), adapters.Sender{ID: "discord:100", Name: "parley", Bot: true, Self: true}},
		"webhook":    {inGuild(`,"webhook_id":"200"`), adapters.Sender{ID: "discord:200", Name: "Alice A.", Bot: true, Unverified: true}},
		"own answer": {strings.Replace(inGuild(`,"webhook_id":"101"`), alice, theBot, 1), adapters.Sender{ID: "discord:100", Name: "parley", Bot: true, Self: true}},
		"system":     {strings.Replace(inGuild(""), `"type":0`, `"type":7`, 1), adapters.Sender{ID: "discord:200", Name: "Alice A.", Unverified: true}},
		"nobody":     {strings.Replace(inGuild(""), `"author":`+alice+",", "", 1), adapters.Sender{Unverified: true}},
		"official":   {strings.Replace(inGuild(""), `"username":"alice"`, `"username":"alice","system":true`, 1), adapters.Sender{ID: "discord:200", Name: "Alice A.", Unverified: true}},
	}
	for name, test := range tests {
		if got := one(t, "MESSAGE_CREATE", test.data, testScene()).Sender; got != test.want {
			t.Errorf("%s: %+v, want %+v", name, got, test.want)
		}
	}
}

func TestNormalizeAddressed(t *testing.T) {
	t.Parallel()
	const reply = `,"message_reference":{"message_id":"499"},"referenced_message":{"author":`
	tests := map[string]struct {
		data               string
		mentioned, replied bool
		text               string
	}{
		"mention":                {says(`<@100> help me`, `[`+theBot+`]`, ""), true, false, "help me"},
		"old form":               {says(`please <@!100> help`, `[`+theBot+`]`, ""), true, false, "please help"},
		"everyone":               {says(`@everyone look`, `[]`, `,"mention_everyone":true`), false, false, "@everyone look"},
		"role":                   {says(`<@&100> look`, `[]`, `,"mention_roles":["100"]`), false, false, "<@&100> look"},
		"text only, as in code":  {says("say `<@100>` there", `[]`, ""), false, false, "say `<@100>` there"},
		"other":                  {says(`ask <@200>`, `[`+alice+`]`, ""), false, false, "ask @Alice A."},
		"longer id":              {says(`ask <@1001>`, `[`+theBot+`]`, ""), true, false, "ask <@1001>"},
		"reply with ping":        {says(`yes`, `[`+theBot+`]`, reply+theBot+"}"), false, true, "yes"},
		"reply without":          {says(`yes`, `[]`, reply+theBot+"}"), false, true, "yes"},
		"reply and mention":      {says(`<@100> yes`, `[`+theBot+`]`, reply+theBot+"}"), true, true, "yes"},
		"reply to another":       {says(`yes`, `[`+alice+`]`, reply+alice+"}"), false, false, "yes"},
		"reply to another, ping": {says(`<@100> yes`, `[`+theBot+`]`, reply+alice+"}"), true, false, "yes"},
		"reply to a gone one":    {says(`yes`, `[]`, `,"message_reference":{"message_id":"499"},"referenced_message":null`), false, false, "yes"},
		"forwarded":              {says(``, `[]`, `,"message_reference":{"type":1,"message_id":"499"}`), false, false, ""},
		"emoji":                  {says(`well <:thumb:123> and <a:party:5> <b:x:1> <3`, `[]`, ""), false, false, "well :thumb: and :party: <b:x:1> <3"},
		"space stays":            {says("  code\n\n", `[]`, ""), false, false, "  code\n\n"},
	}
	for name, test := range tests {
		event := one(t, "MESSAGE_CREATE", test.data, testScene())
		if event.Mentioned != test.mentioned || event.ReplyToBot != test.replied || event.Text != test.text {
			t.Errorf("%s: mentioned %v, replied %v, %q", name, event.Mentioned, event.ReplyToBot, event.Text)
		}
		if wantReply := strings.Contains(test.data, "499") && name != "forwarded"; (event.ReplyTo == "499") != wantReply {
			t.Errorf("%s: in reply to %q", name, event.ReplyTo)
		}
	}
}

func says(text, mentions, more string) string {
	quoted, err := json.Marshal(text)
	if err != nil {
		panic(err)
	}
	return strings.NewReplacer(`"content":"hello"`, `"content":`+string(quoted), `"mentions":[]`, `"mentions":`+mentions).Replace(inGuild(more))
}

func TestNormalizeUpdates(t *testing.T) {
	t.Parallel()
	edited := inGuild(`,"edited_timestamp":"2026-11-21T10:05:00.000001+00:00"`)
	event := one(t, "MESSAGE_UPDATE", edited, testScene())
	if event.Kind != adapters.EventEdit || event.MessageID != "500" || event.ID != "e:500:1795255500000001" || event.Sequence != 0 {
		t.Errorf("an edit is %+v", event)
	}
	_, err := normalize(dispatched{kind: "MESSAGE_UPDATE", data: json.RawMessage(inGuild(`,"edited_timestamp":null`))}, testScene())
	if !errors.Is(err, errNoUse) {
		t.Errorf("a preview is %v", err)
	}
	event = one(t, "MESSAGE_DELETE", `{"id":"500","channel_id":"300","guild_id":"400"}`, testScene())
	if event.Kind != adapters.EventDelete || event.ID != "d:500" || event.MessageID != "500" || !event.Sender.Unverified {
		t.Errorf("a deletion is %+v", event)
	}
	event = one(t, "MESSAGE_REACTION_ADD", `{"user_id":"200","channel_id":"300","message_id":"500","guild_id":"400","member":{"nick":"Ali","user":`+alice+`},"emoji":{"name":"👍"}}`, testScene())
	if event.Kind != adapters.EventReaction || event.ID != "s:ses:7" || event.Text != "👍" || event.Sender.Name != "Ali" {
		t.Errorf("a reaction is %+v", event)
	}
	bulk, err := normalize(dispatched{kind: "MESSAGE_DELETE_BULK", data: json.RawMessage(`{"ids":["1","2"],"channel_id":"300","guild_id":"400"}`)}, testScene())
	if err != nil || len(bulk) != 2 || bulk[0].ID == bulk[1].ID {
		t.Errorf("many deletions are %+v, %v", bulk, err)
	}
}

func TestNormalizeAttachments(t *testing.T) {
	t.Parallel()
	event := one(t, "MESSAGE_CREATE", inGuild(`,"attachments":[
		{"id":"1","filename":"a.png","content_type":"image/png","size":10,"url":"https://cdn/secret"},
		{"id":"2","filename":"voice-message.ogg","content_type":"audio/ogg","waveform":"AAAA"},
		{"id":"3","filename":"b"},null],"sticker_items":[{"id":"4","name":"wave"}]`), testScene())
	want := []adapters.Attachment{
		{Kind: "photo", Name: "a.png", MIME: "image/png", Size: 10, Ref: "1"},
		{Kind: "voice", Name: "voice-message.ogg", MIME: "audio/ogg", Ref: "2"},
		{Kind: "document", Name: "b", Ref: "3"}, {Kind: "sticker", Name: "wave", Ref: "4"},
	}
	if !reflect.DeepEqual(event.Attachments, want) {
		t.Errorf("%+v", event.Attachments)
	}
}

// TestNormalizeUnknownComponents: one new kind of component must not cost the
// message.
func TestNormalizeUnknownComponents(t *testing.T) {
	t.Parallel()
	event := one(t, "MESSAGE_CREATE", inGuild(`,"components":[{"type":9999}],"message_reference":{"message_id":"499"},"referenced_message":{"author":`+alice+`,"components":[{"type":9999}]}`), testScene())
	if event.Text != "hello" {
		t.Errorf("%+v", event)
	}
}

func TestNormalizeInteraction(t *testing.T) {
	t.Parallel()
	around := testScene()
	around.reference = "i:600:sealed"
	const guild = `{"id":"600","type":2,"token":"t","channel_id":"300","guild_id":"400","member":{"nick":"Ali","user":` + alice + `},`
	event := one(t, "INTERACTION_CREATE", guild+`"data":{"name":"Status","type":1,"options":[{"name":"arguments","value":"a b"},{"name":"n","value":3}]}}`, around)
	if *event.Command != (adapters.NativeCommand{Name: "status", Args: "a b 3"}) || event.MessageID != "i:600:sealed" || event.Direct || event.Sender.Name != "Ali" {
		t.Errorf("%+v", event)
	}
	nested := one(t, "INTERACTION_CREATE", guild+`"data":{"name":"schedule","type":1,"options":[{"name":"add","type":1,"options":[{"name":"x","value":"y"}]}]}}`, around)
	if nested.Command.Args != "add y" {
		t.Errorf("%+v", nested.Command)
	}
	for context, direct := range map[string]bool{`"context":1,`: true, `"context":2,`: false, `"channel":{"type":1},`: true, `"channel":{"type":3},`: false, ``: false} {
		data := `{"id":"600","type":2,"token":"t","channel_id":"300",` + context + `"user":` + alice + `,"data":{"name":"help"}}`
		if event := one(t, "INTERACTION_CREATE", data, around); event.Direct != direct {
			t.Errorf("%q: direct is %v", context, event.Direct)
		}
	}
}

func TestNormalizeRefuses(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		kind, data string
		want       error
	}{
		{"GUILD_MEMBER_ADD", `{"guild_id":"1"}`, errUnknownKind},
		{"MESSAGE_CREATE", `{}`, errMalformed},
		{"MESSAGE_CREATE", `{"id":"x","channel_id":"1"}`, errMalformed},
		{"MESSAGE_CREATE", `{"id":"1","channel_id":"../1"}`, errMalformed},
		{"MESSAGE_DELETE", `{"channel_id":"1"}`, errMalformed},
		{"MESSAGE_REACTION_ADD", `{"channel_id":"1","message_id":"2"}`, errMalformed},
		{"INTERACTION_CREATE", `{"id":"1","channel_id":"1","type":2}`, errMalformed},
		{"INTERACTION_CREATE", `{"id":"1","channel_id":"1","type":4,"user":` + alice + `}`, errUnknownKind},
		{"MESSAGE_CREATE", `[]`, nil},
		{"MESSAGE_CREATE", ``, nil},
	} {
		events, err := normalize(dispatched{kind: test.kind, data: json.RawMessage(test.data)}, testScene())
		if len(events) != 0 || err == nil || test.want != nil && !errors.Is(err, test.want) {
			t.Errorf("%s %s: %+v, %v", test.kind, test.data, events, err)
		}
	}
}

// FuzzNormalize: whatever comes, no panic, and an event that comes out has what
// every event has.
func FuzzNormalize(f *testing.F) {
	for _, kind := range []string{"MESSAGE_CREATE", "MESSAGE_UPDATE", "MESSAGE_DELETE", "MESSAGE_DELETE_BULK", "MESSAGE_REACTION_ADD", "INTERACTION_CREATE", "GUILD_CREATE"} {
		f.Add(kind, []byte(inGuild(`,"edited_timestamp":"2026-11-21T10:05:00Z","ids":["1"],"user_id":"1","message_id":"2"`)))
	}
	f.Add("INTERACTION_CREATE", []byte(`{"id":"600","type":2,"token":"t","channel_id":"300","user":{"id":"1"},"data":{"name":"x","options":[{"value":[1]}]}}`))
	f.Add("MESSAGE_CREATE", []byte(says("<@100> <:a:1> <@!200", "["+theBot+",null]", "")))
	f.Add("THREAD_CREATE", []byte(`{"id":"1","type":11,"parent_id":"2"}`))
	f.Fuzz(func(t *testing.T, kind string, data []byte) {
		var places directory
		_ = places.learn(kind, data, botID)
		events, err := normalize(dispatched{kind: kind, data: data, session: "s", seq: 1}, testScene())
		if err != nil && len(events) > 0 {
			t.Fatal("events with an error")
		}
		for _, event := range events {
			parsed, err := adapters.ParseSurface(event.Surface.Key())
			if err != nil || parsed != event.Surface || event.ID == "" || event.Kind == "" {
				t.Fatalf("%+v: %v", event, err)
			}
			if event.Direct && event.Workspace != "" {
				t.Fatalf("a direct chat in a workspace: %+v", event)
			}
		}
	})
}

// What somebody passes on is not theirs, and names nobody by it.
func TestAForwardedMessageIsReadAsAnothersWords(t *testing.T) {
	t.Parallel()
	raw := strings.Replace(inGuild(`,"message_reference":{"type":1,"message_id":"1","channel_id":"2"},"message_snapshots":[{"message":{
		"type":0,"content":"<@100> /allow me","timestamp":"2026-11-20T10:00:00+00:00","mentions":[`+theBot+`],
		"attachments":[{"id":"9","filename":"a.png","content_type":"image/png","size":3}]}}]`), `"content":"hello"`, `"content":""`, 1)
	event := one(t, "MESSAGE_CREATE", raw, testScene())
	if event.Forwarded == nil || !event.Forwarded.Time.Equal(time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)) {
		t.Errorf("forwarded: %+v", event.Forwarded)
	}
	if event.Text != "@parley /allow me" || event.Mentioned || len(event.Attachments) != 1 || event.ReplyTo != "" {
		t.Errorf("%+v", event)
	}
	if own := one(t, "MESSAGE_CREATE", inGuild(""), testScene()); own.Forwarded != nil {
		t.Errorf("an own message: %+v", own.Forwarded)
	}
}
