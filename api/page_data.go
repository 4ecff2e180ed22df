package api

import (
	"html"
	"strings"
)

// Documents of the page.
const (
	chatDocument    = "chat.html"
	loginDocument   = "login.html"
	welcomeDocument = "welcome.html"
)

// pageData is what the documents show.
type pageData struct {
	Bot, Model, Hint, Problem, Assets string
	Demo, Open                        bool
	Ideas                             []string
}

func (s *Server) pageData() pageData {
	page := s.config.Page
	return pageData{
		Bot: page.Bot, Model: page.Model, Hint: page.Hint, Demo: page.Demo, Ideas: page.Ideas,
		Open: s.gate.open, Assets: s.pages.version,
	}
}

const (
	demoModel = "offline demo model"
	signOut   = `<form method="post" action="/logout"><button class="quiet">Sign out</button></form>`
	// Where a visitor who is not signed in gets in.
	locally  = `Open this page as <code>http://127.0.0.1</code> or <code>http://localhost</code> on the machine where the gateway runs, and no token is needed. From elsewhere, use a link that <code>gateway login</code> prints.`
	remotely = `The command <code>gateway login</code>, on the machine where the gateway runs, prints a link that signs one browser in, once. The token is the one in <code>GATEWAY_TOKEN</code>; where none is set, it is in the file <code>api-token</code> of the data folder.`
)

// fill writes what there is to show into the blanks of a document, which may
// stand in elements and in quoted attributes, and nowhere else. No template of
// the standard library does it: those reach methods by their names, for which
// the linker keeps every method of every library, a third of the program.
func (d pageData) fill(document string) string {
	model, leave, where := d.Model, signOut, remotely
	if d.Demo {
		model = demoModel
	}
	if d.Open {
		leave, where = "", locally
	}
	var ideas strings.Builder
	for _, idea := range d.Ideas {
		ideas.WriteString(element(`<li><button type="button" class="idea">`, idea, "</button></li>\n          "))
	}
	return strings.NewReplacer(
		"{{assets}}", html.EscapeString(d.Assets), "{{bot}}", html.EscapeString(d.Bot), "{{model}}", html.EscapeString(model),
		"{{sign out}}", leave, "{{where from}}", where, "{{ideas}}", ideas.String(),
		"{{next}}", element(`<p class="next">`, d.Hint, "</p>"), "{{hint}}", element(`<p class="hint">`, d.Hint, "</p>"),
		"{{problem}}", element(`<p class="problem" role="alert">`, d.Problem, "</p>"),
	).Replace(document)
}

// element is text between the tags of an element; nothing without text.
func element(begin, text, end string) string {
	if text == "" {
		return ""
	}
	return begin + html.EscapeString(text) + end
}
