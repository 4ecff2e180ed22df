package api_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"testing"

	"parley/api"
	"parley/api/apitest"
)

func TestWhoMayReadTheMetrics(t *testing.T) {
	t.Parallel()
	numbers := func(c *api.Config) {
		c.Metrics = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("numbers")) })
	}
	remote, local := start(t, apitest.Echo, numbers), start(t, apitest.Echo, numbers, loopbackOwner)
	none := start(t, apitest.Echo, loopbackOwner)
	mac := hmac.New(sha256.New, []byte(token))
	mac.Write([]byte("parley metrics 1"))
	scraper := hex.EncodeToString(mac.Sum(nil))
	for _, c := range []struct {
		name    string
		h       *harness
		path    string
		options []option
		want    int
	}{
		{"nobody", remote, "/metrics", nil, 401},
		{"the metrics' token", remote, "/metrics", []option{bearer(scraper)}, 200},
		{"the owner's token", remote, "/metrics", []option{bearer(token)}, 200},
		{"a wrong token", remote, "/metrics", []option{bearer(scraper[1:])}, 401},
		{"the metrics' token by another scheme", remote, "/metrics", []option{header("Authorization", "Basic "+scraper)}, 401},
		{"the metrics' token elsewhere", remote, "/v1/me", []option{bearer(scraper)}, 401},
		{"this machine", local, "/metrics", nil, 200},
		{"this machine by another name", local, "/metrics", []option{host("evil.example")}, 421},
		{"this machine through a proxy", local, "/metrics", []option{header("X-Forwarded-For", "127.0.0.1")}, 401},
		{"no metrics", none, "/metrics", nil, 404},
	} {
		got := send(t, c.h.client, "GET", c.h.url+c.path, "", c.options...)
		if got.status != c.want || (got.body == "numbers") != (c.want == 200) {
			t.Errorf("%s: %d, want %d: %s", c.name, got.status, c.want, got.body)
		}
	}
}
