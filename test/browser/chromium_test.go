//go:build external

package browser

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

const patience = 30 * time.Second // only ever reached by a failing test

// chromium finds the browser, or says by name that it is missing.
func chromium(t *testing.T) string {
	t.Helper()
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	if os.Getenv("CI") == "true" {
		t.Fatal("chromium is missing; install it (make test-external does, as root on Debian)")
	}
	t.Skip("chromium is missing; install it to run the browser tests")
	return ""
}

// tab is one tab of a browser of its own.
type tab struct {
	t   *testing.T
	ctx context.Context

	mu       sync.Mutex
	problems []string // what the page complained of
}

func openBrowser(t *testing.T) *tab {
	t.Helper()
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(chromium(t)), chromedp.NoSandbox, chromedp.NoFirstRun, chromedp.UserDataDir(t.TempDir()),
		chromedp.Flag("disable-gpu", true), chromedp.Flag("disable-quic", true), chromedp.Flag("disable-sync", true),
		chromedp.Flag("disable-background-networking", true), chromedp.Flag("disable-component-update", true),
		chromedp.Flag("lang", "en-US"))
	allocator, stop := chromedp.NewExecAllocator(t.Context(), options...)
	t.Cleanup(stop)
	return newTab(t, allocator)
}

// another opens a second tab of the same browser.
func (b *tab) another() *tab {
	b.t.Helper()
	return newTab(b.t, b.ctx)
}

func newTab(t *testing.T, parent context.Context) *tab {
	t.Helper()
	ctx, closeTab := chromedp.NewContext(parent)
	b := &tab{t: t, ctx: ctx}
	if err := chromedp.Do(ctx); err != nil {
		t.Fatalf("chromium does not start: %v", err)
	}
	listened := make(chan struct{})
	messages := chromedp.Console(ctx)
	go func() {
		defer close(listened)
		for message, err := range messages {
			if err != nil {
				return
			}
			b.note(message)
		}
	}()
	t.Cleanup(func() {
		closeTab()
		<-listened
		for _, problem := range b.problems {
			t.Errorf("the page complains: %s", problem)
		}
	})
	return b
}

// note keeps exceptions and violated policies. Requests that fail are part of
// what is tested.
func (b *tab) note(message chromedp.ConsoleMessage) {
	if !message.IsException() && message.Type != "error" || message.Source == "network" {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.problems = append(b.problems, message.String())
}

func (b *tab) do(steps ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	if err := chromedp.Do(ctx, steps...); err != nil {
		b.t.Fatal(err)
	}
}

// open loads the page, and waits until it is connected.
func (b *tab) open(url string) {
	b.t.Helper()
	b.do(chromedp.Navigate(url))
	b.connected()
}

func (b *tab) connected() {
	b.t.Helper()
	b.wait(`document.querySelector("#link")?.dataset.state === "connected"`)
}

// press types keys into whatever has the focus.
func (b *tab) press(keys string, modifiers ...chromedp.Modifier) {
	b.t.Helper()
	b.do(chromedp.KeyEvent(keys, chromedp.KeyModifiers(modifiers...)))
}

// wait waits until an expression of the page is true.
func (b *tab) wait(expression string) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	poll := chromedp.Poll[bool]("Boolean("+expression+")", chromedp.WithPollingInterval(20*time.Millisecond), chromedp.WithPollingTimeout(patience))
	if _, err := chromedp.Run(ctx, poll); err != nil {
		b.t.Fatalf("%v: never true: %s\nthe page shows:\n%s", err, expression, b.shown())
	}
}

func (b *tab) shown() string {
	text, err := chromedp.Run(b.ctx, chromedp.Evaluate[string]("document.body.innerText"))
	if err != nil {
		return err.Error()
	}
	return text
}

// value evaluates an expression of the page.
func value[T any](b *tab, expression string) T {
	b.t.Helper()
	got, err := chromedp.Run(b.ctx, chromedp.Evaluate[T](expression))
	if err != nil {
		b.t.Fatalf("%s: %v", expression, err)
	}
	return got
}

// turns are the texts of the conversation, each with who wrote it.
func (b *tab) turns() []string {
	b.t.Helper()
	return value[[]string](b, `[...document.querySelectorAll("#log > .turn")].map(item =>
		(item.classList.contains("user") ? "user: " : item.classList.contains("answer") ? "bot: " : "other: ") + item.querySelector(".body")?.innerText.trim())`)
}

func (b *tab) expectTurns(want ...string) {
	b.t.Helper()
	if got := b.turns(); strings.Join(got, "|") != strings.Join(want, "|") {
		b.t.Errorf("the conversation is\n%q, want\n%q", got, want)
	}
}

func (b *tab) scheme(name string) {
	b.t.Helper()
	_, err := chromedp.Call(b.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: name}}})
	if err != nil {
		b.t.Fatal(err)
	}
}

// picture saves what is seen when PICTURES names a folder.
func (b *tab) picture(name string) {
	b.t.Helper()
	folder := os.Getenv("PICTURES")
	if folder == "" {
		return
	}
	png, err := chromedp.Run(b.ctx, chromedp.CaptureScreenshot())
	if err == nil {
		err = os.WriteFile(folder+"/"+name+".png", png, 0o644)
	}
	if err != nil {
		b.t.Error(err)
	}
}
