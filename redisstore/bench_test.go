package redisstore

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"parley/internal/secret"
	"parley/sessions"
	"parley/sessions/storetest"
	"parley/test/redistest"
)

// Chats that talk at the same time in the benchmarks.
const benchChats = 200

func benchStore(b *testing.B, fsync string) (*Store, []*redistest.Server) {
	b.Helper()
	server := redistest.Start(b, "--appendfsync", fsync)
	return openStore(b, Config{URL: secret.New(server.URL()), Prefix: freshPrefix()}), []*redistest.Server{server}
}

func eachFsync(b *testing.B, run func(b *testing.B, fsync string)) {
	b.Helper()
	for _, fsync := range []string{"everysec", "always"} {
		b.Run(fsync, func(b *testing.B) { run(b, fsync) })
	}
}

// parallelChats runs work of one chat at a time in each of benchChats
// goroutines. server-µs/op is the server's own processor time, which says more
// than ops/s on a machine that has other things to do.
func parallelChats(b *testing.B, servers []*redistest.Server, work func(ctx context.Context, chat int) error) {
	b.Helper()
	var next atomic.Int64
	before, scripts := sum(b, servers, serverCPU), sum(b, servers, scriptTime)
	b.SetParallelism(benchChats / 2)
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		chat := int(next.Add(1))
		for pb.Next() {
			if err := work(b.Context(), chat); err != nil {
				b.Error(err)
				return
			}
		}
	})
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "ops/s")
	b.ReportMetric((sum(b, servers, serverCPU)-before)*1e6/float64(b.N), "server-µs/op")
	b.ReportMetric((sum(b, servers, scriptTime)-scripts)/float64(b.N), "script-µs/op")
}

func sum(b *testing.B, servers []*redistest.Server, of func(*testing.B, *redistest.Server) float64) float64 {
	b.Helper()
	total := 0.0
	for _, server := range servers {
		total += of(b, server)
	}
	return total
}

// scriptTime is how long the server has run scripts, in µs.
func scriptTime(b *testing.B, server *redistest.Server) float64 {
	b.Helper()
	client := server.Client()
	defer client.Close()
	info, err := client.Info(context.Background(), "commandstats").Result()
	if err != nil {
		b.Fatal(err)
	}
	for line := range strings.Lines(info) {
		_, rest, found := strings.Cut(line, "cmdstat_fcall:")
		if _, usec, ok := strings.Cut(rest, ",usec="); found && ok {
			number, _, _ := strings.Cut(usec, ",")
			total, err := strconv.ParseFloat(number, 64)
			if err != nil {
				b.Fatal(err)
			}
			return total
		}
	}
	return 0
}

// serverCPU is the processor time that the server's main thread has had, in seconds.
func serverCPU(b *testing.B, server *redistest.Server) float64 {
	b.Helper()
	client := server.Client()
	defer client.Close()
	info, err := client.Info(context.Background(), "cpu").Result()
	if err != nil {
		b.Fatal(err)
	}
	total := 0.0
	for line := range strings.Lines(info) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), ":")
		if name != "used_cpu_user_main_thread" && name != "used_cpu_sys_main_thread" {
			continue
		}
		seconds, err := strconv.ParseFloat(value, 64)
		if err != nil {
			b.Fatal(err)
		}
		total += seconds
	}
	return total
}

func benchPost(chat int, trigger bool) sessions.PostRequest {
	r := sessions.PostRequest{
		Key: newToken(), Surface: fmt.Sprintf("telegram:1:%d", chat), UserID: "telegram:1", Trigger: trigger, Rights: "owner",
		New:     sessions.NewSession{UserID: "telegram:1", Source: sessions.Source{Kind: "channel", Platform: "telegram", Type: sessions.Group}},
		Message: sessions.Message{Role: sessions.RoleUser, Text: "What is the weather like in Lisbon today, and should I take an umbrella?", Sender: &sessions.Sender{ID: "telegram:1", Name: "Ann", Role: "owner"}},
	}
	if trigger {
		r.Claim = &sessions.Claimer{Owner: "bench", For: sessions.LeaseFor}
	}
	return r
}

// BenchmarkBareWrite is the raw limit beside the others: one durable write per
// message through the same client, sharing pipelines or not.
func BenchmarkBareWrite(b *testing.B) {
	eachFsync(b, func(b *testing.B, fsync string) {
		s, server := benchStore(b, fsync)
		payload := "What is the weather like in Lisbon today, and should I take an umbrella?"
		b.Run("shared", func(b *testing.B) {
			parallelChats(b, server, func(ctx context.Context, chat int) error {
				p := s.parts[chat%len(s.parts)]
				_, err := s.command(ctx, p, "rpush", p.key("bare", "x"), payload)
				return err
			})
		})
		b.Run("single", func(b *testing.B) {
			client := server[0].Client()
			defer client.Close()
			parallelChats(b, server, func(ctx context.Context, _ int) error {
				return client.RPush(ctx, testPrefix+"bare", payload).Err()
			})
		})
	})
}

func BenchmarkPostLogged(b *testing.B) {
	eachFsync(b, func(b *testing.B, fsync string) {
		s, server := benchStore(b, fsync)
		parallelChats(b, server, func(ctx context.Context, chat int) error {
			_, err := s.Post(ctx, benchPost(chat, false))
			return err
		})
	})
}

func BenchmarkTurn(b *testing.B) {
	eachFsync(b, func(b *testing.B, fsync string) {
		s, server := benchStore(b, fsync)
		chats := newBenchChats()
		parallelChats(b, server, func(ctx context.Context, chat int) error { return benchTurn(ctx, s, chat, &chats[chat]) })
	})
}

// BenchmarkTurnOnCluster is BenchmarkTurn on three masters; the servers' time is
// that of all of them.
func BenchmarkTurnOnCluster(b *testing.B) {
	eachFsync(b, func(b *testing.B, fsync string) {
		c := redistest.StartCluster(b, 3, "--appendfsync", fsync)
		s := openStore(b, Config{URL: secret.New(c.URL()), Prefix: freshPrefix()})
		chats := newBenchChats()
		parallelChats(b, c.Masters, func(ctx context.Context, chat int) error { return benchTurn(ctx, s, chat, &chats[chat]) })
	})
}

// BenchmarkTurnAlone is the latency of the three calls without others.
func BenchmarkTurnAlone(b *testing.B) {
	eachFsync(b, func(b *testing.B, fsync string) {
		s, _ := benchStore(b, fsync)
		var known sessions.Known
		for b.Loop() {
			if err := benchTurn(b.Context(), s, 1, &known); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// newBenchChats is what the callers hold of each chat's log, as a warm cache does.
func newBenchChats() []sessions.Known { return make([]sessions.Known, 2*benchChats) }

// benchTurn is the quick way: post and claim, commit and take the lane, settle.
func benchTurn(ctx context.Context, s *Store, chat int, known *sessions.Known) error {
	request := benchPost(chat, true)
	request.Known = *known
	posted, err := s.Post(ctx, request)
	if err != nil {
		return err
	}
	if posted.Turn == nil {
		return fmt.Errorf("chat %d: %s", chat, posted.Outcome)
	}
	claimer := sessions.Claimer{Owner: "bench", For: 10 * time.Second}
	answer, err := sessions.NewMessage(sessions.Message{Role: sessions.RoleAssistant, Text: "It rains. Take the umbrella."})
	if err != nil {
		return err
	}
	done, err := s.Commit(ctx, sessions.CommitRequest{
		Lease: posted.Turn.Lease, Outcome: sessions.Done, Entries: []sessions.NewEntry{answer}, Send: &claimer,
		Deliveries: []sessions.NewDelivery{{Surface: storetest.SurfaceOf(posted.Turn), Payload: []byte(`{"text":"It rains. Take the umbrella."}`)}},
	})
	if err != nil {
		return err
	}
	if len(done.Sends) != 1 {
		return fmt.Errorf("chat %d: %d lanes", chat, len(done.Sends))
	}
	*known = sessions.Known{Session: posted.Session, Seq: done.Entries[0].Seq}
	_, err = s.Settle(ctx, sessions.Settlement{Delivery: done.Sends[0], State: sessions.DeliverySent, MessageIDs: []string{"42"}, Next: true}, claimer)
	return err
}
