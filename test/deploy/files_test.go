package deploy

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
)

// strict reads one YAML document of the folder deploy: an unknown key, a key
// that is there twice, or a second document is an error.
func strict(t *testing.T, name string, into any) {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(repository, "deploy", name))
	if err != nil {
		t.Fatal(err)
	}
	decoder := yaml.NewDecoder(bytes.NewReader(content), yaml.Strict(), yaml.DisallowUnknownField())
	if err := decoder.Decode(into); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	var more any
	if err := decoder.Decode(&more); !errors.Is(err, io.EOF) {
		t.Errorf("%s has a second document", name)
	}
}

// gatewayCommand runs the binary with exactly these variables and returns its
// output.
func gatewayCommand(t *testing.T, env map[string]string, args ...string) (string, error) {
	t.Helper()
	command := exec.CommandContext(t.Context(), binary, args...)
	command.Dir = t.TempDir()
	command.Env = environment(env)
	out, err := command.CombinedOutput()
	return string(out), err
}

// variables are those that the gateway's own schema names.
func variables(t *testing.T) []string {
	t.Helper()
	schema, err := gatewayCommand(t, nil, "config", "schema")
	if err != nil || !json.Valid([]byte(schema)) {
		t.Fatalf("%v: %s", err, schema)
	}
	found := regexp.MustCompile(`\b[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+\b`).FindAllString(schema, -1)
	slices.Sort(found)
	return slices.Compact(found)
}

// others are variables that are not the gateway's own: of Go's runtime, and of
// the other service in compose.yaml.
var others = []string{"GOMEMLIMIT", "REDIS_PASSWORD"}

// known complains of variables that nobody reads.
func known(t *testing.T, where string, names ...string) {
	t.Helper()
	all := variables(t)
	for _, name := range names {
		if !slices.Contains(all, name) && !slices.Contains(others, name) {
			t.Errorf("%s sets %s, which the gateway does not know; it knows %v", where, name, all)
		}
	}
}

var assignment = regexp.MustCompile(`(?m)^(?:# )?([A-Z][A-Z0-9_]+)=(.*)$`)

func TestEnvironmentFilesAreOfVariablesThatExist(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"env.example", "systemd/gateway.env.example"} {
		content, err := os.ReadFile(filepath.Join(repository, "deploy", name))
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, line := range assignment.FindAllStringSubmatch(string(content), -1) {
			names = append(names, line[1])
			if secret := strings.HasSuffix(line[1], "_TOKEN") || strings.HasSuffix(line[1], "_KEY"); secret && line[2] != "" {
				t.Errorf("%s has a value for %s", name, line[1])
			}
		}
		if len(names) < 5 {
			t.Errorf("%s has only %v", name, names)
		}
		known(t, name, names...)
	}
}

func TestTheImageIsConfiguredByVariablesThatExist(t *testing.T) {
	t.Parallel()
	image, err := readDockerfile()
	if err != nil {
		t.Fatal(err)
	}
	for pair := range strings.FieldsSeq(strings.Join(image.last()["ENV"], " ")) {
		name, _, _ := strings.Cut(pair, "=")
		known(t, "Dockerfile", name)
	}
}

type prometheus struct {
	ScrapeConfigs []struct {
		JobName        string `yaml:"job_name"`
		ScrapeInterval string `yaml:"scrape_interval"`
		Authorization  struct {
			Type            string `yaml:"type"`
			CredentialsFile string `yaml:"credentials_file"`
		} `yaml:"authorization"`
		StaticConfigs []struct {
			Targets []string `yaml:"targets"`
		} `yaml:"static_configs"`
	} `yaml:"scrape_configs"`
	RuleFiles []string `yaml:"rule_files"`
}

func TestPrometheusCollectsWhatTheAlertsAreOn(t *testing.T) {
	t.Parallel()
	var file prometheus
	strict(t, "prometheus/prometheus.yaml", &file)
	if len(file.ScrapeConfigs) != 1 || file.ScrapeConfigs[0].JobName != "parley" || file.ScrapeConfigs[0].Authorization.CredentialsFile == "" {
		t.Errorf("%+v", file)
	}
	for _, name := range file.RuleFiles {
		if _, err := os.Stat(filepath.Join(repository, "deploy/prometheus", name)); err != nil {
			t.Error(err)
		}
	}
}
