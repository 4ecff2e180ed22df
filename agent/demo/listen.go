package demo

import (
	"strings"
	"unicode"

	"parley/agent"
	"parley/sessions"
)

type keyword string

const (
	keyNone     keyword = ""
	keyHelp     keyword = "help"
	keyMarkdown keyword = "markdown"
	keyLong     keyword = "long"
	keySlow     keyword = "slow"
	keySilence  keyword = "silence"
	keySee      keyword = "see"
	keyFail     keyword = "fail"
	keySpeak    keyword = "speak"
)

// phrase finds the keyword that a whole message, in lower case and without
// marks at its ends, stands for. Only whole messages count, so that "how long
// does it take" is no demand for a long answer.
func phrase(text string) keyword {
	switch text {
	case "help", "/help", "demo":
		return keyHelp
	case "markdown", "show markdown", "show me markdown", "formatting":
		return keyMarkdown
	case "long", "a long answer", "long answer":
		return keyLong
	case "slow", "slowly", "a slow answer":
		return keySlow
	case "silence", "silent", "say nothing", "be silent":
		return keySilence
	case "see", "prompt", "what do you see", "what do you read", "what were you given", "show your prompt", "show the prompt":
		return keySee
	case "fail", "error", "please fail":
		return keyFail
	case "speak":
		return keySpeak
	}
	return keyNone
}

// heard is what the demo makes of the last message.
type heard struct {
	keyword keyword
	text    string // without labels and a leading mention
	count   int    // messages of people in the request
}

// listen reads the last message of a person. One that is not directed at the
// bot means silence, unless it begins with the word speak: then the rest of it
// is taken as if it had been directed.
func listen(request agent.Request) heard {
	var out heard
	last := ""
	for _, message := range request.Messages {
		if message.Role == sessions.RoleUser {
			out.count++
			last = message.Text
		}
	}
	text, undirected := stripLabels(last)
	out.text = stripMention(text)
	plain := strings.ToLower(strings.TrimFunc(out.text, isMark))
	if undirected {
		rest, found := strings.CutPrefix(plain, string(keySpeak))
		if !found || rest != "" && !unicode.IsSpace([]rune(rest)[0]) {
			out.keyword = keySilence
			return out
		}
		if rest = strings.TrimFunc(rest, isMark); rest != "" {
			plain, out.text = rest, rest
		}
	}
	out.keyword = phrase(plain)
	return out
}

// isMark is what may surround a keyword: spaces and punctuation.
func isMark(r rune) bool {
	return unicode.IsSpace(r) || strings.ContainsRune(`.,:;!?"'*_`+"`", r)
}

// stripLabels takes the speaker's label and the prefix off a group message.
func stripLabels(text string) (rest string, undirected bool) {
	if strings.HasPrefix(text, "[") && !strings.HasPrefix(text, agent.UndirectedPrefix) {
		if _, after, found := strings.Cut(text, "] "); found {
			text = after
		}
	}
	rest, undirected = strings.CutPrefix(text, agent.UndirectedPrefix)
	return strings.TrimSpace(rest), undirected
}

// stripMention takes one leading @name off.
func stripMention(text string) string {
	if !strings.HasPrefix(text, "@") {
		return text
	}
	_, rest, _ := strings.Cut(text, " ")
	return strings.TrimSpace(rest)
}
