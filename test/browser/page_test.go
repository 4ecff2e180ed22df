//go:build external

package browser

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"parley/sessions"
)

func TestAnAnswerGrowsAndIsRendered(t *testing.T) {
	t.Parallel()
	everywhere(t, func(t *testing.T, start starter) {
		model := newPlayed()
		page := openBrowser(t)
		page.open(start(t, model.answer))
		page.picture("1-empty")
		page.press("show me\r") // the field has the focus from the start
		page.wait(`!document.querySelector("#typing").hidden && !document.querySelector("#stop").hidden`)
		page.expectTurns("user: show me")
		model.pieces <- "Here is **bo"
		page.wait(`document.querySelector("#draft")?.innerText.includes("Here is **bo")`)
		model.pieces <- "ld** and\n\n```go\nfmt.Println(1)\n"
		page.wait(`document.querySelector("#draft strong")?.innerText === "bold" && document.querySelector("#draft pre")`)
		page.picture("2-growing")
		model.pieces <- "```\n\n<script>window.taken = true</script>\n\n<img src=x onerror=\"window.taken = true\"> ![pixel](https://e.example/p.png)"
		model.finish <- struct{}{}
		page.wait(`document.querySelector("#log > .answer pre code.language-go") && !document.querySelector("#draft") && document.querySelector("#stop").hidden`)
		if got := value[string](page, `document.querySelector(".answer").innerText`); !strings.Contains(got, "<script>window.taken = true</script>") || !strings.Contains(got, "<img src=x onerror=") {
			t.Errorf("HTML in an answer does not show as text: %s", got)
		}
		if value[bool](page, `"taken" in window || document.querySelector(".answer script, .answer img") !== null`) {
			t.Error("HTML in an answer came alive")
		}
		if got := value[string](page, `document.querySelector("#spoken").textContent`); !strings.Contains(got, "bold") {
			t.Errorf("a screen reader is told %q", got)
		}
		page.wait(`document.querySelector(".answer .code button")?.innerText === "Copy code"`)
		page.picture("3-done")
		page.scheme("dark")
		page.picture("4-dark")
	})
}

func TestAReloadKeepsTheConversation(t *testing.T) {
	t.Parallel()
	everywhere(t, func(t *testing.T, start starter) {
		model := newPlayed()
		page := openBrowser(t)
		page.open(start(t, model.answer))
		page.press("echo one\r")
		page.wait(`document.querySelector(".answer")`)
		page.press("echo two\r")
		page.wait(`document.querySelectorAll(".answer").length === 2`)
		page.press("not sent yet")
		page.do(chromedp.Reload())
		page.connected()
		page.expectTurns("user: echo one", "bot: one", "user: echo two", "bot: two")
		if got := value[string](page, `document.querySelector("#text").value`); got != "not sent yet" {
			t.Errorf("the field has %q", got)
		}
	})
}

// Whoever comes in the middle of an answer, by a reload or in another tab, sees
// it from its beginning, and how it goes on.
func TestAReloadInTheMiddleOfAnAnswer(t *testing.T) {
	t.Parallel()
	everywhere(t, func(t *testing.T, start starter) {
		model := newPlayed()
		page := openBrowser(t)
		url := start(t, model.answer)
		page.open(url)
		page.press("go\r")
		model.pieces <- "**first** "
		page.wait(`document.querySelector("#draft")?.innerText.includes("first")`)
		page.do(chromedp.Reload())
		page.connected()
		page.wait(`document.querySelector("#draft strong")?.innerText === "first"`)
		second := page.another()
		second.open(url)
		second.wait(`document.querySelector("#draft strong")?.innerText === "first"`)
		model.pieces <- "second"
		for _, b := range []*tab{page, second} {
			b.wait(`document.querySelector("#draft")?.innerText.includes("second")`)
			b.expectTurns("user: go", "other: first second")
		}
		model.finish <- struct{}{}
		for _, b := range []*tab{page, second} {
			b.wait(`document.querySelector("#log > .answer")`)
			b.expectTurns("user: go", "bot: first second")
		}
	})
}

// What people have read of an answer that breaks off stays, and can be asked
// for again.
func TestABrokenAnswerStaysReadable(t *testing.T) {
	t.Parallel()
	broken := make(chan struct{})
	first := true
	url, _ := wholeOn(t, openStore(t), func(_ context.Context, _ string, write func(string)) (string, error) {
		if !first {
			return "whole", nil
		}
		first = false
		write("as far as it came")
		<-broken
		return "", errors.New("the line broke")
	})
	page := openBrowser(t)
	page.open(url)
	page.press("go\r")
	page.wait(`document.querySelector("#draft")?.innerText.includes("as far as it came")`)
	close(broken)
	stays := `document.querySelectorAll("#log > .broken").length === 1 && document.querySelector(".broken").innerText.includes("as far as it came") &&
		document.querySelector(".broken + .error .again") && !document.querySelector("#draft")`
	page.wait(stays)
	page.picture("broken")
	page.do(chromedp.Reload())
	page.connected()
	page.wait(stays)
	page.do(chromedp.Click(chromedp.CSS(".error .again")))
	page.seesAnswer("whole")
	page.do(chromedp.Reload())
	page.connected()
	page.wait(stays)
}

func TestWhatIsErasedGoesFromThePage(t *testing.T) {
	t.Parallel()
	store := openStore(t)
	page := openBrowser(t)
	page.open(serve(t, store, newPlayed().answer, "a token"))
	page.press("echo one\r")
	page.wait(`document.querySelector(".answer")`)
	found, err := store.Find(t.Context(), sessions.Query{})
	if err != nil || len(found.Records) != 1 {
		t.Fatal(found, err)
	}
	if _, err := store.Clear(t.Context(), found.Records[0].ID); err != nil {
		t.Fatal(err)
	}
	page.wait(`document.querySelector(".divider")?.innerText.includes("erased") && !document.querySelector("[data-entry]")`)
	page.press("echo two\r")
	page.wait(`document.querySelector(".answer")`)
	page.expectTurns("user: echo two", "bot: two")
	page.do(chromedp.Reload())
	page.connected()
	page.expectTurns("user: echo two", "bot: two")
}

func TestNothingIsWiderThanAPhone(t *testing.T) {
	t.Parallel()
	everywhere(t, func(t *testing.T, start starter) {
		wide := strings.Repeat("wide", 60)
		model := newPlayed()
		page := openBrowser(t)
		page.do(chromedp.EmulateViewport(390, 844, chromedp.EmulateMobile, chromedp.EmulateTouch))
		page.open(start(t, model.answer))
		page.press("/")
		page.wait(`!document.querySelector("#menu").hidden`)
		fits(t, page, "the command menu")
		page.picture("5-phone-menu")
		page.press(kb.Escape + kb.Backspace + wide + "\r")
		model.pieces <- "# " + wide + "\n\n```\n" + wide + "\n```\n\n|a|b|\n|-|-|\n|" + wide + "|" + wide + "|\n\n> " + wide + "\n\n`" + wide + "` [l](https://e.example/" + wide + ")\n\n- " + wide
		fits(t, page, "a draft")
		model.finish <- struct{}{}
		page.wait(`document.querySelector(".answer table")`)
		for _, width := range []int64{390, 320} {
			page.do(chromedp.EmulateViewport(width, 700, chromedp.EmulateMobile))
			fits(t, page, fmt.Sprintf("an answer at %d pixels", width))
		}
		page.picture("6-phone")
	})
}

func fits(t *testing.T, page *tab, what string) {
	t.Helper()
	overflow := value[string](page, `(() => {
		const width = document.documentElement.clientWidth;
		for (const node of document.querySelectorAll("header *, footer *, .turn, .turn > *, .body *")) {
			const box = node.getBoundingClientRect();
			if (box.width && !node.closest(".unseen, .skip, pre > code, .wide > *") && (box.right > width + 1 || box.left < -1)) return node.outerHTML.slice(0, 80);
		}
		const sideways = [document.documentElement, document.querySelector("#scroll")].find(node => node.scrollWidth > node.clientWidth);
		return sideways ? "it scrolls sideways: " + sideways.tagName : "";
	})()`)
	if overflow != "" {
		t.Errorf("%s does not fit: %s", what, overflow)
	}
}

func TestALostConnectionIsResumed(t *testing.T) {
	t.Parallel()
	everywhere(t, func(t *testing.T, start starter) {
		model := newPlayed()
		target := start(t, model.answer)
		between := newProxy(t, target)
		page := openBrowser(t)
		page.open(between.url)
		page.press("go\r")
		model.pieces <- "before "
		page.wait(`document.querySelector("#draft")?.innerText.includes("before")`)
		between.cut()
		page.wait(`!document.querySelector("#banner").hidden`)
		page.picture("7-lost")
		model.pieces <- "meanwhile "
		model.finish <- struct{}{}
		page.press("echo later\r")
		page.wait(`document.querySelector(".pending")?.innerText.includes("Not sent yet")`)
		page.press("still typing")
		between.restore(target)
		page.do(chromedp.Click(chromedp.CSS("#retry")))
		page.connected()
		page.wait(`document.querySelectorAll(".answer").length === 2 && !document.querySelector(".pending")`)
		page.expectTurns("user: go", "bot: before meanwhile", "user: echo later", "bot: later")
		if got := value[string](page, `document.querySelector("#text").value`); got != "still typing" {
			t.Errorf("the field has %q", got)
		}
		if !value[bool](page, `document.querySelector("#banner").hidden`) {
			t.Error("the banner stays")
		}
	})
}

// After a restart that made a new token, the page on this machine signs in
// again by itself and goes on where it was.
func TestARestartWithANewToken(t *testing.T) {
	t.Parallel()
	store := openStore(t)
	model := newPlayed()
	first, second := serve(t, store, model.answer, "one token"), serve(t, store, model.answer, "another token")
	between := newProxy(t, first)
	page := openBrowser(t)
	page.open(between.url)
	page.press("echo one\r")
	page.wait(`document.querySelector(".answer")`)
	between.cut()
	page.wait(`document.querySelector("#link").dataset.state === "lost"`)
	between.restore(second)
	page.connected()
	page.press("echo two\r")
	page.wait(`document.querySelectorAll(".answer").length === 2`)
	page.expectTurns("user: echo one", "bot: one", "user: echo two", "bot: two")
}

func TestTheKeyboardAlone(t *testing.T) {
	t.Parallel()
	everywhere(t, func(t *testing.T, start starter) {
		model := newPlayed()
		page := openBrowser(t)
		page.open(start(t, model.answer))
		page.press("two")
		page.press("\r", chromedp.ModifierShift)
		page.press("lines")
		if got := value[string](page, `document.querySelector("#text").value`); got != "two\nlines" {
			t.Errorf("Shift+Enter wrote %q", got)
		}
		page.press("\r")
		page.expectTurns("user: two\nlines")
		page.wait(`!document.querySelector("#stop").hidden`)
		model.pieces <- "a long ans"
		page.wait(`document.querySelector("#draft")`)
		page.press(kb.Escape)
		page.wait(`document.querySelector(".answer .meta")?.innerText.includes("stopped")`)
		page.press("/h")
		page.wait(`document.querySelectorAll("#menu [role=option]").length === 1 && document.querySelector("#text").getAttribute("aria-activedescendant")`)
		page.press(kb.Escape)
		page.wait(`document.querySelector("#menu").hidden`)
		page.press(kb.Backspace)
		page.wait(`!document.querySelector("#menu").hidden`)
		page.press(kb.ArrowUp + kb.ArrowDown + "\r")
		if got := value[string](page, `document.querySelector("#text").value`); got != "/help" {
			t.Errorf("the menu completed to %q", got)
		}
		page.press("\r")
		page.wait(`document.querySelector(".note code")?.innerText.startsWith("/")`)
		page.do(chromedp.Reload())
		page.connected()
		focus := []string{}
		page.do(chromedp.Focus(chromedp.CSS(".skip")))
		for range 5 {
			focus = append(focus, value[string](page, `document.activeElement.id || document.activeElement.className || document.activeElement.tagName`))
			page.press(kb.Tab)
		}
		if got := strings.Join(focus[:2], " "); got != "skip fresh" {
			t.Errorf("the focus goes %q", focus)
		}
		page.do(chromedp.Focus(chromedp.CSS(".skip")))
		page.press("\r")
		page.wait(`document.activeElement.id === "text"`)
	})
}

func TestTabsOfOneBrowserStayInStep(t *testing.T) {
	t.Parallel()
	everywhere(t, func(t *testing.T, start starter) {
		model := newPlayed()
		url := start(t, model.answer)
		one := openBrowser(t)
		one.open(url)
		two := one.another()
		two.open(url)
		one.do(chromedp.Focus(chromedp.CSS("#text")))
		one.press("echo hi\r")
		one.wait(`document.querySelector(".answer")`)
		two.wait(`document.querySelector(".answer")?.innerText.includes("hi")`)
		two.expectTurns("user: echo hi", "bot: hi")
		two.do(chromedp.Focus(chromedp.CSS("#text")))
		two.press("/new\r")
		two.wait(`document.querySelector(".divider") && document.querySelector(".note")`)
		one.wait(`document.querySelector(".divider") && !document.querySelector(".answer")`)
		one.do(chromedp.Focus(chromedp.CSS("#text")))
		one.press("echo again\r")
		one.wait(`document.querySelector(".answer")`)
		two.wait(`document.querySelector(".answer")?.innerText.includes("again")`)
	})
}

func TestALongConversationLoadsInPages(t *testing.T) {
	t.Parallel()
	everywhere(t, func(t *testing.T, start starter) {
		model := newPlayed()
		page := openBrowser(t)
		page.open(start(t, model.answer))
		for i := range 40 {
			page.press(fmt.Sprintf("echo %d\r", i))
			page.wait(fmt.Sprintf(`document.querySelectorAll(".answer").length === %d`, i+1))
		}
		page.do(chromedp.Reload())
		page.connected()
		page.wait(`!document.querySelector("#earlier").hidden && document.querySelectorAll(".turn").length === 60`)
		page.do(chromedp.Click(chromedp.CSS("#earlier")))
		page.wait(`document.querySelector("#earlier").hidden && document.querySelectorAll(".turn").length === 80`)
		if turns := page.turns(); turns[0] != "user: echo 0" || turns[79] != "bot: 39" {
			t.Errorf("from %q to %q", turns[0], turns[79])
		}
	})
}
