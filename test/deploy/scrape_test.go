package deploy

import (
	"context"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"parley/test/fakeopenai"
	"parley/test/faketelegram"
)

// Ids that must not come up in a metric.
const (
	ownerID = 918273645
	groupID = -1002233445566
)

// scraped is what a running gateway serves, by name.
type scraped map[string]*dto.MetricFamily

// scrape runs a gateway on Telegram, lets it answer in two chats, and reads its
// metrics.
func scrape(t *testing.T) scraped {
	t.Helper()
	telegram := faketelegram.New(t, faketelegram.Options{ReadAllGroupMessages: true})
	answers := fakeopenai.Start(t, fakeopenai.Config{})
	data := t.TempDir()
	command := exec.CommandContext(t.Context(), binary, "run")
	command.Dir = data
	command.Env = environment(map[string]string{
		"TELEGRAM_BOT_TOKEN": telegram.Token(), "TELEGRAM_API_URL": telegram.URL(),
		"OPENAI_API_KEY": answers.Key(), "OPENAI_BASE_URL": answers.URL(), "OPENAI_MODEL": fakeopenai.ModelDefault,
		"GATEWAY_OWNERS": "telegram:" + strconv.Itoa(ownerID), "GATEWAY_DATA": data, "GATEWAY_LISTEN": "127.0.0.1:0",
	})
	g, err := launch(t, command, data)
	if err != nil {
		t.Fatal(err)
	}
	owner := telegram.User(ownerID, "Ada", "ada")
	group := telegram.Supergroup(groupID, "the canary club")
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for _, chat := range []int64{owner.DM(), group} {
		owner.Send(chat, "hello")
		if _, err := telegram.WaitSent(ctx, chat, func(faketelegram.Sent) bool { return true }); err != nil {
			t.Fatal(err)
		}
	}
	var families scraped
	g.eventually("both messages and deliveries are counted, and no turn runs", func() bool {
		families = g.metrics()
		return families.sum("parley_deliveries_total", "platform", "telegram", "state", "sent") == 2 &&
			families.sum("parley_messages_total") == 2 && families.sum("parley_turns_running") == 0
	})
	g.stop()
	return families
}

func (g *gateway) metrics() scraped {
	g.t.Helper()
	status, body := g.get("/metrics")
	if status != http.StatusOK {
		g.t.Fatalf("/metrics: %d %s", status, body)
	}
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(strings.NewReader(body))
	if err != nil {
		g.t.Fatal(err)
	}
	return families
}

// sum adds the series of a counter or gauge, or the counts of a histogram,
// that have these labels (name, value, …).
func (s scraped) sum(name string, labels ...string) float64 {
	total := 0.0
	for _, metric := range s[name].GetMetric() {
		has := map[string]string{}
		for _, label := range metric.GetLabel() {
			has[label.GetName()] = label.GetValue()
		}
		matches := true
		for i := 0; i < len(labels); i += 2 {
			matches = matches && has[labels[i]] == labels[i+1]
		}
		if matches {
			total += metric.GetCounter().GetValue() + metric.GetGauge().GetValue() + float64(metric.GetHistogram().GetSampleCount())
		}
	}
	return total
}

// series are the names that a query may use: a histogram has three.
func (s scraped) series() map[string]*dto.MetricFamily {
	out := map[string]*dto.MetricFamily{}
	for name, family := range s {
		out[name] = family
		if family.GetType() == dto.MetricType_HISTOGRAM {
			out[name+"_bucket"], out[name+"_sum"], out[name+"_count"] = family, family, family
		}
	}
	return out
}

// labels are the names and values of a metric's labels.
func labels(family *dto.MetricFamily) map[string][]string {
	out := map[string][]string{}
	for _, metric := range family.GetMetric() {
		for _, label := range metric.GetLabel() {
			out[label.GetName()] = append(out[label.GetName()], label.GetValue())
		}
	}
	return out
}

func TestMetrics(t *testing.T) {
	t.Parallel()
	metrics := scrape(t)
	t.Run("count what happened", func(t *testing.T) { countWhatHappened(t, metrics) })
	t.Run("are documented", func(t *testing.T) { areDocumented(t, metrics) })
	t.Run("name nobody", func(t *testing.T) { nameNobody(t, metrics) })
	t.Run("are all that the dashboard asks for", func(t *testing.T) { dashboardAsks(t, metrics) })
	t.Run("are all that the alerts ask for", func(t *testing.T) { alertsAsk(t, metrics) })
}

func countWhatHappened(t *testing.T, metrics scraped) {
	for _, c := range []struct {
		want   float64
		name   string
		labels []string
	}{
		{2, "parley_messages_total", []string{"platform", "telegram"}},
		{1, "parley_messages_total", []string{"platform", "telegram", "reason", "direct"}},
		{2, "parley_posts_total", []string{"outcome", "claimed"}},
		{2, "parley_turns_total", []string{"outcome", "done"}},
		{2, "parley_turn_duration_seconds", nil},
		{2, "parley_model_calls_total", []string{"result", "ok"}},
		{2, "parley_delivery_attempts_total", []string{"platform", "telegram", "result", "sent"}},
		{2, "parley_store_calls_total", []string{"operation", "commit", "result", "ok"}},
		{2, "parley_store_call_duration_seconds", []string{"operation", "commit"}},
		{1, "parley_connections", []string{"platform", "telegram", "state", "hearing"}},
		{1, "parley_build_info", []string{"version", version}},
		{1, "parley_model_up", nil},
		{1, "parley_locks_held", nil},
		{0, "parley_turns_running", nil},
		{0, "parley_stopping", nil},
		{0, "parley_dead_letters_total", nil},
	} {
		if got := metrics.sum(c.name, c.labels...); got != c.want {
			t.Errorf("%s%v is %v, want %v", c.name, c.labels, got, c.want)
		}
	}
}

// A row of the table in docs/operations.md: name, labels, meaning.
var documentedRow = regexp.MustCompile("(?m)^\\| `(parley_[a-z_]+)` \\| ([^|]*) \\| ([^|]+) \\|$")

func areDocumented(t *testing.T, metrics scraped) {
	page, err := os.ReadFile(filepath.Join(repository, "docs/operations.md"))
	if err != nil {
		t.Fatal(err)
	}
	documented := map[string]string{}
	for _, row := range documentedRow.FindAllStringSubmatch(string(page), -1) {
		documented[row[1]] = strings.ReplaceAll(row[2], "`", "")
	}
	for name, family := range metrics {
		if !strings.HasPrefix(name, "parley_") {
			continue
		}
		want := strings.Join(slices.Sorted(maps.Keys(labels(family))), ", ")
		if has, found := documented[name]; !found || has != want {
			t.Errorf("docs/operations.md has %q as the labels of %s, which are %q", has, name, want)
		}
		if family.GetHelp() == "" || (family.GetType() == dto.MetricType_COUNTER) != strings.HasSuffix(name, "_total") {
			t.Errorf("%s: a counter, and only a counter, ends in _total, and each says what it is", name)
		}
		delete(documented, name)
	}
	for name := range documented {
		t.Errorf("docs/operations.md has %s, which no gateway serves", name)
	}
}

// word is what the value of a label looks like: nothing that could be an id.
var word = regexp.MustCompile(`^[a-z]+([_-][a-z]+)*$`)

func nameNobody(t *testing.T, metrics scraped) {
	for name, family := range metrics {
		for label, values := range labels(family) {
			if label == "version" || label == "quantile" {
				continue // of the build, of Go's own summaries
			}
			for _, value := range values {
				if !word.MatchString(value) {
					t.Errorf("%s{%s=%q} looks like an id", name, label, value)
				}
			}
		}
	}
}
