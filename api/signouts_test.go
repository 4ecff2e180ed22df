package api_test

import (
	"strings"
	"testing"
	"time"

	"parley/api"
	"parley/api/apitest"
)

// Signing out ends the sign-in for whoever has a copy of its cookie, on every
// replica and after a restart, and nobody else's.
func TestSigningOutEndsEveryCopyOfTheCookie(t *testing.T) {
	t.Parallel()
	store := openStore(t)
	now := time.Now()
	clock := func(c *api.Config) { c.Now = func() time.Time { return now } }
	h, replica := startOn(t, store, apitest.Echo, clock), startOn(t, store, apitest.Echo, clock)
	stolen, other := signIn(t, h), signIn(t, h)
	as := func(h *harness, cookie string) int {
		t.Helper()
		_, value, _ := strings.Cut(cookie, "=")
		name, _, _ := strings.Cut(signIn(t, h), "=") // each server has a port and a name of its own
		return send(t, h.client, "GET", h.url+"/v1/me", "", header("Cookie", name+"="+value)).status
	}
	if got := as(replica, stolen); got != 200 {
		t.Fatalf("on another replica, signed in: %d", got)
	}
	if got := send(t, h.client, "POST", h.url+"/logout", "", header("Cookie", stolen), header("Sec-Fetch-Site", "same-origin")); got.status != 303 {
		t.Fatalf("%d %s", got.status, got.body)
	}
	now = now.Add(time.Minute)
	after := startOn(t, store, apitest.Echo, clock)
	for name, h := range map[string]*harness{"here": h, "on another replica": replica, "after a restart": after} {
		if got := as(h, stolen); got != 401 {
			t.Errorf("%s, signed out: %d", name, got)
		}
		if got := as(h, other); got != 200 {
			t.Errorf("%s, somebody else: %d", name, got)
		}
	}
	if got := send(t, h.client, "GET", h.url+"/", "", header("Cookie", stolen)); got.status != 401 {
		t.Errorf("the page: %d", got.status)
	}
}

// A visit renews the cookie of the same sign-in: signing out ends both.
func TestSigningOutEndsTheRenewedCookieToo(t *testing.T) {
	t.Parallel()
	now := time.Now()
	h := start(t, apitest.Echo, func(c *api.Config) { c.Now = func() time.Time { return now } })
	first := signIn(t, h)
	now = now.Add(2 * 24 * time.Hour)
	renewed, _, _ := strings.Cut(send(t, h.client, "GET", h.url+"/", "", header("Cookie", first)).header.Get("Set-Cookie"), ";")
	if renewed == first || renewed == "" {
		t.Fatalf("not renewed: %q", renewed)
	}
	send(t, h.client, "POST", h.url+"/logout", "", header("Cookie", renewed))
	for name, cookie := range map[string]string{"the first": first, "the renewed": renewed} {
		if got := send(t, h.client, "GET", h.url+"/v1/me", "", header("Cookie", cookie)); got.status != 401 {
			t.Errorf("%s: %d", name, got.status)
		}
	}
}

// The list is bounded: when it is full, everybody signs in again.
func TestTooManySignOutsEndAll(t *testing.T) {
	t.Parallel()
	now := time.Now()
	h := start(t, apitest.Echo, func(c *api.Config) { c.Now = func() time.Time { return now } })
	stays := signIn(t, h)
	for i := 0; send(t, h.client, "GET", h.url+"/v1/me", "", header("Cookie", stays)).status == 200; i++ {
		if i > 1000 {
			t.Fatal("the list grows without end")
		}
		send(t, h.client, "POST", h.url+"/logout", "", header("Cookie", signIn(t, h)))
	}
	now = now.Add(2 * time.Second)
	if got := send(t, h.client, "GET", h.url+"/v1/me", "", header("Cookie", signIn(t, h))); got.status != 200 {
		t.Errorf("signed in anew: %d", got.status)
	}
}
