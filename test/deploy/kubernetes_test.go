package deploy

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// These types know exactly the fields that the manifests use, by their names
// in the API: a misspelt one is an unknown key.

type meta struct {
	Name      string            `yaml:"name"`
	Namespace string            `yaml:"namespace"`
	Labels    map[string]string `yaml:"labels"`
}

// Kind is what a manifest says it is.
type Kind struct {
	APIVersion string `yaml:"apiVersion"`
	Kind       string `yaml:"kind"`
}

type labelSelector struct {
	MatchLabels map[string]string `yaml:"matchLabels"`
}

type deployment struct {
	Kind     `yaml:",inline"`
	Metadata meta `yaml:"metadata"`
	Spec     struct {
		Replicas int           `yaml:"replicas"`
		Selector labelSelector `yaml:"selector"`
		Strategy struct {
			Type          string `yaml:"type"`
			RollingUpdate struct {
				MaxUnavailable int `yaml:"maxUnavailable"`
				MaxSurge       int `yaml:"maxSurge"`
			} `yaml:"rollingUpdate"`
		} `yaml:"strategy"`
		Template struct {
			Metadata meta `yaml:"metadata"`
			Spec     pod  `yaml:"spec"`
		} `yaml:"template"`
	} `yaml:"spec"`
}

type pod struct {
	AutomountServiceAccountToken  *bool `yaml:"automountServiceAccountToken"`
	EnableServiceLinks            *bool `yaml:"enableServiceLinks"`
	TerminationGracePeriodSeconds int   `yaml:"terminationGracePeriodSeconds"`
	SecurityContext               struct {
		RunAsNonRoot   bool `yaml:"runAsNonRoot"`
		RunAsUser      int  `yaml:"runAsUser"`
		RunAsGroup     int  `yaml:"runAsGroup"`
		FSGroup        int  `yaml:"fsGroup"`
		SeccompProfile struct {
			Type string `yaml:"type"`
		} `yaml:"seccompProfile"`
	} `yaml:"securityContext"`
	TopologySpreadConstraints []struct {
		MaxSkew           int           `yaml:"maxSkew"`
		TopologyKey       string        `yaml:"topologyKey"`
		WhenUnsatisfiable string        `yaml:"whenUnsatisfiable"`
		LabelSelector     labelSelector `yaml:"labelSelector"`
	} `yaml:"topologySpreadConstraints"`
	Containers []container `yaml:"containers"`
	Volumes    []struct {
		Name      string `yaml:"name"`
		ConfigMap *struct {
			Name string `yaml:"name"`
		} `yaml:"configMap"`
		EmptyDir *struct {
			SizeLimit string `yaml:"sizeLimit"`
		} `yaml:"emptyDir"`
	} `yaml:"volumes"`
}

type container struct {
	Name            string   `yaml:"name"`
	Image           string   `yaml:"image"`
	ImagePullPolicy string   `yaml:"imagePullPolicy"`
	Args            []string `yaml:"args"`
	EnvFrom         []struct {
		SecretRef struct {
			Name string `yaml:"name"`
		} `yaml:"secretRef"`
	} `yaml:"envFrom"`
	Env []struct {
		Name  string `yaml:"name"`
		Value string `yaml:"value"`
	} `yaml:"env"`
	Ports []struct {
		Name          string `yaml:"name"`
		ContainerPort int    `yaml:"containerPort"`
	} `yaml:"ports"`
	StartupProbe   probe `yaml:"startupProbe"`
	LivenessProbe  probe `yaml:"livenessProbe"`
	ReadinessProbe probe `yaml:"readinessProbe"`
	Resources      struct {
		Requests map[string]string `yaml:"requests"`
		Limits   map[string]string `yaml:"limits"`
	} `yaml:"resources"`
	SecurityContext struct {
		AllowPrivilegeEscalation *bool `yaml:"allowPrivilegeEscalation"`
		ReadOnlyRootFilesystem   bool  `yaml:"readOnlyRootFilesystem"`
		Capabilities             struct {
			Drop []string `yaml:"drop"`
		} `yaml:"capabilities"`
	} `yaml:"securityContext"`
	VolumeMounts []struct {
		Name      string `yaml:"name"`
		MountPath string `yaml:"mountPath"`
		ReadOnly  bool   `yaml:"readOnly"`
	} `yaml:"volumeMounts"`
}

type probe struct {
	HTTPGet struct {
		Path string `yaml:"path"`
		Port string `yaml:"port"`
	} `yaml:"httpGet"`
	PeriodSeconds    int `yaml:"periodSeconds"`
	TimeoutSeconds   int `yaml:"timeoutSeconds"`
	FailureThreshold int `yaml:"failureThreshold"`
}

type service struct {
	Kind     `yaml:",inline"`
	Metadata meta `yaml:"metadata"`
	Spec     struct {
		Selector map[string]string `yaml:"selector"`
		Ports    []struct {
			Name       string `yaml:"name"`
			Port       int    `yaml:"port"`
			TargetPort string `yaml:"targetPort"`
		} `yaml:"ports"`
	} `yaml:"spec"`
}

type disruptionBudget struct {
	Kind     `yaml:",inline"`
	Metadata meta `yaml:"metadata"`
	Spec     struct {
		MinAvailable int           `yaml:"minAvailable"`
		Selector     labelSelector `yaml:"selector"`
	} `yaml:"spec"`
}

type networkPolicy struct {
	Kind     `yaml:",inline"`
	Metadata meta `yaml:"metadata"`
	Spec     struct {
		PodSelector labelSelector `yaml:"podSelector"`
		PolicyTypes []string      `yaml:"policyTypes"`
		Ingress     []struct {
			Ports []policyPort `yaml:"ports"`
		} `yaml:"ingress"`
		Egress []struct {
			To []struct {
				NamespaceSelector *labelSelector `yaml:"namespaceSelector"`
				IPBlock           *struct {
					CIDR   string   `yaml:"cidr"`
					Except []string `yaml:"except"`
				} `yaml:"ipBlock"`
			} `yaml:"to"`
			Ports []policyPort `yaml:"ports"`
		} `yaml:"egress"`
	} `yaml:"spec"`
}

type policyPort struct {
	Protocol string `yaml:"protocol"`
	Port     string `yaml:"port"`
}

type keyed struct {
	Kind       `yaml:",inline"`
	Metadata   meta              `yaml:"metadata"`
	Type       string            `yaml:"type"`
	Data       map[string]string `yaml:"data"`
	StringData map[string]string `yaml:"stringData"`
}

type kustomization struct {
	Kind      `yaml:",inline"`
	Namespace string   `yaml:"namespace"`
	Resources []string `yaml:"resources"`
}

func isKind(t *testing.T, got Kind, version, name string) {
	t.Helper()
	if got.APIVersion != version || got.Kind != name {
		t.Errorf("%+v, want %s %s", got, version, name)
	}
}

func TestKubernetesProbesGoWhereTheGatewayListens(t *testing.T) {
	t.Parallel()
	var d deployment
	strict(t, "kubernetes/deployment.yaml", &d)
	isKind(t, d.Kind, "apps/v1", "Deployment")
	c := d.Spec.Template.Spec.Containers[0]
	noRegistry(t, c.Image)
	for name, p := range map[string]struct {
		probe probe
		path  string
	}{"startup": {c.StartupProbe, "/healthz"}, "liveness": {c.LivenessProbe, "/healthz"}, "readiness": {c.ReadinessProbe, "/readyz"}} {
		if p.probe.HTTPGet.Path != p.path || p.probe.HTTPGet.Port != c.Ports[0].Name || p.probe.PeriodSeconds < 1 || p.probe.TimeoutSeconds < 1 || p.probe.FailureThreshold < 1 {
			t.Errorf("%s: %+v", name, p.probe)
		}
	}
	if c.ReadinessProbe.TimeoutSeconds < 3 {
		t.Error("readiness waits 2 s for the store, and its probe must wait longer")
	}
	longEnough(t, "the deployment", strconv.Itoa(d.Spec.Template.Spec.TerminationGracePeriodSeconds)+"s")
	if d.Spec.Replicas != 2 || d.Spec.Strategy.RollingUpdate.MaxUnavailable != 0 || d.Spec.Strategy.RollingUpdate.MaxSurge < 1 {
		t.Errorf("a roll must not leave fewer than two: %+v", d.Spec.Strategy)
	}
}

func TestKubernetesGivesNoMoreRightsThanNeeded(t *testing.T) {
	t.Parallel()
	var d deployment
	strict(t, "kubernetes/deployment.yaml", &d)
	p, c := d.Spec.Template.Spec, d.Spec.Template.Spec.Containers[0]
	s := p.SecurityContext
	if !s.RunAsNonRoot || strconv.Itoa(s.RunAsUser) != uid || strconv.Itoa(s.RunAsGroup) != uid || strconv.Itoa(s.FSGroup) != uid || s.SeccompProfile.Type != "RuntimeDefault" {
		t.Errorf("%+v", s)
	}
	if c.SecurityContext.AllowPrivilegeEscalation == nil || *c.SecurityContext.AllowPrivilegeEscalation || !c.SecurityContext.ReadOnlyRootFilesystem || !slices.Contains(c.SecurityContext.Capabilities.Drop, "ALL") {
		t.Errorf("%+v", c.SecurityContext)
	}
	if p.AutomountServiceAccountToken == nil || *p.AutomountServiceAccountToken {
		t.Error("the gateway does not talk to the cluster and needs no account there")
	}
	if c.Resources.Limits["memory"] == "" || c.Resources.Requests["memory"] == "" {
		t.Error("memory has no bounds")
	}
}

func TestKubernetesPartsFindEachOther(t *testing.T) {
	t.Parallel()
	var (
		d      deployment
		s      service
		budget disruptionBudget
		list   kustomization
	)
	strict(t, "kubernetes/deployment.yaml", &d)
	strict(t, "kubernetes/service.yaml", &s)
	strict(t, "kubernetes/poddisruptionbudget.yaml", &budget)
	strict(t, "kubernetes/kustomization.yaml", &list)
	isKind(t, s.Kind, "v1", "Service")
	isKind(t, budget.Kind, "policy/v1", "PodDisruptionBudget")
	pods := d.Spec.Template.Metadata.Labels
	for name, selects := range map[string]map[string]string{
		"deployment": d.Spec.Selector.MatchLabels, "service": s.Spec.Selector, "budget": budget.Spec.Selector.MatchLabels,
		"spread": d.Spec.Template.Spec.TopologySpreadConstraints[0].LabelSelector.MatchLabels,
	} {
		if !maps.Equal(selects, pods) {
			t.Errorf("the %s selects %v, the pods have %v", name, selects, pods)
		}
	}
	if s.Spec.Ports[0].TargetPort != d.Spec.Template.Spec.Containers[0].Ports[0].Name {
		t.Errorf("the service sends to %q", s.Spec.Ports[0].TargetPort)
	}
	if budget.Spec.MinAvailable < 1 || budget.Spec.MinAvailable >= d.Spec.Replicas {
		t.Error("the budget must keep one and let one go")
	}
	for _, name := range list.Resources {
		var manifest map[string]any
		strict(t, "kubernetes/"+name, &manifest)
	}
	files, err := filepath.Glob(filepath.Join(repository, "deploy/kubernetes/*.yaml"))
	if err != nil || len(files) != len(list.Resources)+2 { // the list itself, and the secret's example
		t.Errorf("%v: a file is missing from %v", files, list.Resources)
	}
}

// The pod's configuration, made from ConfigMap and Secret as the cluster
// would, is one that the gateway accepts, and fits the pod.
func TestKubernetesConfigurationIsAccepted(t *testing.T) {
	t.Parallel()
	var (
		d              deployment
		config, secret keyed
	)
	strict(t, "kubernetes/deployment.yaml", &d)
	strict(t, "kubernetes/configmap.yaml", &config)
	strict(t, "kubernetes/secret.example.yaml", &secret)
	isKind(t, config.Kind, "v1", "ConfigMap")
	isKind(t, secret.Kind, "v1", "Secret")
	p, c := d.Spec.Template.Spec, d.Spec.Template.Spec.Containers[0]
	if c.EnvFrom[0].SecretRef.Name != secret.Metadata.Name || p.Volumes[0].ConfigMap.Name != config.Metadata.Name || p.Volumes[1].EmptyDir == nil {
		t.Errorf("names do not fit: %+v %+v", c.EnvFrom, p.Volumes)
	}
	known(t, "secret.example.yaml", slices.Collect(maps.Keys(secret.StringData))...)
	mounts := map[string]string{}
	for _, mount := range c.VolumeMounts {
		mounts[mount.Name] = mount.MountPath
	}
	text := config.Data["gateway.yaml"]
	if want := []string{"run", "--config", mounts["config"] + "/gateway.yaml"}; !slices.Equal(c.Args, want) {
		t.Errorf("args %v, want %v", c.Args, want)
	}
	for _, must := range []string{"data: " + mounts["data"] + "\n", ":" + strconv.Itoa(c.Ports[0].ContainerPort) + `"`} {
		if !strings.Contains(text, must) {
			t.Errorf("the configuration does not have %q, as the pod has it", must)
		}
	}
	file := filepath.Join(t.TempDir(), "gateway.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	secret.StringData["TELEGRAM_BOT_TOKEN"] = "12345:abc"
	if out, err := gatewayCommand(t, secret.StringData, "config", "check", "--config", file); err == nil || !strings.Contains(out, "http.token") {
		t.Errorf("the example's token is taken for one: %v: %s", err, out)
	}
	secret.StringData["GATEWAY_TOKEN"] = strings.Repeat("0123abcd", 8)
	if out, err := gatewayCommand(t, secret.StringData, "config", "check", "--config", file); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}

// limited complains where memory has no bound, or where the collector's bound
// leaves it no room below that.
func limited(t *testing.T, where, memory, collector string) {
	t.Helper()
	most, soft := mebibytes(memory), mebibytes(collector)
	if most == 0 || soft < most/2 || soft > most*9/10 {
		t.Errorf("%s: memory is bounded by %q and GOMEMLIMIT is %q: the second has to be 50 to 90 %% of the first", where, memory, collector)
	}
}

func mebibytes(text string) int {
	number, err := strconv.Atoi(strings.TrimRight(text, "MmiB"))
	if err != nil {
		return 0
	}
	return number
}

func TestKubernetesBoundsMemoryAndWays(t *testing.T) {
	t.Parallel()
	var d deployment
	strict(t, "kubernetes/deployment.yaml", &d)
	c := d.Spec.Template.Spec.Containers[0]
	for _, variable := range c.Env {
		known(t, "deployment.yaml", variable.Name)
		limited(t, "deployment.yaml", c.Resources.Limits["memory"], variable.Value)
	}
	if len(c.Env) != 1 {
		t.Errorf("%+v", c.Env)
	}
	var policy networkPolicy
	strict(t, "kubernetes/networkpolicy.yaml", &policy)
	isKind(t, policy.Kind, "networking.k8s.io/v1", "NetworkPolicy")
	if !maps.Equal(policy.Spec.PodSelector.MatchLabels, d.Spec.Selector.MatchLabels) || !slices.Equal(policy.Spec.PolicyTypes, []string{"Ingress", "Egress"}) {
		t.Errorf("%+v", policy.Spec)
	}
	if in := policy.Spec.Ingress; len(in) != 1 || len(in[0].Ports) != 1 || in[0].Ports[0].Port != c.Ports[0].Name {
		t.Errorf("in: %+v", in)
	}
	for _, out := range policy.Spec.Egress {
		for _, to := range out.To {
			if to.IPBlock != nil && to.IPBlock.CIDR == "0.0.0.0/0" && !slices.Contains(to.IPBlock.Except, "169.254.0.0/16") {
				t.Error("the machine's own address of the cloud can be asked")
			}
		}
	}
}
