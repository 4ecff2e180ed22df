package main

import (
	"encoding/json"
	"math"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"go.uber.org/goleak"

	"parley/test/redistest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// The short form: everything works, and the store is asked once for a message
// and three times for a turn. Nothing that depends on time is judged.
func TestShortForm(t *testing.T) {
	t.Parallel()
	redistest.Need(t)
	var out, progress strings.Builder
	status := program(t.Context(), []string{"-short", "-json", "-budgets", filepath.Join(t.TempDir(), "none.md")}, &out, &progress)
	if status != exitOK {
		t.Fatalf("status %d\n%s\n%s", status, progress.String(), out.String())
	}
	var got struct {
		Figures []struct {
			ID       string
			Measured float64
			Verdict  string
		}
	}
	if err := json.Unmarshal([]byte(out.String()), &got); err != nil {
		t.Fatalf("%v in\n%s", err, out.String())
	}
	measured := map[string]float64{}
	for _, f := range got.Figures {
		measured[f.ID] = f.Measured
		if f.Measured < 0 || f.Verdict == verdictMissed {
			t.Errorf("%s is %v: %s", f.ID, f.Measured, f.Verdict)
		}
	}
	for _, store := range backendNames() {
		for name, want := range map[measure]float64{measurePostTrips: 1, measureTurnTrips: 3} {
			if got := measured[store+"/"+string(name)]; math.Abs(got-want) > tripsTolerance {
				t.Errorf("%s/%s is %.2f, want %v", store, name, got, want)
			}
		}
		for _, m := range meanings() {
			inBinary := m.measure == measureStart || m.measure == measureIdleRSS || m.measure == measureLiveRSS || m.measure == measureManyStart || m.measure == measureManyRSS
			inBinary = inBinary || store == redisName+"always" && (m.measure == measureFind || m.measure == measureSweep)
			onRedis := m.measure == measureSessionBytes || m.measure == measureReplicas
			if _, found := measured[store+"/"+string(m.measure)]; !found && !inBinary && (!onRedis || store != sqliteName) {
				t.Errorf("%s/%s was not measured", store, m.measure)
			}
		}
	}
}

func TestOptions(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"-store", "mysql"}, {"-part", "posts,speed"}, {"-size", "0"}, {"more"}, {"-nothing"}} {
		var out, progress strings.Builder
		if status := program(t.Context(), args, &out, &progress); status != exitFailed || progress.Len() == 0 {
			t.Errorf("%v: status %d, %q", args, status, progress.String())
		}
	}
}

func TestPercentile(t *testing.T) {
	t.Parallel()
	samples := []float64{5, 1, 4, 2, 3}
	for p, want := range map[float64]float64{0: 1, 20: 1, 21: 2, 50: 3, 99: 5, 100: 5} {
		if got := percentile(samples, p); got != want {
			t.Errorf("p%v is %v, want %v", p, got, want)
		}
	}
	if samples[0] != 5 || !math.IsNaN(percentile(nil, 50)) {
		t.Error("samples are sorted in place, or none give a number")
	}
}

func TestJudge(t *testing.T) {
	t.Parallel()
	recorded := map[string]miss{"sqlite/turns": {accepted: 900, reason: "r"}, "sqlite/turns.share": {accepted: 30, reason: "r"}}
	for _, c := range []struct {
		measure  measure
		measured float64
		short    bool
		want     string
	}{
		{measureTurns, 1500, false, verdictOK},
		{measureTurns, 1499, false, verdictRecorded},
		{measureTurns, 900, false, verdictRecorded},
		{measureTurns, 899, false, verdictMissed},
		{measureTurns, 1, true, verdictNotJudged},
		{measureTurnTrips, 3.05, true, verdictOK},
		{measureTurnTrips, 4, true, verdictMissed},
		{measureLongTurn, 1.2, false, verdictOK},
		{measureLongTurn, 1.21, false, verdictMissed},
		{measureLongTurn, math.NaN(), false, verdictMissed},
		{measureTurnAllocs, 1e9, false, ""},
	} {
		r := judge(&about{}, []figure{newFigure(sqliteName, c.measure, c.measured, noRaw())}, recorded, c.short)
		if got := r.figures[0].Verdict; got != c.want {
			t.Errorf("%s at %v: %q, want %q", c.measure, c.measured, got, c.want)
		}
		if stale := c.measured == 1500; (len(r.stale) == 1) != stale {
			t.Errorf("%s at %v: stale %v", c.measure, c.measured, r.stale)
		}
	}
}

func TestBudgetBesideTheRawLimit(t *testing.T) {
	t.Parallel()
	f := newFigure(redisName+"always", measureP50, 5, 1.5)
	if r := judge(&about{}, []figure{f}, nil, false); r.figures[0].Verdict != verdictOK || r.figures[0].Budget != "≤ raw + 4 = 5.50 ms" {
		t.Errorf("%+v", r.figures[0])
	}
}

func TestRecordedMisses(t *testing.T) {
	t.Parallel()
	const head = "# Budgets\n\n| `sqlite/turns` | not here | x |\n\n## Recorded misses\n\n| budget | accepted | reason |\n|---|---|---|\n"
	got, err := parseRecorded([]byte(head + "| `sqlite/turns` | 1,200 /s | one writer |\n\ntext\n\n## Last run\n\n| a | b |\n"))
	if err != nil || len(got) != 1 || got["sqlite/turns"] != (miss{1200, "one writer"}) {
		t.Errorf("%v, %v", got, err)
	}
	for _, row := range []string{
		"| sqlite/turns | 1 | x |", "| `sqlite/speed` | 1 | x |", "| `turns` | 1 | x |", "| `sqlite/turns` | slow | x |",
		"| `sqlite/turns` | 1 | |", "| `sqlite/turns` | 1 |", "| `sqlite/turns` | 1 | x |\n| `sqlite/turns` | 2 | x |",
	} {
		if _, err := parseRecorded([]byte(head + row + "\n")); err == nil {
			t.Errorf("accepted: %s", row)
		}
	}
}

func TestTheRepositorysRecordsCanBeRead(t *testing.T) {
	t.Parallel()
	if _, err := os.Stat("../../docs/budgets.md"); err != nil {
		t.Fatal(err)
	}
	if _, err := readRecorded("../../docs/budgets.md"); err != nil {
		t.Error(err)
	}
}

func TestLastRunIsReplaced(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "budgets.md")
	r := judge(&about{command: "run it"}, []figure{newFigure(sqliteName, measureTurns, 2000, 4000)}, nil, false)
	if err := writeLastRun(path, r); err == nil {
		t.Error("wrote into a file that is not there")
	}
	for range 2 {
		if err := os.WriteFile(path, []byte("before\n"+lastRunBegin+"\nold\n"+lastRunEnd+"\nafter\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := writeLastRun(path, r); err != nil {
			t.Fatal(err)
		}
		text, _ := os.ReadFile(path)
		if s := string(text); strings.Contains(s, "old") || !strings.HasPrefix(s, "before\n") || !strings.HasSuffix(s, lastRunEnd+"\nafter\n") ||
			!strings.Contains(s, "| sqlite | turns of 200 chats, durable | 2000 /s | 4000 /s | ≥ 1,500/s | ok |") {
			t.Error(s)
		}
	}
}

func TestProxyCountsRoundTrips(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	p, err := newProxy(server.Addr())
	if err != nil {
		t.Fatal(err)
	}
	defer p.close()
	client := redis.NewClient(&redis.Options{Addr: strings.TrimPrefix(p.url(), "redis://"), PoolSize: 1, MaxRetries: -1})
	defer client.Close()
	if err := client.Ping(t.Context()).Err(); err != nil {
		t.Fatal(err)
	}
	before := p.counts()
	for range 5 {
		client.Set(t.Context(), "a", "b", 0)
	}
	pipe := client.Pipeline()
	for range 10 {
		pipe.Get(t.Context(), "a")
	}
	if _, err := pipe.Exec(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := p.counts().minus(before); got["set"] != 5 || got["get"] != 1 {
		t.Errorf("counted %v", got)
	}
}

func TestProxyEndsItsConnections(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	p, err := newProxy(server.Addr())
	if err != nil {
		t.Fatal(err)
	}
	conn, err := net.Dial("tcp", strings.TrimPrefix(p.url(), "redis://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := conn.Write([]byte("*1\r\n$4\r\nping\r\n")); err != nil {
		t.Fatal(err)
	}
	answer := make([]byte, 7)
	if _, err := conn.Read(answer); err != nil || string(answer) != "+PONG\r\n" {
		t.Fatalf("%q, %v", answer, err)
	}
	p.close()
	if _, err := conn.Read(answer); err == nil {
		t.Error("a closed proxy keeps its connections")
	}
}

func TestCommandOf(t *testing.T) {
	t.Parallel()
	for request, want := range map[string]string{
		"*1\r\n$4\r\nPING\r\n":                           "ping",
		"*3\r\n$5\r\nfcall\r\n$4\r\nabcd\r\n$1\r\n0\r\n": "fcall abcd",
		"":         "?",
		"*1\r\n$4": "?",
	} {
		if got := commandOf([]byte(request)); got != want {
			t.Errorf("%q: %q, want %q", request, got, want)
		}
	}
}

func TestBackgroundIsTakenOff(t *testing.T) {
	t.Parallel()
	idle := background{"due": 20}
	for _, c := range []struct {
		counted tally
		want    float64
	}{
		{tally{"post": 100, "due": 40}, 100},
		{tally{"post": 100, "due": 80}, 100},  // a burst
		{tally{"post": 100, "due": 140}, 200}, // one for each
		{tally{"post": 100, "claim": 5}, 105},
	} {
		if got := idle.takenOff(c.counted, 100, 2*time.Second); got != c.want {
			t.Errorf("%v: %v, want %v", c.counted, got, c.want)
		}
	}
}
