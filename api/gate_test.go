package api_test

import (
	"log/slog"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"parley/api"
	"parley/api/apitest"
	"parley/internal/secret"
)

func TestWhoComesIn(t *testing.T) {
	t.Parallel()
	remote, local := start(t, apitest.Echo), start(t, apitest.Echo, loopbackOwner)
	other := start(t, apitest.Echo, func(c *api.Config) { c.Token = secret.New("another token") })
	cookie := signIn(t, remote)
	foreign := signIn(t, other)
	cases := []struct {
		name    string
		h       *harness
		path    string
		options []option
		want    int
	}{
		{"nothing", remote, "/v1/me", nil, 401},
		{"the token", remote, "/v1/me", []option{bearer(token)}, 200},
		{"the token, scheme in capitals", remote, "/v1/me", []option{header("Authorization", "BEARER "+token)}, 200},
		{"a wrong token", remote, "/v1/me", []option{bearer("x" + token)}, 401},
		{"an empty token", remote, "/v1/me", []option{bearer("")}, 401},
		{"a prefix of the token", remote, "/v1/me", []option{bearer(token[:8])}, 401},
		{"another scheme", remote, "/v1/me", []option{header("Authorization", "Basic "+token)}, 401},
		{"the token in the address", remote, "/v1/me?token=" + token, nil, 401},
		{"a wrong token beside a good cookie", remote, "/v1/me", []option{header("Cookie", cookie), bearer("no")}, 401},
		{"a cookie", remote, "/v1/me", []option{header("Cookie", cookie)}, 200},
		{"a changed cookie", remote, "/v1/me", []option{header("Cookie", cookie[:len(cookie)-2]+"xx")}, 401},
		{"the cookie of another token", remote, "/v1/me", []option{header("Cookie", foreign)}, 401},
		{"health for anyone", remote, "/healthz", nil, 200},
		{"readiness for anyone", remote, "/readyz", nil, 200},
		{"a page for a stranger", remote, "/", nil, 401},
		{"the page on this machine", local, "/", nil, 200},
		{"the page by name", local, "/", []option{host("localhost:8080")}, 200},
		{"the page by IPv6", local, "/", []option{host("[::1]:8080")}, 200},
		{"the page by another name", local, "/", []option{host("evil.example:8080")}, 421},
		{"the page by a name that looks alike", local, "/", []option{host("127.0.0.1.evil.example")}, 421},
		{"the API by another name, with the token", local, "/v1/me", []option{host("evil.example"), bearer(token)}, 421},
		{"the page through a proxy", local, "/", []option{header("X-Forwarded-For", "127.0.0.1")}, 401},
		{"the page through another proxy", local, "/", []option{header("Forwarded", "for=127.0.0.1")}, 401},
		{"the page via", local, "/", []option{header("Via", "1.1 x")}, 401},
		{"the page fetched by another site", local, "/", []option{header("Sec-Fetch-Site", "cross-site"), header("Sec-Fetch-Mode", "no-cors")}, 401},
		{"the page fetched from another port", local, "/", []option{header("Sec-Fetch-Site", "same-site"), header("Sec-Fetch-Mode", "cors")}, 401},
		{"the page in a frame", local, "/", []option{header("Sec-Fetch-Site", "cross-site"), header("Sec-Fetch-Mode", "navigate"), header("Sec-Fetch-Dest", "iframe")}, 401},
		{"the page by a link", local, "/", []option{header("Sec-Fetch-Site", "cross-site"), header("Sec-Fetch-Mode", "navigate"), header("Sec-Fetch-Dest", "document")}, 200},
		{"the API on this machine without signing in", local, "/v1/me", nil, 401},
	}
	for _, c := range cases {
		got := send(t, c.h.client, "GET", c.h.url+c.path, "", c.options...)
		if got.status != c.want {
			t.Errorf("%s: %d, want %d: %s", c.name, got.status, c.want, got.body)
		}
		if got.status != 200 && len(got.header["Set-Cookie"]) > 0 {
			t.Errorf("%s: refused, yet given %v", c.name, got.header["Set-Cookie"])
		}
	}
}

// signIn signs a browser in by a link, and gives its Cookie header.
func signIn(t *testing.T, h *harness) string {
	t.Helper()
	got := send(t, h.client, "GET", h.api.LoginLink(h.url), "")
	if got.status != http.StatusOK {
		t.Fatalf("%d %s", got.status, got.body)
	}
	cookie, attributes, _ := strings.Cut(got.header.Get("Set-Cookie"), ";")
	for _, must := range []string{"HttpOnly", "SameSite=Strict", "Path=/"} {
		if !strings.Contains(attributes, must) {
			t.Errorf("the cookie lacks %s: %s", must, attributes)
		}
	}
	return cookie
}

func TestOpeningThePageOnThisMachineSignsIn(t *testing.T) {
	t.Parallel()
	h := start(t, apitest.Echo, loopbackOwner)
	browser := h.browser()
	if got := send(t, browser, "GET", h.url+"/", ""); got.status != http.StatusOK {
		t.Fatalf("%d %s", got.status, got.body)
	}
	var me struct{ Session, Surface string }
	send(t, browser, "GET", h.url+"/v1/me", "").into(t, &me)
	if !strings.HasPrefix(me.Session, "web:") || me.Surface != "web:local:"+strings.TrimPrefix(me.Session, "web:") {
		t.Errorf("%+v", me)
	}
	first := me
	send(t, browser, "GET", h.url+"/", "")
	send(t, browser, "GET", h.url+"/v1/me", "").into(t, &me)
	if me != first {
		t.Errorf("another visit made another device: %+v, then %+v", first, me)
	}
}

// The cookie outlives a restart with the same token; with a new token, a page
// on this machine only has to ask for / again.
func TestARestart(t *testing.T) {
	t.Parallel()
	before, after := start(t, apitest.Echo), start(t, apitest.Echo)
	if before.url == after.url {
		t.Fatal("one server, not two")
	}
	_, value, _ := strings.Cut(signIn(t, before), "=")
	name, _, _ := strings.Cut(signIn(t, after), "=")
	if got := send(t, after.client, "GET", after.url+"/v1/me", "", header("Cookie", name+"="+value)); got.status != 200 {
		t.Errorf("the same token, another process: %d", got.status)
	}
	renewed := start(t, apitest.Echo, loopbackOwner)
	browser := renewed.browser()
	stale := header("Cookie", name+"="+value)
	if got := send(t, browser, "GET", renewed.url+"/v1/me", "", stale); got.status != 401 {
		t.Errorf("a stale cookie: %d", got.status)
	}
	send(t, browser, "GET", renewed.url+"/", "", stale)
	if got := send(t, browser, "GET", renewed.url+"/v1/me", ""); got.status != 200 {
		t.Errorf("after asking for /: %d", got.status)
	}
}

func TestLoginLinksWorkOnceAndNotForLong(t *testing.T) {
	t.Parallel()
	now := time.Now()
	h := start(t, apitest.Echo, func(c *api.Config) { c.Now = func() time.Time { return now } })
	link := h.api.LoginLink(h.url + "/")
	if got := send(t, h.client, "HEAD", link, ""); len(got.header["Set-Cookie"]) > 0 {
		t.Error("a look at the head signed in")
	}
	if got := send(t, h.client, "GET", link, ""); got.status != 200 || len(got.header["Set-Cookie"]) != 1 {
		t.Errorf("%d %v", got.status, got.header)
	}
	if got := send(t, h.client, "GET", link, ""); got.status != 401 || len(got.header["Set-Cookie"]) > 0 {
		t.Errorf("used twice: %d", got.status)
	}
	late := h.api.LoginLink(h.url)
	now = now.Add(api.LoginLinkFor)
	if got := send(t, h.client, "GET", late, ""); got.status != 401 {
		t.Errorf("too late: %d", got.status)
	}
	code, _ := url.Parse(h.api.LoginLink(h.url))
	if bits := len(code.Query().Get("code")) * 5; bits < 128 {
		t.Errorf("a code has %d bits", bits)
	}
}

func TestTheLoginForm(t *testing.T) {
	t.Parallel()
	h := start(t, apitest.Echo)
	form := header("Content-Type", "application/x-www-form-urlencoded")
	browser := h.browser()
	if got := send(t, browser, "POST", h.url+"/login", "token=wrong", form); got.status != 401 || strings.Contains(got.body, "wrong\"") {
		t.Errorf("a wrong token: %d %s", got.status, got.body)
	}
	if got := send(t, browser, "POST", h.url+"/login", "token="+token, form, header("Sec-Fetch-Site", "cross-site")); got.status != 403 {
		t.Errorf("from another site: %d", got.status)
	}
	if got := send(t, browser, "POST", h.url+"/login", "token="+token, form, header("Sec-Fetch-Site", "same-origin")); got.status != 200 {
		t.Errorf("the token: %d %s", got.status, got.body)
	}
	if got := send(t, browser, "GET", h.url+"/v1/me", ""); got.status != 200 {
		t.Errorf("signed in: %d", got.status)
	}
	send(t, browser, "POST", h.url+"/logout", "", header("Sec-Fetch-Site", "same-origin"))
	if got := send(t, browser, "GET", h.url+"/v1/me", ""); got.status != 401 {
		t.Errorf("signed out: %d", got.status)
	}
}

func TestTooManyWrongTokensLockOut(t *testing.T) {
	t.Parallel()
	now := time.Now()
	const guessable = "a short one"
	h := start(t, apitest.Echo, withTokens, func(c *api.Config) {
		c.Now, c.Token = func() time.Time { return now }, secret.New(guessable)
	})
	cookie := signIn(t, h)
	for range api.FailuresMax - 1 {
		send(t, h.client, "GET", h.url+"/v1/me", "", bearer("wrong"))
	}
	if got := h.do("GET", "/v1/me", "", bearer(guessable)); got.status != 200 {
		t.Fatalf("one failure less than too many: %d", got.status)
	}
	send(t, h.client, "GET", h.url+"/v1/me", "", bearer("wrong"))
	got := h.do("GET", "/v1/me", "", bearer(guessable))
	if got.status != 429 || got.code(t) != "locked_out" {
		t.Fatalf("%d %s", got.status, got.body)
	}
	if wait, _ := strconv.Atoi(got.header.Get("Retry-After")); wait != int(api.LockedOutFor/time.Second) {
		t.Errorf("Retry-After: %d", wait)
	}
	if got := h.do("GET", "/v1/me", "", bearer(programToken)); got.status != 200 {
		t.Errorf("a token that nobody guesses, meanwhile: %d", got.status)
	}
	if got := send(t, h.client, "GET", h.api.LoginLink(h.url), ""); got.status != 200 {
		t.Errorf("a login link meanwhile: %d", got.status)
	}
	if got := send(t, h.client, "GET", h.url+"/v1/me", "", header("Cookie", cookie)); got.status != 200 {
		t.Errorf("a signed-in browser meanwhile: %d", got.status)
	}
	now = now.Add(api.LockedOutFor)
	if got := h.do("GET", "/v1/me", "", bearer(guessable)); got.status != 200 {
		t.Errorf("later: %d", got.status)
	}
}

// A page of another site can make a browser ask for an address, as with an
// image. That locks nobody out.
func TestAnotherSitesPageLocksNobodyOut(t *testing.T) {
	t.Parallel()
	const guessable = "a short one"
	h := start(t, apitest.Echo, func(c *api.Config) { c.Token = secret.New(guessable) })
	for range 2 * api.FailuresMax {
		got := send(t, h.client, "GET", h.url+"/login?code=wrong", "", header("Sec-Fetch-Site", "cross-site"), header("Sec-Fetch-Mode", "no-cors"), header("Sec-Fetch-Dest", "image"))
		if got.status != 401 || len(got.header["Set-Cookie"]) > 0 {
			t.Fatalf("%d %v", got.status, got.header)
		}
	}
	if got := h.do("GET", "/v1/me", "", bearer(guessable)); got.status != 200 {
		t.Errorf("the owner: %d %s", got.status, got.body)
	}
}

// A program of this machine that forwards what comes from elsewhere, and adds
// no header that says so, makes nobody the owner.
func TestAForwarderThatHidesMakesNobodyTheOwner(t *testing.T) {
	t.Parallel()
	h := start(t, apitest.Echo, func(c *api.Config) {
		c.Local = true
		c.Metrics = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("numbers")) })
	})
	h.gateway.Parts = []api.PartHealth{{Name: "store", State: "away", Problem: "an inner detail"}}
	for path, want := range map[string]int{"/": 401, "/metrics": 401, "/readyz": 503, "/v1/me": 401} {
		got := send(t, h.client, "GET", h.url+path, "", host("127.0.0.1:8080"))
		if got.status != want || len(got.header["Set-Cookie"]) > 0 || strings.Contains(got.body, "inner detail") {
			t.Errorf("%s: %d %v %s", path, got.status, got.header, got.body)
		}
	}
	if got := send(t, h.client, "GET", h.url+"/v1/me", "", host("evil.example"), bearer(token)); got.status != 421 {
		t.Errorf("a name of another machine: %d", got.status)
	}
}

func TestOnlyTheOwnersOwnTokenMakesLoginLinks(t *testing.T) {
	t.Parallel()
	h := start(t, apitest.Echo, withTokens)
	cookie := header("Cookie", signIn(t, h))
	for name, options := range map[string][]option{"a browser": {cookie}, "a program": {bearer(programToken)}, "a channel": {bearer(bridgeToken)}} {
		if got := send(t, h.client, "POST", h.url+"/v1/login-links", "", options...); got.status != 403 {
			t.Errorf("%s: %d %s", name, got.status, got.body)
		}
	}
	got := h.do("POST", "/v1/login-links", "")
	var link struct {
		Path    string
		Expires time.Time
	}
	if got.status != http.StatusCreated {
		t.Fatalf("%d %s", got.status, got.body)
	}
	got.into(t, &link)
	browser := h.browser()
	if got := send(t, browser, "GET", h.url+link.Path, ""); got.status != 200 || link.Expires.IsZero() {
		t.Errorf("%d %+v", got.status, link)
	}
	if got := send(t, browser, "GET", h.url+"/", ""); got.status != 200 {
		t.Errorf("the page: %d", got.status)
	}
}

func TestOtherOriginsWriteNothing(t *testing.T) {
	t.Parallel()
	h := start(t, apitest.Echo)
	cookie := header("Cookie", signIn(t, h))
	for _, options := range [][]option{
		{header("Sec-Fetch-Site", "cross-site")}, {header("Sec-Fetch-Site", "same-site")}, {header("Origin", "http://evil.example")}, {header("Origin", "null")},
	} {
		got := send(t, h.client, "POST", h.url+"/v1/sessions/web:x/messages", `{"text":"hi"}`, append(options, cookie)...)
		if got.status != 403 || got.code(t) != "cross_origin" {
			t.Errorf("%d %s", got.status, got.body)
		}
	}
	if got := send(t, h.client, "POST", h.url+"/v1/sessions/web:x/messages", `{"text":"hi"}`, cookie, header("Origin", h.url)); got.status != 202 {
		t.Errorf("its own origin: %d %s", got.status, got.body)
	}
}

func TestEveryAnswerCarriesThePolicies(t *testing.T) {
	t.Parallel()
	h := start(t, apitest.Echo, loopbackOwner)
	for _, path := range []string{"/", "/login", "/healthz", "/v1/me", "/nowhere", "/assets/chat.css"} {
		got := send(t, h.client, "GET", h.url+path, "")
		policy := got.header.Get("Content-Security-Policy")
		for _, must := range []string{"default-src 'none'", "script-src 'self'", "frame-ancestors 'none'"} {
			if !strings.Contains(policy, must) {
				t.Errorf("%s: the policy lacks %s", path, must)
			}
		}
		if strings.Contains(policy, "unsafe") || got.header.Get("X-Content-Type-Options") != "nosniff" || got.header.Get("Referrer-Policy") != "no-referrer" {
			t.Errorf("%s: %v", path, got.header)
		}
		if strings.Contains(got.body, "<script>") || strings.Contains(got.body, "style=") || strings.Contains(got.body, " onclick") {
			t.Errorf("%s has something inline", path)
		}
		if strings.Contains(got.body, "//") && strings.Contains(strings.ReplaceAll(got.body, "http://127.0.0.1", ""), "src=\"http") {
			t.Errorf("%s loads from elsewhere", path)
		}
	}
}

// logBook is where a test's log lines go.
type logBook struct {
	mu    sync.Mutex
	lines strings.Builder
}

func (l *logBook) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.lines.Write(line)
}

func TestNoSecretAndNoTextIsLogged(t *testing.T) {
	t.Parallel()
	book := &logBook{}
	h := start(t, apitest.Echo, func(c *api.Config) {
		c.Logger = slog.New(slog.NewJSONHandler(book, &slog.HandlerOptions{Level: slog.LevelDebug}))
	})
	link := h.api.LoginLink(h.url)
	cookie := send(t, h.client, "GET", link, "").header.Get("Set-Cookie")
	for range api.FailuresMax {
		send(t, h.client, "POST", h.url+"/login", "token=nearly-"+token)
	}
	send(t, h.client, "POST", h.url+"/v1/sessions/web:x/messages?wait=1m", `{"text":"a private word"}`, header("Cookie", cookie), header("Idempotency-Key", "private-key"))
	book.mu.Lock()
	defer book.mu.Unlock()
	lines := book.lines.String()
	_, code, _ := strings.Cut(link, "code=")
	_, value, _ := strings.Cut(strings.Split(cookie, ";")[0], "=")
	for _, secret := range []string{token, code, value, "private"} {
		if strings.Contains(lines, secret) {
			t.Errorf("the log has %q:\n%s", secret, lines)
		}
	}
	if !strings.Contains(lines, "locked out") || !strings.Contains(lines, "POST /v1/sessions/{id}/messages") {
		t.Errorf("the log lacks what an operator needs:\n%s", lines)
	}
}

func TestReadinessDoesNotHangOnTheModel(t *testing.T) {
	t.Parallel()
	h := start(t, apitest.Echo)
	h.gateway.Parts = []api.PartHealth{{Name: "store", OK: true}, {Name: "model", Advisory: true, State: "failing", Problem: "no key"}}
	if got := h.do("GET", "/readyz", ""); got.status != http.StatusOK || !strings.Contains(got.body, "no key") {
		t.Errorf("%d %s", got.status, got.body)
	}
}

func TestReadinessTellsStrangersNoDetails(t *testing.T) {
	t.Parallel()
	h := start(t, apitest.Echo)
	h.gateway.Parts = []api.PartHealth{{Name: "store", OK: true}, {Name: "telegram:1", State: "deaf", Problem: "an inner detail"}}
	got := send(t, h.client, "GET", h.url+"/readyz", "")
	if got.status != 503 || strings.Contains(got.body, "inner detail") || !strings.Contains(got.body, "telegram:1") {
		t.Errorf("%d %s", got.status, got.body)
	}
	if got := h.do("GET", "/readyz", ""); !strings.Contains(got.body, "inner detail") {
		t.Errorf("the owner sees %s", got.body)
	}
	h.gateway.Parts = nil
	if got := h.do("GET", "/readyz", ""); got.status != 200 || !strings.Contains(got.body, `"ready":true`) {
		t.Errorf("%d %s", got.status, got.body)
	}
}
