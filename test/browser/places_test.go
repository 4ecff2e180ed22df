//go:build external

package browser

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"parley/sessions"
)

// said are the texts of a session, in order.
func said(t *testing.T, store sessions.Store, id string) (texts []string) {
	t.Helper()
	entries, err := store.Range(t.Context(), id, 1, sessions.EntriesPerCall)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		if message, err := entry.Message(); err == nil && entry.Type == sessions.EntryMessage {
			texts = append(texts, message.Text)
		}
	}
	return texts
}

// of finds the session whose first words are text.
func of(t *testing.T, store sessions.Store, text string) (ids []string) {
	t.Helper()
	found, err := store.Find(t.Context(), sessions.Query{})
	if err != nil {
		t.Fatal(err)
	}
	for _, record := range found.Records {
		if texts := said(t, store, record.ID); len(texts) > 0 && texts[0] == text {
			ids = append(ids, record.ID)
		}
	}
	slices.Sort(ids)
	return ids
}

func expectSaid(t *testing.T, store sessions.Store, id string, want ...string) {
	t.Helper()
	if got := said(t, store, id); !slices.Equal(got, want) {
		t.Errorf("%s has %q, want %q", id, got, want)
	}
}

// echo says something that is answered at once, and waits for the answer.
func (b *tab) echo(text string) {
	b.t.Helper()
	b.do(chromedp.Focus(chromedp.CSS("#text")))
	b.press("echo " + text + "\r")
	b.seesAnswer(text)
}

func (b *tab) seesAnswer(text string) {
	b.t.Helper()
	quoted, _ := json.Marshal(text)
	b.wait(`[...document.querySelectorAll("#log > .answer")].some(item => item.querySelector(".body").innerText.trim() === ` + string(quoted) + `)`)
}

// command writes a command and waits for its answer.
func (b *tab) command(text, reply string) {
	b.t.Helper()
	b.do(chromedp.Focus(chromedp.CSS("#text")))
	b.press(text + "\r")
	quoted, _ := json.Marshal(reply)
	b.wait(`[...document.querySelectorAll("#log > .note")].some(item => item.innerText.includes(` + string(quoted) + `))`)
}

// erase says /clear and answers the page's question.
func (b *tab) erase(sure bool) {
	b.t.Helper()
	b.do(chromedp.Focus(chromedp.CSS("#text")))
	b.press("/clear\r")
	b.wait(`document.querySelector("#ask").open`)
	b.do(chromedp.Click(chromedp.CSS(map[bool]string{true: "#ask [value=yes]", false: "#ask [value=no]"}[sure])))
	b.wait(`!document.querySelector("#ask").open`)
}

// Two browsers are two places. One takes up the other's conversation: from then
// on it reads and writes there, also after the gateway was killed, and goes its
// own way when the other begins anew.
func TestResumeOfAnotherBrowsersConversation(t *testing.T) {
	t.Parallel()
	store := openStore(t)
	model := newPlayed()
	first, kill := wholeOn(t, store, model.answer)
	between := newProxy(t, first)
	a, b := openBrowser(t), openBrowser(t)
	a.open(between.url)
	b.open(between.url)
	a.echo("from a")
	b.echo("from b")
	original, left := of(t, store, "echo from a")[0], of(t, store, "echo from b")[0]

	b.command("/resume "+original, "You are in")
	b.seesAnswer("from a")
	b.echo("b writes to a")
	a.seesAnswer("b writes to a")
	expectSaid(t, store, original, "echo from a", "from a", "echo b writes to a", "b writes to a")
	expectSaid(t, store, left, "echo from b", "from b")

	between.cut()
	kill()
	second, _ := wholeOn(t, store, model.answer)
	between.restore(second)
	for _, page := range []*tab{a, b} {
		page.do(chromedp.Reload())
		page.connected()
	}
	b.echo("after the kill")
	a.seesAnswer("after the kill")

	a.command("/new", "new")
	a.echo("a goes on alone")
	b.echo("b stays")
	expectSaid(t, store, original, "echo from a", "from a", "echo b writes to a", "b writes to a", "echo after the kill", "after the kill", "echo b stays", "b stays")
	if turns := strings.Join(b.turns(), " "); strings.Contains(turns, "alone") {
		t.Errorf("b followed a: %s", turns)
	}
}

// What is erased after /fork is the copy, however soon.
func TestForkThenClearKeepsTheOriginal(t *testing.T) {
	t.Parallel()
	store := openStore(t)
	url, _ := wholeOn(t, store, newPlayed().answer)
	page := openBrowser(t)
	page.open(url)
	page.echo("precious")
	original := of(t, store, "echo precious")[0]
	page.erase(false)
	value[bool](page, `document.querySelector("#text").select() ?? true`) // what was not sent stays in the field
	page.command("/fork", "copy")
	page.erase(true)
	page.wait(`[...document.querySelectorAll("#log > .note")].some(item => item.innerText.includes("erased"))`)
	expectSaid(t, store, original, "echo precious", "precious")
	if both := of(t, store, "echo precious"); len(both) != 1 {
		t.Errorf("the copy was not erased: %v", both)
	}
}

// The answer to /fork is lost with the gateway. The page asks again with the
// same key, is led to the one copy there is, and erases that.
func TestALostAnswerToForkLeadsToTheCopy(t *testing.T) {
	t.Parallel()
	store := openStore(t)
	model := newPlayed()
	first, kill := wholeOn(t, store, model.answer)
	between := newProxy(t, first)
	page := openBrowser(t)
	page.open(between.url)
	page.echo("precious")
	original := of(t, store, "echo precious")[0]
	between.deafen()
	page.press("/fork\r")
	for len(of(t, store, "echo precious")) < 2 {
		if t.Context().Err() != nil {
			t.Fatal("no copy was made")
		}
	}
	between.cut()
	kill()
	second, _ := wholeOn(t, store, model.answer)
	between.restore(second)
	page.wait(`!document.querySelector(".pending")`)
	page.echo("in the copy")
	expectSaid(t, store, original, "echo precious", "precious")
	if both := of(t, store, "echo precious"); len(both) != 2 {
		t.Errorf("there are %v", both)
	}
}

// What two pages of one conversation see of a branch is the same.
func TestABranchIsSeenByBothBrowsers(t *testing.T) {
	t.Parallel()
	store := openStore(t)
	url, _ := wholeOn(t, store, newPlayed().answer)
	a, b := openBrowser(t), openBrowser(t)
	a.open(url)
	b.open(url)
	a.echo("one")
	a.echo("two")
	id := of(t, store, "echo one")[0]
	b.command("/resume "+id, "You are in")
	b.seesAnswer("two")
	a.command("/branch e2", "e2")
	b.echo("three")
	a.seesAnswer("three")
	expectSaid(t, store, id, "echo one", "one", "echo two", "two", "echo three", "three")
	record, err := store.Get(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	entries, err := store.Range(t.Context(), id, 1, sessions.EntriesPerCall)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		if message, err := entry.Message(); err == nil && message.Text == "echo three" && entry.Parent != 2 {
			t.Errorf("the branch begins after %d (leaf %d)", entry.Parent, record.Leaf)
		}
	}
}

// A tab that has slept through /new writes nothing into the conversation that
// was left, and asks before it writes into the new one.
func TestAStaleTabAsksBeforeItWrites(t *testing.T) {
	t.Parallel()
	store := openStore(t)
	url, _ := wholeOn(t, store, newPlayed().answer)
	between := newProxy(t, url)
	page := openBrowser(t)
	page.open(between.url)
	page.echo("before")
	original := of(t, store, "echo before")[0]
	between.cut()
	page.wait(`document.querySelector("#link").dataset.state === "lost"`)
	other := page.another()
	other.open(url + "/") // the same browser by another way
	other.command("/new", "new")
	page.do(chromedp.Focus(chromedp.CSS("#text")))
	page.press("echo too late\r")
	page.wait(`document.querySelector(".pending")?.innerText.includes("Not sent yet")`)
	between.restore(url)
	page.wait(`document.querySelector(".pending button")?.innerText === "Send it here"`)
	expectSaid(t, store, original, "echo before", "before")
	page.do(chromedp.Click(chromedp.CSS(".pending button")))
	page.seesAnswer("too late")
	expectSaid(t, store, original, "echo before", "before")
}

func TestATextThatIsTooLongIsRefusedAloud(t *testing.T) {
	t.Parallel()
	page := openBrowser(t)
	page.open(startWhole(t, newPlayed().answer))
	page.do(chromedp.Focus(chromedp.CSS("#text")))
	value[bool](page, `document.execCommand("insertText", false, "x".repeat(70_000))`)
	page.wait(`!document.querySelector("#too-long").hidden && document.querySelector("#too-long").innerText.includes("70,000 of 65,536")`)
	page.press("\r")
	if got := value[int](page, `document.querySelector("#text").value.length`); got != 70_000 {
		t.Errorf("%d characters are left", got)
	}
	page.expectTurns()
}
