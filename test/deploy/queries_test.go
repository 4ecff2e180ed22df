package deploy

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	// selector is a metric in a query, with what stands in its braces.
	selector = regexp.MustCompile(`\b((?:parley|go|process)_[a-z_]+)(?:\{([^}]*)\})?`)
	matcher  = regexp.MustCompile(`([a-z_]+)(=~|!~|!=|=)"([^"]*)"`)
	// grouping is what a query groups by.
	grouping = regexp.MustCompile(`\bby \(([^)]*)\)`)
)

// ofTheTarget are the labels that Prometheus adds.
var ofTheTarget = []string{"job", "instance", "le"}

// check holds a query against what is served.
func (s scraped) check(t *testing.T, where, query string) {
	t.Helper()
	served := s.series()
	found := selector.FindAllStringSubmatch(query, -1)
	if len(found) == 0 && !strings.HasPrefix(query, "up{") {
		t.Errorf("%s asks for no metric: %s", where, query)
	}
	var known []string
	for _, one := range found {
		family, exists := served[one[1]]
		if !exists {
			t.Errorf("%s asks for %s, which is not there", where, one[1])
			continue
		}
		has := labels(family)
		for label := range has {
			known = append(known, label)
		}
		for _, match := range matcher.FindAllStringSubmatch(one[2], -1) {
			if slices.Contains(ofTheTarget, match[1]) {
				continue
			}
			for value := range strings.SplitSeq(match[3], "|") {
				if !slices.Contains(has[match[1]], value) {
					t.Errorf("%s asks for %s{%s=%q}, which is not there", where, one[1], match[1], value)
				}
			}
		}
	}
	for _, group := range grouping.FindAllStringSubmatch(query, -1) {
		for label := range strings.SplitSeq(group[1], ",") {
			if label = strings.TrimSpace(label); !slices.Contains(append(known, ofTheTarget...), label) {
				t.Errorf("%s groups by %s, which is not there", where, label)
			}
		}
	}
	if strings.Count(query, "(") != strings.Count(query, ")") || strings.Count(query, "{") != strings.Count(query, "}") {
		t.Errorf("%s has open brackets: %s", where, query)
	}
}

type dashboard struct {
	UID        string
	Title      string
	Templating struct{ List []struct{ Name string } }
	Panels     []struct {
		ID      int
		Type    string
		Title   string
		GridPos struct{ H, W, X, Y int }
		Targets []struct{ RefID, Expr, LegendFormat string }
	}
}

func dashboardAsks(t *testing.T, metrics scraped) {
	content, err := os.ReadFile(filepath.Join(repository, "deploy/grafana/gateway.json"))
	if err != nil {
		t.Fatal(err)
	}
	var board dashboard
	if err := json.Unmarshal(content, &board); err != nil {
		t.Fatal(err)
	}
	variables := map[string]bool{"__rate_interval": true}
	for _, variable := range board.Templating.List {
		variables[variable.Name] = true
	}
	ids := map[int]bool{}
	for _, panel := range board.Panels {
		if ids[panel.ID] || panel.Title == "" || panel.GridPos.W < 1 || panel.GridPos.X+panel.GridPos.W > 24 {
			t.Errorf("panel %d %q: id, title or place", panel.ID, panel.Title)
		}
		ids[panel.ID] = true
		if panel.Type != "row" && len(panel.Targets) == 0 {
			t.Errorf("panel %q asks for nothing", panel.Title)
		}
		for _, target := range panel.Targets {
			metrics.check(t, "panel "+panel.Title, target.Expr)
			for _, used := range regexp.MustCompile(`\$(\w+)`).FindAllStringSubmatch(target.Expr, -1) {
				if !variables[used[1]] {
					t.Errorf("panel %q uses $%s, which is not defined", panel.Title, used[1])
				}
			}
		}
	}
}

type rules struct {
	Groups []struct {
		Name  string `yaml:"name"`
		Rules []struct {
			Alert       string            `yaml:"alert"`
			Expr        string            `yaml:"expr"`
			For         string            `yaml:"for"`
			Labels      map[string]string `yaml:"labels"`
			Annotations map[string]string `yaml:"annotations"`
		} `yaml:"rules"`
	} `yaml:"groups"`
}

func alertsAsk(t *testing.T, metrics scraped) {
	var file rules
	strict(t, "prometheus/alerts.yaml", &file)
	names := map[string]bool{}
	for _, group := range file.Groups {
		for _, rule := range group.Rules {
			if names[rule.Alert] || rule.Alert == "" {
				t.Errorf("alert %q is there twice, or has no name", rule.Alert)
			}
			names[rule.Alert] = true
			metrics.check(t, rule.Alert, rule.Expr)
			if !slices.Contains([]string{"critical", "warning"}, rule.Labels["severity"]) || rule.Annotations["summary"] == "" || rule.Annotations["description"] == "" {
				t.Errorf("%s lacks severity, summary or description", rule.Alert)
			}
			for _, used := range regexp.MustCompile(`\$labels\.(\w+)`).FindAllStringSubmatch(rule.Annotations["summary"]+rule.Annotations["description"], -1) {
				if !strings.Contains(rule.Expr, "by ("+used[1]) && !strings.Contains(rule.Expr, ", "+used[1]) {
					t.Errorf("%s speaks of %s, which its query leaves out", rule.Alert, used[1])
				}
			}
		}
	}
	if len(names) == 0 {
		t.Error("there are no alerts")
	}
	page, err := os.ReadFile(filepath.Join(repository, "docs/operations.md"))
	if err != nil {
		t.Fatal(err)
	}
	for name := range names {
		if !strings.Contains(string(page), "`"+name+"`") {
			t.Errorf("docs/operations.md says nothing about %s", name)
		}
	}
}
