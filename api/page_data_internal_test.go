package api

import (
	"strings"
	"testing"
)

func TestNoDocumentHasABlankLeft(t *testing.T) {
	t.Parallel()
	p, err := newPages()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{chatDocument, loginDocument, welcomeDocument} {
		filled := pageData{Bot: "Parley", Assets: "v1"}.fill(p.documents[name])
		if strings.Contains(filled, "{{") || !strings.Contains(filled, "Parley</title>") || !strings.Contains(filled, "chat.css?v=v1") {
			t.Errorf("%s:\n%s", name, filled)
		}
	}
}

// Whatever is shown shows as text, in elements and in attributes, and fills no
// other blank.
func TestWhatIsShownIsNoMarkup(t *testing.T) {
	t.Parallel()
	p, err := newPages()
	if err != nil {
		t.Fatal(err)
	}
	const hostile, shown = `"'><script>x</script>&{{sign out}}`, `&#34;&#39;&gt;&lt;script&gt;x&lt;/script&gt;&amp;{{sign out}}`
	data := pageData{Bot: hostile, Model: hostile, Hint: hostile, Problem: hostile, Ideas: []string{hostile, hostile}}
	for name, times := range map[string]int{chatDocument: 9, loginDocument: 3, welcomeDocument: 1} {
		filled := data.fill(p.documents[name])
		if strings.Contains(filled, "<script>x") || strings.Count(filled, shown) != times {
			t.Errorf("%s shows it %d times, want %d:\n%s", name, strings.Count(filled, shown), times, filled)
		}
	}
}

func TestWhatAPageLeavesOut(t *testing.T) {
	t.Parallel()
	p, err := newPages()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, document string
		data           pageData
		has, hasNot    string
	}{
		{"the model", chatDocument, pageData{Model: "M-1"}, ">M-1<", demoModel},
		{"the demo", chatDocument, pageData{Model: "M-1", Demo: true}, demoModel, "M-1"},
		{"no hint", chatDocument, pageData{}, "Sign out", `class="hint"`},
		{"a hint", chatDocument, pageData{Hint: "Add a model."}, `<p class="hint">Add a model.</p>`, "<li>"},
		{"ideas", chatDocument, pageData{Ideas: []string{"Tell a joke"}}, `class="idea">Tell a joke</button></li>`, `class="hint"`},
		{"the local owner", chatDocument, pageData{Open: true}, "New conversation", "Sign out"},
		{"a login", loginDocument, pageData{}, "GATEWAY_TOKEN", `role="alert"`},
		{"a login with a problem", loginDocument, pageData{Problem: "No."}, `role="alert">No.</p>`, "http://127.0.0.1"},
		{"a login at home", loginDocument, pageData{Open: true}, "http://127.0.0.1", "GATEWAY_TOKEN"},
	} {
		got := c.data.fill(p.documents[c.document])
		if !strings.Contains(got, c.has) || strings.Contains(got, c.hasNot) {
			t.Errorf("%s: wants %q and not %q:\n%s", c.name, c.has, c.hasNot, got)
		}
	}
}
