package redistest

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// What a kill tore in the middle of a script's writes does not come back two
// starts later.
func TestATornTransactionIsGoneForGood(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("redis-check-aof"); err != nil {
		t.Skip(err)
	}
	s := Start(t, "--appendfsync", "always")
	client := s.Client()
	t.Cleanup(func() { client.Close() })
	push := func(text string) {
		t.Helper()
		if err := client.Eval(t.Context(), "redis.call('RPUSH', 'l', ARGV[1]); redis.call('SET', 'n', '1'); return 1", nil, text).Err(); err != nil {
			t.Fatal(err)
		}
	}
	push("a")
	s.Kill()
	files, err := filepath.Glob(filepath.Join(s.dir, "appendonlydir", "*.incr.aof"))
	if err != nil || len(files) != 1 {
		t.Skipf("this server keeps its file elsewhere: %v, %v", files, err)
	}
	file, err := os.OpenFile(files[0], os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	_, err = file.WriteString("*1\r\n$5\r\nMULTI\r\n*3\r\n$5\r\nRPUSH\r\n$1\r\nl\r\n$4\r\ntorn\r\n*3\r\n$3\r\nSET\r\n$1\r\nn")
	if closing := file.Close(); err != nil || closing != nil {
		t.Fatal(err, closing)
	}
	for _, text := range []string{"b", "c"} {
		if err := s.Restart(); err != nil {
			t.Fatal(err)
		}
		push(text)
		s.Kill()
	}
	if err := s.Restart(); err != nil {
		t.Fatal(err)
	}
	if got, err := client.LRange(t.Context(), "l", 0, -1).Result(); err != nil || len(got) != 3 {
		t.Fatalf("%v, %v", got, err)
	}
}
