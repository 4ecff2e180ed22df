package demo

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"parley/agent"
)

// Keyword is one thing the demo can do, for help texts and documentation.
type Keyword struct{ Word, Does string }

// Keywords lists what the demo understands. In a group, a message that is not
// directed at the bot is met with silence unless it begins with "speak".
func Keywords() []Keyword {
	return []Keyword{
		{"help", "shows this list"},
		{"markdown", "headings, a list, a table, code, a quote, a link"},
		{"long", "an answer of more than 10,000 characters, with a code block in the middle"},
		{"slow", "an answer that takes about ten seconds to arrive, word by word"},
		{"silence", "no answer at all: the model says that it has nothing to say"},
		{"see", "exactly what I was given to read: the prompt and the messages"},
		{"fail", "a failure of the model, to try what happens then"},
		{"speak", "in a group, answers although I was not addressed"},
	}
}

const honest = "I am the **demo model** of this gateway: I understand nothing but a few keywords, and no data leaves this machine."

const connect = "To talk to a real model, set these environment variables and start the gateway again:\n\n" +
	"```sh\n" +
	"OPENAI_API_KEY=…    # the key\n" +
	"OPENAI_MODEL=…      # the model's name\n" +
	"OPENAI_BASE_URL=…   # only for another endpoint that speaks the same protocol, such as a server of your own\n" +
	"```"

func reply(heard heard, request agent.Request) string {
	switch heard.keyword {
	case keyHelp:
		return help()
	case keyMarkdown:
		return markdown
	case keyLong:
		return long()
	case keySlow:
		return slow
	case keySilence:
		return agent.SilenceMarker
	case keySee:
		return see(request)
	case keySpeak:
		return "You asked me to speak, so I do. " + honest
	default:
		return echo(heard)
	}
}

func help() string {
	var out strings.Builder
	out.WriteString(honest + "\n\nSend me one of these words:\n\n")
	for _, k := range Keywords() {
		fmt.Fprintf(&out, "- **%s**: %s\n", k.Word, k.Does)
	}
	return out.String() + "\n" + connect
}

// echoMax is how much of a message is quoted, in runes.
const echoMax = 300

func echo(heard heard) string {
	if heard.text == "" {
		return honest + " Send **help** to see what I can do."
	}
	runes := []rune(heard.text)
	if len(runes) > echoMax {
		runes = append(runes[:echoMax:echoMax], '…')
	}
	quote := "> " + strings.ReplaceAll(visible(string(runes)), "\n", "\n> ")
	seen := "It is the first message of this conversation that I can see."
	if heard.count > 1 {
		seen = fmt.Sprintf("It is message %d of this conversation that I can see.", heard.count)
	}
	return "You said:\n\n" + quote + "\n\n" + seen + " " + honest + " Send **help** to see what I can do and how to connect a real model."
}

const markdown = "# A heading\n\n" +
	"Text can be **bold**, *italic*, ~~struck out~~ and `code`.\n\n" +
	"## Lists\n\n" +
	"- one\n- two\n  - two and a half\n- three\n\n" +
	"1. first\n2. second\n\n" +
	"## A table\n\n" +
	"| platform | limit of a message |\n|---|---:|\n| Telegram | 4,096 |\n| Discord | 2,000 |\n| Slack | 12,000 |\n\n" +
	"## Code\n\n" +
	"```go\nfunc main() {\n\tfmt.Println(\"<hello> & goodbye\")\n}\n```\n\n" +
	"## A quote and a link\n\n" +
	"> Whereof one cannot speak, thereof one must be silent.\n\n" +
	"[CommonMark](https://commonmark.org) says how all this is written."

const slow = "This answer arrives slowly, a few words at a time, as from a model that thinks while it speaks. " +
	"Meanwhile the chat shows that I am writing, where the platform can show that; " +
	"other conversations are not held up; and /stop breaks me off at once. " +
	"What has arrived until then stays. Now you have seen all of it, " +
	"and it took about ten seconds from the first word to the last."

// long is numbered paragraphs around a code block. The block begins before the
// 3,800th character and ends behind the 8,300th, so that it has to be cut
// wherever a platform's limit lies between 2,000 and 8,000.
func long() string {
	var out strings.Builder
	out.WriteString("# A long answer\n\nEverything is numbered: nothing may be missing, doubled or out of order.\n\n")
	n := paragraphs(&out, 1, 3_500)
	out.WriteString("```text\n")
	for line := 1; out.Len() < 8_400; line++ {
		fmt.Fprintf(&out, "%03d  this line of code stands in a block that is longer than one message\n", line)
	}
	out.WriteString("```\n\n")
	paragraphs(&out, n, 11_500)
	return out.String() + "This was the last paragraph."
}

// paragraphs writes paragraph from and the ones after it, up to a total length
// in bytes, and returns the next number.
func paragraphs(out *strings.Builder, from, until int) int {
	for ; out.Len() < until; from++ {
		fmt.Fprintf(out, "**Paragraph %d.** A platform takes only so much in one message, so this text has to be cut "+
			"into parts, at a place where a reader would pause, and every part has to arrive, in order.\n\n", from)
	}
	return from
}

// visible keeps a silence marker that is only quoted from being taken for one:
// an invisible zero-width space goes behind its angle bracket.
func visible(text string) string {
	return regexp.MustCompile(`(?i)<(NO_REPLY|EMPTY_RESPONSE)>`).ReplaceAllString(text, "<\u200b$1>")
}

// see is the request as it stands, made visible, in a fence that nothing in it
// can close.
func see(request agent.Request) string {
	var out strings.Builder
	out.WriteString("--- system\n" + request.System + "\n")
	for _, message := range request.Messages {
		fmt.Fprintf(&out, "--- %s\n", heading(message))
		out.WriteString(message.Text + "\n")
		for _, call := range message.ToolCalls {
			fmt.Fprintf(&out, "calls %s (%s): %s\n", call.Name, call.ID, call.Arguments)
		}
	}
	fence := strings.Repeat("`", max(3, longestRun(out.String())+1))
	return "This is exactly what I was given to read:\n\n" + fence + "text\n" + visible(out.String()) + fence
}

func heading(message agent.Message) string {
	words := []string{string(message.Role), message.ToolName, message.CallID}
	if message.IsError {
		words = append(words, "(error)")
	}
	return strings.Join(slices.DeleteFunc(words, func(word string) bool { return word == "" }), " ")
}

// longestRun is the length of the longest run of back-ticks.
func longestRun(text string) int {
	longest, run := 0, 0
	for _, r := range text {
		if r != '`' {
			run = 0
			continue
		}
		run++
		longest = max(longest, run)
	}
	return longest
}
