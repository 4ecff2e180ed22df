package transcript_test

import (
	"context"
	"io"
	"runtime"
	"testing"

	"parley/sessions"
	"parley/sessions/logtest"
	"parley/sessions/transcript"
)

// longLog is a log of any length that is nowhere. It remembers the most memory
// that was in use when it was read.
type longLog struct {
	length int64
	like   sessions.Entry
	calls  int
	peak   uint64
}

func (l *longLog) Range(_ context.Context, _ string, from, to int64) ([]sessions.Entry, error) {
	var out []sessions.Entry
	for seq := from; seq <= min(to, l.length, from+sessions.EntriesPerCall-1); seq++ {
		e := l.like
		e.Seq, e.Parent = seq, seq-1
		out = append(out, e)
	}
	if l.calls++; l.calls%1000 == 0 {
		var used runtime.MemStats
		runtime.ReadMemStats(&used)
		l.peak = max(l.peak, used.HeapAlloc)
	}
	return out, nil
}

// What a transcript of 1,000,000 entries needs to be written, and to be written
// and read at once. Reading needs 8 bytes an entry besides.
func BenchmarkTranscriptOf1000000Entries(b *testing.B) {
	const n = 1_000_000
	like := logtest.Entry(b, 1, sessions.EntryMessage, sessions.Message{Role: sessions.RoleUser, Text: "a line of the usual length, which is not very long", Sender: &sessions.Sender{ID: "telegram:1", Name: "Ada"}})
	record := fullRecord()
	record.Seq, record.Leaf = n, n
	for name, read := range map[string]bool{"write": false, "write-and-read": true} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				log := &longLog{length: n, like: like}
				if err := through(b.Context(), log, record, read); err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(float64(log.peak)/(1<<20), "peak-MB")
			}
		})
	}
}

func through(ctx context.Context, log sessions.Log, record sessions.Record, read bool) error {
	if !read {
		return transcript.Write(ctx, io.Discard, log, record)
	}
	r, w := io.Pipe()
	go func() { w.CloseWithError(transcript.Write(ctx, w, log, record)) }()
	_, _, err := transcript.Check(r)
	return err
}
