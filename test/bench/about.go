package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"strings"
	"time"
)

// about is where, when and on what a run was made. What the machine does not
// tell is "unknown".
type about struct {
	date, took, commit, command    string
	cpu, kernel, golang, redis, fs string
	began                          time.Time
	others                         others
	disturbed                      float64 // percent of the CPU that went elsewhere
}

type fact struct{ name, value string }

func describe(ctx context.Context, command string) *about {
	now := time.Now()
	return &about{
		began: now, date: now.UTC().Format("2006-01-02 15:04 UTC"), command: command,
		commit: commit(ctx), golang: runtime.Version(), redis: redisVersion(ctx),
		cpu:    fmt.Sprintf("%s, %d cores", cpuModel(), runtime.NumCPU()),
		kernel: firstLine("/proc/sys/kernel/osrelease"), fs: fileSystem(os.TempDir()),
		others: watchOthers(),
	}
}

// finish notes the end of the run.
func (a *about) finish() {
	a.took = time.Since(a.began).Round(time.Second).String()
	a.disturbed = a.others.share(runtime.NumCPU())
}

func (a *about) facts() []fact {
	return []fact{
		{"date", a.date}, {"commit", a.commit}, {"command", a.command}, {"took", a.took},
		{"machine", a.cpu + ", kernel " + a.kernel + ", data on " + a.fs},
		{"versions", a.golang + ", Redis " + a.redis},
		{"others", fmt.Sprintf("%.0f %% of the machine's CPU went to other programs meanwhile", a.disturbed)},
	}
}

// said is the trimmed output of a command.
func said(ctx context.Context, name string, args ...string) (string, bool) {
	out, err := exec.CommandContext(ctx, name, args...).Output()
	return strings.TrimSpace(string(out)), err == nil
}

// commit is what this program was built from: `go build` writes that into it;
// `go run` does not, and then it is the folder's.
func commit(ctx context.Context) string {
	if built, ok := debug.ReadBuildInfo(); ok {
		settings := map[string]string{}
		for _, s := range built.Settings {
			settings[s.Key] = s.Value
		}
		if hash := settings["vcs.revision"]; len(hash) >= hashShown {
			return withChanges(hash[:hashShown], settings["vcs.modified"] == "true")
		}
	}
	hash, ok := said(ctx, "git", "rev-parse", "--short", "HEAD")
	if !ok {
		return "unknown"
	}
	changed, ok := said(ctx, "git", "status", "--porcelain", "--untracked-files=no")
	return withChanges(hash, !ok || changed != "")
}

// hashShown is how much of a commit's hash is shown.
const hashShown = 7

func withChanges(hash string, changed bool) string {
	if changed {
		return hash + " with changes"
	}
	return hash
}

func redisVersion(ctx context.Context) string {
	text, _ := said(ctx, "redis-server", "--version")
	for word := range strings.FieldsSeq(text) {
		if version, ok := strings.CutPrefix(word, "v="); ok {
			return version
		}
	}
	return "unknown"
}

func cpuModel() string {
	text, _ := os.ReadFile("/proc/cpuinfo")
	for line := range strings.Lines(string(text)) {
		if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return runtime.GOARCH
}

func firstLine(path string) string {
	text, err := os.ReadFile(path)
	if err != nil {
		return "unknown"
	}
	line, _, _ := strings.Cut(string(text), "\n")
	return line
}

// fileSystem is the type of the file system that holds a folder: on one in
// memory nothing is durable, and the figures mean little.
func fileSystem(folder string) string {
	mounts, _ := os.ReadFile("/proc/mounts")
	best, kind := "", "unknown"
	for line := range strings.Lines(string(mounts)) {
		fields := strings.Fields(line)
		if len(fields) < 3 || len(fields[1]) < len(best) {
			continue
		}
		if at := strings.TrimSuffix(fields[1], "/"); folder == at || strings.HasPrefix(folder, at+"/") {
			best, kind = fields[1], fields[2]
		}
	}
	return kind
}
