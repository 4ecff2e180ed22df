package redisstore

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"parley/internal/secret"
	"parley/sessions"
	"parley/test/redistest"
)

func libraries(t *testing.T, server *redistest.Server) []string {
	t.Helper()
	client := server.Client()
	defer client.Close()
	list, err := client.FunctionList(t.Context(), redis.FunctionListQuery{LibraryNamePattern: libraryPrefix + "*"}).Result()
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, l := range list {
		names = append(names, l.Name)
	}
	return names
}

// newer makes a store that of another version: its library has one operation
// more, and so other names.
func newer(t *testing.T, s *Store, version int) *Store {
	t.Helper()
	texts := map[string]string{fmt.Sprintf("extra_%d", version): "#!lua\nreturn 1\n"}
	for name := range s.scripts.byName() {
		text, err := luaFiles.ReadFile("lua/" + name + ".lua")
		if err != nil {
			t.Fatal(err)
		}
		texts[name] = string(text)
	}
	l, err := newLibrary(texts)
	if err != nil {
		t.Fatal(err)
	}
	for name, target := range s.scripts.byName() {
		*target = l.script(name)
	}
	return s
}

// During an update gateways of two versions share a server: each has its own
// functions, whoever came last.
func TestTwoVersionsWorkSideBySide(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t, "--appendfsync", "no")
	config := Config{URL: secret.New(server.URL()), Prefix: freshPrefix()}
	old := openStore(t, config)
	next := newer(t, openStore(t, config), 1)
	for seq := int64(1); seq <= 6; seq += 2 {
		for i, s := range []*Store{old, next} {
			posted, err := s.Post(t.Context(), benchPost(1, false))
			if err != nil || posted.Seq != seq+int64(i) {
				t.Fatalf("%+v, %v, want %d", posted, err, seq+int64(i))
			}
		}
	}
	if names := libraries(t, server); len(names) != 2 {
		t.Errorf("the server has %v", names)
	}
}

// What a server has lost is loaded anew by the call that misses it, and that
// call acts once.
func TestALibraryThatIsGoneIsLoadedAnew(t *testing.T) {
	t.Parallel()
	cluster := redistest.StartCluster(t, 3, "--appendfsync", "no")
	for name, servers := range map[string][]*redistest.Server{"one server": {redistest.Start(t, "--appendfsync", "no")}, "a cluster": cluster.Masters} {
		t.Run(name, func(t *testing.T) {
			url := servers[0].URL()
			if len(servers) > 1 {
				url = cluster.URL()
			}
			s := openStore(t, Config{URL: secret.New(url), Prefix: freshPrefix()})
			for round := range 3 {
				for chat := range 20 {
					posted, err := s.Post(t.Context(), benchPost(chat, false))
					if err != nil || posted.Seq != int64(round+1) {
						t.Fatalf("%+v, %v", posted, err)
					}
				}
				for _, server := range servers {
					client := server.Client()
					if err := client.FunctionFlush(t.Context()).Err(); err != nil {
						t.Fatal(err)
					}
					client.Close()
				}
			}
		})
	}
}

// Old versions leave their libraries behind; a server keeps few of them, and a
// version that is still there is not disturbed.
func TestAServerKeepsFewLibraries(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t, "--appendfsync", "no")
	config := Config{URL: secret.New(server.URL()), Prefix: freshPrefix()}
	old := openStore(t, config)
	ctx, cancel := context.WithTimeout(t.Context(), within)
	defer cancel()
	for version := range 2 * librariesMax {
		if _, err := newer(t, openStore(t, config), version).Post(t.Context(), benchPost(1, false)); err != nil {
			t.Fatal(err)
		}
		for len(libraries(t, server)) > librariesMax { // it is tidied behind the answer
			if ctx.Err() != nil {
				t.Fatalf("the server keeps %d libraries", len(libraries(t, server)))
			}
		}
		if _, err := old.Post(t.Context(), benchPost(2, false)); err != nil {
			t.Fatalf("the old version beside %d others: %v", version+1, err)
		}
	}
}

// Who may not load a library is told so, and by the command's name.
func TestAnAccountThatMayNotLoadIsToldWhy(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t, "--appendfsync", "no")
	client := server.Client()
	defer client.Close()
	allow := func(rules ...any) {
		t.Helper()
		if err := client.Do(t.Context(), append([]any{"acl", "setuser", "gateway", "on", ">pw", "~*", "&*"}, rules...)...).Err(); err != nil {
			t.Fatal(err)
		}
	}
	url := secret.New(strings.Replace(server.URL(), "redis://", "redis://gateway:pw@", 1))
	allow("+@all", "-@dangerous", "-function")
	_, err := Open(t.Context(), Config{URL: url, Prefix: freshPrefix()})
	if !errors.Is(err, sessions.ErrUnavailable) || !strings.Contains(err.Error(), "function|load") {
		t.Errorf("refused: %v", err)
	}
	allow("+function|load")
	s, err := Open(context.WithoutCancel(t.Context()), Config{URL: url, Prefix: freshPrefix()})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Post(t.Context(), benchPost(1, true)); err != nil {
		t.Errorf("with the load alone: %v", err)
	}
}

// A name of the library that is given twice would mean two things, depending
// on where it is used.
func TestLibraryNamesAreGivenOnceAndUsed(t *testing.T) {
	t.Parallel()
	loaded, err := loadScripts()
	if err != nil {
		t.Fatal(err)
	}
	words := map[string]int{}
	for _, word := range strings.FieldsFunc(withoutComments(loaded.post.library.text), func(r rune) bool {
		return r != '_' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
	}) {
		words[word]++
	}
	given := map[string]bool{}
	for line := range strings.Lines(withoutComments(loaded.post.library.text)) {
		head, top := strings.CutPrefix(line, "local ")
		if strings.HasPrefix(line, "redis.register_function") {
			break
		}
		if !top {
			continue
		}
		head, _, _ = strings.Cut(strings.TrimPrefix(head, "function "), "=")
		head, _, _ = strings.Cut(head, "(")
		for _, name := range strings.FieldsFunc(head, func(r rune) bool { return r == ',' || r == ' ' || r == '\n' }) {
			if given[name] {
				t.Errorf("the library gives %s twice", name)
			}
			if given[name] = true; words[name] < 2 {
				t.Errorf("nothing uses %s of the library", name)
			}
		}
	}
	if len(given) < 100 {
		t.Errorf("only %d names were found", len(given))
	}
}

func withoutComments(text string) string {
	var out strings.Builder
	for line := range strings.Lines(text) {
		code, _, _ := strings.Cut(line, "--")
		out.WriteString(strings.TrimRight(code, " \n") + "\n")
	}
	return out.String()
}
