package redisstore

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"parley/internal/secret"
	"parley/sessions"
	"parley/test/redistest"
)

// safeStore is a store in safe mode on a master with one replica.
func safeStore(t *testing.T) (*Store, *redistest.Replicated, Config) {
	t.Helper()
	r := redistest.StartReplicated(t, "--appendfsync", "no")
	config := Config{URL: secret.New(r.Master.URL() + "?replicas=1"), Prefix: freshPrefix()}
	return openStore(t, config), r, config
}

// shortOf fails the test unless the error says that replicas were missing, and
// that it is temporary.
func shortOf(t *testing.T, err error) *ReplicasError {
	t.Helper()
	var short *ReplicasError
	if !errors.As(err, &short) || !errors.Is(err, sessions.ErrUnavailable) {
		t.Fatalf("error %v", err)
	}
	return short
}

// With its replica gone nothing is acknowledged, within the time limit and with
// an error that says so; reads go on. When the replica is back so is the store,
// and what was not acknowledged is there once.
func TestSafeModeWaitsForTheReplica(t *testing.T) {
	t.Parallel()
	s, r, _ := safeStore(t)
	ctx, cancel := context.WithTimeout(t.Context(), within)
	defer cancel()
	first, err := s.Post(ctx, benchPost(1, false))
	if err != nil {
		t.Fatal(err)
	}
	r.Replica.Kill()
	request := benchPost(1, false)
	_, err = s.Post(ctx, request)
	if short := shortOf(t, err); short.Want != 1 || short.Have != 0 || short.Cause != nil {
		t.Fatalf("%+v", short)
	}
	shortOf(t, s.Ping(ctx))
	if _, err := s.Get(ctx, first.Session); err != nil {
		t.Fatalf("a read waits for the replica: %v", err)
	}
	if err := r.Replica.Restart(); err != nil {
		t.Fatal(err)
	}
	if err := r.AwaitWhole(ctx); err != nil {
		t.Fatal(err)
	}
	again, err := s.Post(ctx, request)
	if err != nil || again.Outcome != sessions.PostDuplicate || again.Seq != first.Seq+1 {
		t.Fatalf("%+v, %v", again, err)
	}
}

// A repetition of a message that no replica has yet waits as the message did.
func TestSafeModeADuplicateWaitsToo(t *testing.T) {
	t.Parallel()
	s, r, _ := safeStore(t)
	ctx, cancel := context.WithTimeout(t.Context(), within)
	defer cancel()
	r.Link.Hold()
	request := benchPost(1, false)
	for range 2 {
		_, err := s.Post(ctx, request)
		shortOf(t, err)
	}
	r.Link.Release()
	again, err := s.Post(ctx, request)
	if err != nil || again.Outcome != sessions.PostDuplicate {
		t.Fatalf("%+v, %v", again, err)
	}
}

// What waits is asked for by WAIT on the connection that wrote it, behind a
// write: a newer server waits for the connection's last write only. What need
// not wait has other connections.
func TestSafeModeAsksOnTheWritersConnection(t *testing.T) {
	t.Parallel()
	s, r, _ := safeStore(t)
	ctx := t.Context()
	request := benchPost(1, true)
	if _, err := s.Post(ctx, request); err != nil { // the scripts are there now
		t.Fatal(err)
	}
	lines := monitored(t, r.Master, func() {
		if posted, err := s.Post(ctx, request); err != nil || posted.Outcome != sessions.PostDuplicate {
			t.Fatal(posted, err)
		}
	})
	var asked []string
	for _, line := range lines {
		if fields := strings.Fields(line); len(fields) > 3 && fields[2] != "lua]" { // time [db address] command …
			asked = append(asked, fields[2]+" "+fields[3])
		}
	}
	from, _, _ := strings.Cut(strings.Join(asked, " "), " ")
	if want := []string{from + ` "fcall"`, from + ` "set"`, from + ` "wait"`}; !slices.Equal(asked, want) {
		t.Fatalf("the server was asked %q", asked)
	}
	lines = monitored(t, r.Master, func() {
		if _, err := s.Due(ctx, 1); err != nil {
			t.Fatal(err)
		}
	})
	for _, line := range lines {
		if strings.Contains(line, `"wait"`) {
			t.Fatalf("a read waits: %s", line)
		}
	}
}

// monitored are the commands that a server got during a task, as MONITOR tells
// them, but for what connections say of themselves.
func monitored(t *testing.T, server *redistest.Server, task func()) []string {
	t.Helper()
	client := server.Client()
	defer client.Close()
	conn, err := net.DialTimeout("tcp", server.Addr(), within)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	told := bufio.NewScanner(conn)
	if err := errors.Join(conn.SetDeadline(time.Now().Add(within)), client.Ping(t.Context()).Err()); err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Write([]byte("MONITOR\r\n")); err != nil || !told.Scan() || told.Text() != "+OK" {
		t.Fatalf("%q, %v", told.Text(), err)
	}
	task()
	mark := newToken()
	if err := client.Echo(t.Context(), mark).Err(); err != nil {
		t.Fatal(err)
	}
	var lines []string
	for told.Scan() {
		line := told.Text()
		if strings.Contains(line, mark) {
			return lines
		}
		own := func(name string) bool { return strings.Contains(line, `] "`+name+`"`) }
		if !own("hello") && !own("client") && !own("replconf") && !own("ping") {
			lines = append(lines, line)
		}
	}
	t.Fatal(told.Err())
	return nil
}

// posters post until their store fails, each in a chat of its own. enough is
// closed after so many acknowledgements; ended waits for the end, and gives the
// keys that were acknowledged with their chats.
func posters(ctx context.Context, s *Store, chats, count int) (enough <-chan struct{}, ended func() map[string]int) {
	var mu sync.Mutex
	var wg sync.WaitGroup
	keys, reached := map[string]int{}, make(chan struct{})
	note := func(key string, chat int) {
		mu.Lock()
		defer mu.Unlock()
		if keys[key] = chat; len(keys) == count {
			close(reached)
		}
	}
	for chat := range chats {
		wg.Go(func() {
			for {
				request := benchPost(chat, false)
				if _, err := s.Post(ctx, request); err != nil {
					return
				}
				note(request.Key, chat)
			}
		})
	}
	return reached, func() map[string]int { wg.Wait(); return keys }
}

// A master that dies takes along what it had not passed on yet. In safe mode
// nothing of that was acknowledged.
func TestSafeModeLosesNothingAcknowledged(t *testing.T) {
	t.Parallel()
	for _, settings := range []string{"", "?replicas=1"} {
		t.Run("url"+settings, func(t *testing.T) {
			t.Parallel()
			acknowledged, lost := failedOver(t, settings)
			t.Logf("of %d acknowledged messages the failover lost %d", acknowledged, lost)
			if acknowledged == 0 {
				t.Fatal("nothing was acknowledged")
			}
			if settings != "" && lost > 0 {
				t.Fatal("acknowledged messages are lost")
			}
		})
	}
}

// failedOver posts while the replica is late, kills the master, and counts what
// the replica has.
func failedOver(t *testing.T, settings string) (acknowledged, lost int) {
	t.Helper()
	r := redistest.StartReplicated(t, "--appendfsync", "no")
	config := Config{URL: secret.New(r.Master.URL() + settings), Prefix: freshPrefix()}
	s := openStore(t, config)
	ctx, cancel := context.WithTimeout(t.Context(), within)
	defer cancel()
	r.Link.Delay(200 * time.Millisecond)
	enough, ended := posters(ctx, s, 20, 100)
	select {
	case <-enough:
	case <-ctx.Done():
		t.Fatal("the store acknowledges nothing")
	}
	if err := r.FailOver(ctx); err != nil {
		t.Fatal(err)
	}
	keys := ended()
	config.URL = secret.New(r.Replica.URL())
	after := openStore(t, config)
	for key, chat := range keys {
		request := benchPost(chat, false)
		request.Key = key
		posted, err := after.Post(ctx, request)
		if err != nil {
			t.Fatal(err)
		}
		if posted.Outcome != sessions.PostDuplicate {
			lost++
		}
	}
	return len(keys), lost
}

// Every script that writes waits, but for those of which nobody is told.
func TestWhatWaitsForReplicas(t *testing.T) {
	t.Parallel()
	loaded, err := loadScripts()
	if err != nil {
		t.Fatal(err)
	}
	known := loaded.byName()
	for _, name := range unwaited() {
		if known[name] == nil {
			t.Errorf("%s is no operation", name)
		}
	}
	for name, s := range known {
		text, err := fs.ReadFile(luaFiles, "lua/"+name+".lua")
		if err != nil {
			t.Fatal(err)
		}
		if bytes.HasPrefix(text, []byte("#!lua flags=no-writes\n")) && (*s).waits {
			t.Errorf("%s only reads, and waits", name)
		}
	}
	for _, s := range []*script{loaded.post, loaded.claim, loaded.again, loaded.commit, loaded.rotate, loaded.appendTo, loaded.enqueue, loaded.forwardApply, loaded.ping} {
		if !s.waits {
			t.Errorf("%s does not wait", s.name)
		}
	}
}

func TestVerdict(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	answer := func(val any, err error) *redis.Cmd {
		cmd := redis.NewCmd(ctx)
		cmd.SetVal(val)
		cmd.SetErr(err)
		return cmd
	}
	good, bad := answer("OK", nil), answer(nil, errors.New("MOVED 1 x:1"))
	for name, c := range map[string]struct {
		asked replication
		marks []*redis.Cmd
		wait  *redis.Cmd
		want  bool
	}{
		"enough":                {replication{replicas: 2}, []*redis.Cmd{good}, answer(int64(2), nil), true},
		"too few":               {replication{replicas: 2}, []*redis.Cmd{good}, answer(int64(1), nil), false},
		"one mark of two":       {replication{replicas: 1}, []*redis.Cmd{bad, good}, answer(int64(1), nil), true},
		"no mark":               {replication{replicas: 1}, []*redis.Cmd{bad, bad}, answer(int64(1), nil), false},
		"the question fails":    {replication{replicas: 1}, []*redis.Cmd{good}, answer(nil, errors.New("READONLY")), false},
		"no sense":              {replication{replicas: 1}, []*redis.Cmd{good}, answer("many", nil), false},
		"on disks":              {replication{replicas: 1, synced: true}, []*redis.Cmd{good}, answer([]any{int64(1), int64(1)}, nil), true},
		"not the master's":      {replication{replicas: 1, synced: true}, []*redis.Cmd{good}, answer([]any{int64(0), int64(1)}, nil), false},
		"not the replica's":     {replication{replicas: 1, synced: true}, []*redis.Cmd{good}, answer([]any{int64(1), int64(0)}, nil), false},
		"half of a disk answer": {replication{replicas: 1, synced: true}, []*redis.Cmd{good}, answer([]any{int64(1)}, nil), false},
	} {
		err := c.asked.verdict(&question{marks: c.marks, wait: c.wait})
		if (err == nil) != c.want {
			t.Errorf("%s: %v", name, err)
		}
		if err != nil && outcomeOf(err) != unknown {
			t.Errorf("%s: its outcome is known: it would be sent again", name)
		}
	}
}

// A server that lacks WAITAOF acknowledges nothing that was to be on disks, and
// the doctor says why. One that has it is found out by COMMAND INFO.
func TestSyncedNeedsWAITAOF(t *testing.T) {
	t.Parallel()
	r := redistest.StartReplicated(t, "--appendfsync", "always")
	s := openStore(t, Config{URL: secret.New(r.Master.URL() + "?replicas=1&synced=true"), Prefix: freshPrefix()})
	client := r.Master.Client()
	defer client.Close()
	has := syncedFindings("it", client.Do(t.Context(), "command", "info", "waitaof").Val())[0].Level == LevelOK
	_, err := s.Post(t.Context(), benchPost(1, false))
	if has {
		if err != nil {
			t.Fatalf("this server has WAITAOF: %v", err)
		}
		return
	}
	if short := shortOf(t, err); short.Cause == nil || !strings.Contains(err.Error(), "WAITAOF") && !strings.Contains(err.Error(), "waitaof") {
		t.Fatalf("the error does not name what is missing: %v", err)
	}
	if counts := levels(s.Diagnose(t.Context())); counts[LevelError] != 1 {
		t.Errorf("the doctor finds %v", counts)
	}
	if found := syncedFindings("it", []any{[]any{"waitaof", int64(4)}}); found[0].Level != LevelOK {
		t.Errorf("a newer server: %+v", found)
	}
}

func levels(findings []Finding) map[string]int {
	counts := map[string]int{}
	for _, f := range findings {
		counts[f.Level]++
	}
	return counts
}

func TestDiagnoseReplicas(t *testing.T) {
	t.Parallel()
	s, r, config := safeStore(t)
	ctx, cancel := context.WithTimeout(t.Context(), within)
	defer cancel()
	client := r.Master.Client()
	defer client.Close()
	says := func(s *Store, level, text string) {
		t.Helper()
		for _, f := range s.Diagnose(ctx) {
			if f.Level == level && strings.Contains(f.What, text) && (f.Remedy != "" || level == LevelOK) {
				return
			}
		}
		t.Errorf("no %s says %q: %+v", level, text, s.Diagnose(ctx))
	}
	says(s, LevelOK, "1 replica(s) online; safe mode is on and waits for 1")
	says(s, LevelWarning, "min-replicas-to-write 0")
	config.URL = secret.New(r.Master.URL())
	says(openStore(t, config), LevelWarning, "safe mode is off")
	config.URL = secret.New(r.Master.URL() + "?replicas=2")
	says(openStore(t, config), LevelError, "safe mode waits for 2: nothing is acknowledged")
	if err := client.ConfigSet(ctx, "min-replicas-to-write", "2").Err(); err != nil {
		t.Fatal(err)
	}
	says(s, LevelError, "refuses every write")
}

// The error tells an operator what is missing and what to do.
func TestReplicasErrorSaysWhatToDo(t *testing.T) {
	t.Parallel()
	for _, synced := range []bool{false, true} {
		text := fmt.Sprint(&ReplicasError{Want: 2, Have: 1, Within: replicasWithin, Synced: synced})
		for _, part := range []string{"1 of 2 replicas", "1.5s", "may have taken effect", "safe to repeat", "INFO replication", "replicas="} {
			if !strings.Contains(text, part) {
				t.Errorf("%q does not say %q", text, part)
			}
		}
		if strings.Contains(text, "appendfsync") != synced {
			t.Errorf("%q", text)
		}
	}
}
