package redisstore

import (
	"context"
	"reflect"
	"strings"
	"testing"

	"parley/internal/secret"
)

func TestParseURL(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]address{
		"redis://":                                 {kind: standalone, hosts: []string{"localhost:6379"}},
		"redis://h:1/2":                            {kind: standalone, hosts: []string{"h:1"}, db: 2},
		"rediss://:p%40w@h":                        {kind: standalone, hosts: []string{"h:6379"}, password: "p@w", tls: true},
		"redis://[::1]:7":                          {kind: standalone, hosts: []string{"[::1]:7"}},
		"redis+cluster://u:p@a,b:2,c?tls=1":        {kind: cluster, hosts: []string{"a:6379", "b:2", "c:6379"}, user: "u", password: "p", tls: true},
		"redis+sentinel://a,b:2/mymaster/3":        {kind: sentinel, hosts: []string{"a:26379", "b:2"}, master: "mymaster", db: 3},
		"redis+cluster://a?replicas=2&synced=true": {kind: cluster, hosts: []string{"a:6379"}, replication: replication{replicas: 2, synced: true}},
		"rediss://a?ca=/etc/ca.pem&replicas=0":     {kind: standalone, hosts: []string{"a:6379"}, tls: true, ca: "/etc/ca.pem"},
		"redis+sentinel://:pw@a/m?tls=false":       {kind: sentinel, hosts: []string{"a:26379"}, master: "m", password: "pw"},
	} {
		got, err := parseURL(text)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v, %v, want %+v", text, got, err, want)
		}
	}
}

func TestBadURLsAreRefusedWithoutShowingThem(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"", "h:1", "http://:canary@h", "redis://canary@h", "redis://:canary@h:x", "redis://:canary@h:99999", "redis://:canary@a,b",
		"redis://:canary@h/x", "redis://:canary%zz@h", "redis://:canary@h?db=1", "redis://:canary@h?tls=maybe", "redis://:canary@h?%zz",
		"redis+sentinel://:canary@a", "redis+cluster://:canary@a/1", "redis+cluster://:canary@a,,b", "redis://:canary@h/-1",
		"redis://:canary@h?replicas=x", "redis://:canary@h?replicas=9", "redis://:canary@h?replicas=-1", "redis://:canary@h?replicas=1&replicas=2",
		"redis://:canary@h?synced=true", "redis://:canary@h?replicas=1&synced=very", "redis://:canary@h?ca=f",
	} {
		_, err := parseURL(text)
		if err == nil {
			t.Errorf("%q is accepted", text)
			continue
		}
		if strings.Contains(err.Error(), "canary") {
			t.Errorf("%q: the error shows the password: %v", text, err)
		}
	}
}

func TestUnreachableServerDoesNotShowThePassword(t *testing.T) {
	t.Parallel()
	for _, url := range []string{"redis://:canary@127.0.0.1:1", "redis+cluster://u:canary@127.0.0.1:1"} {
		_, err := Open(context.Background(), Config{URL: secret.New(url)})
		if err == nil || strings.Contains(err.Error(), "canary") {
			t.Errorf("%v", err)
		}
	}
}

func FuzzParseURL(f *testing.F) {
	f.Add("redis+cluster://u:p@a,b:2/0?tls=true")
	f.Fuzz(func(t *testing.T, text string) {
		a, err := parseURL(text)
		if err == nil && len(a.hosts) == 0 {
			t.Fatal("no host")
		}
	})
}
