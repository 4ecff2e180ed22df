package deploy

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

const unitFile = "deploy/systemd/gateway.service"

// unit are a unit's settings by section and name; what is set twice has two values.
func readUnit(t *testing.T) (text string, unit map[string][]string) {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(repository, unitFile))
	if err != nil {
		t.Fatal(err)
	}
	unit = map[string][]string{}
	section := ""
	for line := range strings.Lines(string(content)) {
		line = strings.TrimSpace(line)
		switch {
		case line == "" || strings.HasPrefix(line, "#"):
		case strings.HasPrefix(line, "["):
			section = strings.Trim(line, "[]")
		default:
			name, value, _ := strings.Cut(line, "=")
			unit[section+"."+name] = append(unit[section+"."+name], value)
		}
	}
	return string(content), unit
}

func TestTheUnitStopsGentlyAndComesBack(t *testing.T) {
	t.Parallel()
	_, unit := readUnit(t)
	for name, want := range map[string]string{
		"Service.Restart": "on-failure", "Service.KillSignal": "SIGTERM", "Service.KillMode": "mixed", "Service.DynamicUser": "yes",
		"Service.StateDirectory": "parley", "Service.StateDirectoryMode": "0700", "Service.ProtectSystem": "strict",
		"Service.NoNewPrivileges": "yes", "Service.CapabilityBoundingSet": "", "Install.WantedBy": "multi-user.target",
	} {
		if got := strings.Join(unit[name], " "); got != want || len(unit[name]) != 1 {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	seconds, err := strconv.Atoi(strings.Join(unit["Service.TimeoutStopSec"], ""))
	if err != nil {
		t.Fatal(err)
	}
	longEnough(t, "the unit", (time.Duration(seconds) * time.Second).String())
	for _, pair := range unit["Service.Environment"] {
		name, value, _ := strings.Cut(pair, "=")
		known(t, unitFile, name)
		if name == "GATEWAY_DATA" && value != "/var/lib/"+unit["Service.StateDirectory"][0] {
			t.Errorf("the data folder %s is not the unit's own", value)
		}
	}
	limit := ""
	for _, pair := range unit["Service.Environment"] {
		if value, found := strings.CutPrefix(pair, "GOMEMLIMIT="); found {
			limit = value
		}
	}
	limited(t, unitFile, strings.Join(unit["Service.MemoryMax"], ""), limit)
	if !slices.Contains(unit["Service.EnvironmentFile"], "-/etc/parley/gateway.env") {
		t.Errorf("secrets come from %v", unit["Service.EnvironmentFile"])
	}
}

// analyze runs systemd-analyze on the unit with the real binary in it.
func analyze(t *testing.T, args ...string) (string, error) {
	t.Helper()
	program, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Skip("systemd-analyze is not on this machine")
	}
	text, _ := readUnit(t)
	file := filepath.Join(t.TempDir(), "gateway.service")
	if err := os.WriteFile(file, []byte(strings.ReplaceAll(text, "/usr/local/bin/gateway", binary)), 0o644); err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), program, append(args, file)...).CombinedOutput()
	return string(out), err
}

func TestSystemdUnderstandsTheUnit(t *testing.T) {
	t.Parallel()
	out, err := analyze(t, "verify", "--man=no", "--recursive-errors=no")
	var own []string
	for line := range strings.Lines(out) {
		if strings.Contains(line, "gateway.service") { // others are about the machine's own units
			own = append(own, line)
		}
	}
	if err != nil && len(own) == 0 {
		t.Skipf("systemd-analyze cannot verify here: %v: %s", err, out)
	}
	if len(own) > 0 {
		t.Errorf("%s", strings.Join(own, ""))
	}
}

var exposure = regexp.MustCompile(`Overall exposure level for gateway\.service: ([0-9.]+)`)

func TestTheUnitIsShutIn(t *testing.T) {
	t.Parallel()
	out, err := analyze(t, "security", "--offline=true", "--no-pager")
	found := exposure.FindStringSubmatch(out)
	if found == nil {
		t.Skipf("systemd-analyze cannot judge a file here: %v: %s", err, out)
	}
	level, err := strconv.ParseFloat(found[1], 64)
	if err != nil || level > 2 {
		t.Errorf("exposure %s, at most 2 (%v)\n%s", found[1], err, out)
	}
}
