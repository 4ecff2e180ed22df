//go:build linux

package deploy

import (
	"errors"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// The image without an engine: nothing but the binary and a data folder, as
// the user of the image. It starts, keeps a conversation, and stops.
func TestTheBinaryRunsInAnEmptyRoot(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	// Linked, not written: a file that this process had open for writing while
	// another test forked cannot be executed until that child has closed it.
	if err := os.Link(binary, filepath.Join(root, "gateway")); err != nil {
		t.Fatal(err)
	}
	data := filepath.Join(root, "data")
	command := exec.CommandContext(t.Context(), "/gateway", "run")
	command.Path = "/gateway" // in the new root
	command.Dir = "/data"
	command.Env = environment(map[string]string{"GATEWAY_DATA": "/data", "GATEWAY_LISTEN": "127.0.0.1:0"})
	command.SysProcAttr = asImageUser(t, root, data)
	g, err := launch(t, command, data)
	if errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.ENOSYS) || errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.ENOSPC) {
		if os.Getenv("CI") == "true" && os.Getuid() == 0 {
			t.Fatalf("root in CI must be able to change its root: %v", err)
		}
		t.Skipf("neither root nor user namespaces here, so no empty root: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	status, answer := g.ask("POST", "/v1/sessions/api:empty-root/messages?wait=50s", `{"text": "hello"}`)
	if status != http.StatusOK || !strings.Contains(answer, "You said:") {
		t.Errorf("%d %s", status, answer)
	}
	g.stop()
	if _, err := os.Stat(filepath.Join(data, "gateway.db")); err != nil {
		t.Error(err)
	}
}

// asImageUser makes the data folder, and the child's root and user: really, as
// root, else in a user namespace of its own.
func asImageUser(t *testing.T, root, data string) *syscall.SysProcAttr {
	t.Helper()
	id, err := strconv.Atoi(uid)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(data, 0o700); err != nil {
		t.Fatal(err)
	}
	if os.Getuid() == 0 {
		if err := os.Chown(data, id, id); err != nil {
			t.Fatal(err)
		}
		return &syscall.SysProcAttr{Chroot: root, Credential: &syscall.Credential{Uid: uint32(id), Gid: uint32(id)}}
	}
	return &syscall.SysProcAttr{
		Chroot: root, Cloneflags: syscall.CLONE_NEWUSER,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: id, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: id, HostID: os.Getgid(), Size: 1}},
	}
}
