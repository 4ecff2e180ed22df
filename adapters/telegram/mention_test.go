package telegram

import (
	"strings"
	"testing"
	"unicode/utf16"
)

func at(kind, text, part string) entity {
	i := strings.Index(text, part)
	units := func(s string) int { return len(utf16.Encode([]rune(s))) }
	return entity{Type: kind, Offset: units(text[:i]), Length: units(part)}
}

func TestMentions(t *testing.T) {
	t.Parallel()
	me := self{ID: 77, Username: "parley_bot"}
	tests := []struct {
		name, text, kind, part string
		want                   bool
	}{
		{"entity", "hi @parley_bot", "mention", "@parley_bot", true},
		{"entity after an emoji", "👩‍👩‍👧‍👦 @Parley_Bot!", "mention", "@Parley_Bot", true},
		{"another's entity", "hi @other_bot", "mention", "@other_bot", false},
		{"entity of a longer name", "hi @parley_bot-dev", "mention", "@parley_bot", false},
		{"command for us", "/new@Parley_bot now", "bot_command", "/new@Parley_bot", true},
		{"command for another", "/new@other_bot", "bot_command", "/new@other_bot", false},
		{"command for all", "/new", "bot_command", "/new", false},
		{"in code", "see @parley_bot", "code", "@parley_bot", false},
		{"in a block of code", "see @parley_bot x", "pre", "see @parley_bot x", false},
		{"in a link", "http://x.org/@parley_bot", "url", "http://x.org/@parley_bot", false},
		{"as a link", "see @parley_bot", "text_link", "@parley_bot", false},
		{"literal", "hi @parley_bot", "", "", true},
		{"literal, other case, punctuation", "(@PARLEY_BOT), help", "", "", true},
		{"literal at a dash", "-@parley_bot - help", "", "", true},
		{"literal before a dash", "@parley_bot- help", "", "", true},
		{"literal, bold", "hi @parley_bot", "bold", "@parley_bot", true},
		{"longer name", "hi @parley_bot2", "", "", false},
		{"hyphenated name", "hi @parley_bot-dev", "", "", false},
		{"shorter name", "hi @parley", "", "", false},
		{"e-mail address", "me@parley_bot", "", "", false},
		{"e-mail address with a plus", "me+@parley_bot", "", "", false},
		{"handle with host", "@parley_bot@example.org", "", "", false},
		{"literal command", "/new@parley_bot", "", "", true},
		{"without @", "parley_bot", "", "", false},
		{"second occurrence", "me@parley_bot and @parley_bot", "", "", true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			var entities []entity
			if test.kind != "" {
				entities = []entity{at(test.kind, test.text, test.part)}
			}
			if got := mentions(test.text, entities, me); got != test.want {
				t.Errorf("mentions(%q) = %v", test.text, got)
			}
		})
	}
}

func TestMentionsOfNamelessUserAndBadEntities(t *testing.T) {
	t.Parallel()
	me := self{ID: 77, Username: "parley_bot"}
	if !mentions("hi bot", []entity{{Type: "text_mention", Offset: 3, Length: 3, User: &user{ID: 77}}}, me) {
		t.Error("a text_mention of the bot is a mention")
	}
	for _, e := range []entity{{Type: "mention", Offset: -1, Length: 3}, {Type: "mention", Offset: 1, Length: 1 << 62}, {Type: "code", Offset: 1 << 62, Length: 5}} {
		if mentions("abc", []entity{e}, me) {
			t.Errorf("%+v", e)
		}
	}
	if mentions("@ hello", nil, self{ID: 1}) {
		t.Error("a bot without a name is not named by @")
	}
}
