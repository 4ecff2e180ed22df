package main

import (
	"context"
	"io"
	"net"
	"os/exec"
	"strings"
	"testing"
	"time"

	"parley/cmd/gateway/datafolder"
	"parley/test/fakeopenai"
)

// A gateway that may open few files still reaches its model while somebody
// holds as many connections as they get.
func TestHeldConnectionsLeaveFilesForTheModel(t *testing.T) {
	t.Parallel()
	model, err := fakeopenai.New(fakeopenai.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(model.Close)
	m := newMachine(t)
	m.env["OPENAI_BASE_URL"], m.env["OPENAI_API_KEY"], m.env["OPENAI_MODEL"] = model.URL(), model.Key(), fakeopenai.ModelDefault
	command, errs := m.process("run")
	command.Args = append([]string{"sh", "-c", `ulimit -n 128; exec "$0" "$@"`}, command.Args...)
	if command.Path, err = exec.LookPath("sh"); err != nil {
		t.Skip("there is no sh")
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = command.Process.Kill(); _ = command.Wait() })
	errs.see(t, "the gateway runs")
	file, _, err := datafolder.ReadRunFile(m.data)
	if err != nil {
		t.Fatal(err)
	}
	stop := holdConnections(t, strings.TrimPrefix(file.Address, "http://"), 300)
	code, out, log := m.does("hello\n", "chat")
	stop()
	if code != exitOK || !strings.Contains(out, "You said: hello") {
		t.Errorf("chat meanwhile: %d, %q, %q\n%s", code, out, log, errs)
	}
}

// holdConnections keeps opening connections from other addresses of this
// machine, with requests whose bodies never come, until stop.
func holdConnections(t *testing.T, address string, most int) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	open := make(chan struct{})
	done := make(chan struct{})
	go func() {
		defer close(done)
		var held []net.Conn
		for i := 0; ctx.Err() == nil; i++ {
			from := &net.TCPAddr{IP: net.IPv4(127, 0, 1, byte(1+i%8))}
			conn, err := (&net.Dialer{LocalAddr: from, Timeout: time.Second}).DialContext(ctx, "tcp", address)
			if err == nil {
				_, _ = io.WriteString(conn, "POST /slack/events HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n")
				held = append(held, conn)
			}
			if len(held) == most {
				close(open)
				break
			}
		}
		<-ctx.Done()
		for _, conn := range held {
			conn.Close()
		}
	}()
	<-open
	return func() { cancel(); <-done }
}
