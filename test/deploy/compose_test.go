package deploy

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

type compose struct {
	Name     string                    `yaml:"name"`
	Services map[string]composeService `yaml:"services"`
	Networks map[string]struct {
		Internal bool `yaml:"internal"`
	} `yaml:"networks"`
	Volumes map[string]struct{} `yaml:"volumes"`
}

type composeService struct {
	Image       string            `yaml:"image"`
	Build       map[string]string `yaml:"build"`
	Command     []string          `yaml:"command"`
	EnvFile     []string          `yaml:"env_file"`
	Environment map[string]string `yaml:"environment"`
	DependsOn   map[string]struct {
		Condition string `yaml:"condition"`
	} `yaml:"depends_on"`
	Deploy struct {
		Replicas int `yaml:"replicas"`
	} `yaml:"deploy"`
	Ports       []string `yaml:"ports"`
	Networks    []string `yaml:"networks"`
	Volumes     []string `yaml:"volumes"`
	Healthcheck *struct {
		Test     []string `yaml:"test"`
		Interval string   `yaml:"interval"`
		Timeout  string   `yaml:"timeout"`
		Retries  int      `yaml:"retries"`
	} `yaml:"healthcheck"`
	MemLimit        string   `yaml:"mem_limit"`
	User            string   `yaml:"user"`
	ReadOnly        bool     `yaml:"read_only"`
	Tmpfs           []string `yaml:"tmpfs"`
	CapDrop         []string `yaml:"cap_drop"`
	SecurityOpt     []string `yaml:"security_opt"`
	StopGracePeriod string   `yaml:"stop_grace_period"`
	Restart         string   `yaml:"restart"`
}

// stopping is how long a stop may take at least before anybody kills: the
// grace for running turns, and as much again for sends and receipts.
const stopping = 45 * time.Second

func longEnough(t *testing.T, where, text string) {
	t.Helper()
	if grace, err := time.ParseDuration(text); err != nil || grace < stopping {
		t.Errorf("%s gives %q to stop, at least %v are needed", where, text, stopping)
	}
}

func TestComposeRunsTwoReplicasOnADurableRedis(t *testing.T) {
	t.Parallel()
	var file compose
	strict(t, "compose.yaml", &file)
	redis, gateway := file.Services["redis"], file.Services["gateway"]
	for _, service := range file.Services {
		noRegistry(t, service.Image)
		longEnough(t, service.Image, service.StopGracePeriod)
		for _, network := range service.Networks {
			if _, declared := file.Networks[network]; !declared {
				t.Errorf("%s is in the network %s, which is not declared", service.Image, network)
			}
		}
	}
	settings := strings.Join(redis.Command, " ")
	for _, must := range []string{"--appendonly yes", "--appendfsync always", "--maxmemory-policy noeviction"} {
		if !strings.Contains(settings, must) {
			t.Errorf("Redis runs without %s", must)
		}
	}
	if !strings.Contains(settings, "requirepass") || strings.Contains(settings, "--requirepass") || !strings.Contains(redis.Environment["REDIS_PASSWORD"], ":?") {
		t.Errorf("Redis has no password, or shows it in the list of processes: %s", settings)
	}
	limited(t, "compose.yaml", gateway.MemLimit, gateway.Environment["GOMEMLIMIT"])
	volume, _, _ := strings.Cut(redis.Volumes[0], ":")
	if _, declared := file.Volumes[volume]; !declared || redis.Healthcheck == nil || len(redis.Ports) > 0 || !file.Networks["store"].Internal {
		t.Error("Redis needs a volume, a health check, and no way in from outside")
	}
	if gateway.Deploy.Replicas != 2 || gateway.DependsOn["redis"].Condition != "service_healthy" || gateway.Ports[0] != "127.0.0.1:8080-8081:8080" {
		t.Errorf("%+v", gateway)
	}
	if gateway.User != uid+":"+uid || !gateway.ReadOnly || !slices.Contains(gateway.CapDrop, "ALL") || !strings.Contains(gateway.Tmpfs[0], "uid="+uid) {
		t.Error("the gateway has more rights than it needs, or cannot write its data folder")
	}
}

// What compose would start is what the gateway accepts.
func TestComposeIsAConfiguration(t *testing.T) {
	t.Parallel()
	var file compose
	strict(t, "compose.yaml", &file)
	gateway := file.Services["gateway"]
	env := map[string]string{}
	for name, value := range gateway.Environment {
		known(t, "compose.yaml", name)
		env[name] = strings.ReplaceAll(value, "${REDIS_PASSWORD:?}", "0123abcd")
	}
	if !strings.HasPrefix(env["GATEWAY_DATA"], strings.Split(gateway.Tmpfs[0], ":")[0]) {
		t.Errorf("the data folder %s cannot be written", env["GATEWAY_DATA"])
	}
	if out, err := gatewayCommand(t, env, "config", "check"); err == nil || !strings.Contains(out, "GATEWAY_TOKEN") {
		t.Errorf("without a token it must refuse to listen beyond the machine: %s", out)
	}
	env["GATEWAY_TOKEN"] = strings.Repeat("0123abcd", 8)
	if out, err := gatewayCommand(t, env, "config", "check"); err != nil {
		t.Errorf("%v: %s", err, out)
	}
	for _, path := range []string{filepath.Join(gateway.Build["context"], gateway.Build["dockerfile"]), "env.example"} {
		if _, err := os.Stat(filepath.Join(repository, "deploy", path)); err != nil {
			t.Error(err)
		}
	}
}
