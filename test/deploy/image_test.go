package deploy

import (
	"debug/elf"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// uid is the user that the image, compose and Kubernetes run the gateway as.
const uid = "65532"

// dockerfile is a Dockerfile's instructions in order, with continuation lines
// joined.
type dockerfile []instruction

type instruction struct{ name, rest string }

func readDockerfile() (dockerfile, error) {
	content, err := os.ReadFile(filepath.Join(repository, "deploy/Dockerfile"))
	if err != nil {
		return nil, err
	}
	var out dockerfile
	for line := range strings.Lines(strings.ReplaceAll(string(content), "\\\n", " ")) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		name, rest, _ := strings.Cut(line, " ")
		out = append(out, instruction{name, strings.TrimSpace(rest)})
	}
	return out, nil
}

// buildCommand is what the build stage runs, without the engine's own flags.
func (d dockerfile) buildCommand() (string, bool) {
	for _, i := range d {
		if i.name != "RUN" || !strings.Contains(i.rest, "go build") {
			continue
		}
		rest := i.rest
		for strings.HasPrefix(rest, "--") {
			_, rest, _ = strings.Cut(rest, " ")
			rest = strings.TrimSpace(rest)
		}
		return rest, true
	}
	return "", false
}

// last is the final stage: what the image consists of.
func (d dockerfile) last() map[string][]string {
	out := map[string][]string{}
	for _, i := range d {
		if i.name == "FROM" {
			clear(out)
		}
		out[i.name] = append(out[i.name], i.rest)
	}
	return out
}

func TestTheImageIsOneBinaryAndNoRoot(t *testing.T) {
	t.Parallel()
	image, err := readDockerfile()
	if err != nil {
		t.Fatal(err)
	}
	last := image.last()
	for name, want := range map[string]string{
		"FROM": "scratch", "USER": uid + ":" + uid, "WORKDIR": "/data", "VOLUME": "/data", "EXPOSE": "8080", "STOPSIGNAL": "SIGTERM",
		"ENTRYPOINT": `["/gateway"]`, "CMD": `["run"]`, "ENV": "GATEWAY_DATA=/data GATEWAY_LISTEN=0.0.0.0:8080",
	} {
		if got := strings.Join(last[name], "; "); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	if len(last["RUN"]) > 0 {
		t.Error("an image without a shell runs nothing")
	}
	for _, copied := range last["COPY"] {
		if !strings.HasPrefix(copied, "--from=build ") {
			t.Errorf("COPY %s: only what the build stage made belongs in the image", copied)
		}
	}
	for _, i := range image {
		if i.name == "FROM" {
			noRegistry(t, strings.Fields(i.rest)[0])
		}
	}
}

// noRegistry: which registry an image comes from is the engine's business.
func noRegistry(t *testing.T, image string) {
	t.Helper()
	if host, _, found := strings.Cut(image, "/"); found && strings.ContainsAny(host, ".:") {
		t.Errorf("%s names a registry", image)
	}
}

func TestTheBinaryNeedsNothing(t *testing.T) {
	t.Parallel()
	file, err := elf.Open(binary)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for _, program := range file.Progs {
		if program.Type == elf.PT_INTERP {
			t.Error("the binary asks for a dynamic linker")
		}
	}
	if libraries, err := file.ImportedLibraries(); err == nil && len(libraries) > 0 {
		t.Errorf("the binary asks for %v", libraries)
	}
}
