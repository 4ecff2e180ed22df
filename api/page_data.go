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
	Demo, Local                       bool
	Ideas                             []string
}

func (s *Server) pageData() pageData {
	page := s.config.Page
	return pageData{
		Bot: page.Bot, Model: page.Model, Hint: page.Hint, Demo: page.Demo, Ideas: page.Ideas,
		Local: s.config.LoopbackOwner, Assets: s.pages.version,
	}
}

const (
	demoModel = "offline demo model"
	signOut   = `<form method="post" action="/logout"><button class="quiet">Sign out</button></form>`
	// Where a visitor who is not signed in gets in.
	locally  = `Open this page as <code>http://127.0.0.1</code> or <code>http://localhost</code> on the machine where the gateway runs, and no token is needed. From elsewhere, use the link that <code>gateway run</code> printed when it started.`
	remotely = `The token is the one in <code>GATEWAY_TOKEN</code>. Or use the link that <code>gateway run</code> printed when it started: it signs one browser in, once.`
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
	if d.Local {
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
