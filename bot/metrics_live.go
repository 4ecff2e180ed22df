package bot

import (
	"github.com/prometheus/client_golang/prometheus"

	"parley/adapters"
)

// watch adds what is read from the bot at each scrape: without a call to the
// store, to a platform or to the model. A Metrics watches one bot.
func (m *Metrics) watch(b *Bot) error {
	gauges := []prometheus.Collector{
		gauge("turns_running", "Turns that run here now, each under a lease.", func() float64 { return float64(b.leases.count()) }),
		gauge("turns_running_max", "How many turns may run here at once; more wait in the store.", func() float64 { return float64(b.turnsMax) }),
		gauge("model_up", "1 while the model's last answer, or the last probe, was good.", func() float64 { return oneIf(b.prober.state() == "") }),
		gauge("stopping", "1 once this gateway takes in nothing new.", func() float64 { return oneIf(b.intake.Err() != nil) }),
		newConnections(b.adapters),
	}
	for _, collector := range gauges {
		if err := m.registry.Register(collector); err != nil {
			return err
		}
	}
	return nil
}

func gauge(name, help string, read func() float64) prometheus.Collector {
	return prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: metricsPrefix + name, Help: help}, read)
}

func oneIf(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}

// connections collects how many accounts of each platform are in each state.
type connections struct {
	adapters []adapters.Adapter
	desc     *prometheus.Desc
}

func newConnections(all []adapters.Adapter) *connections {
	return &connections{adapters: all, desc: prometheus.NewDesc(metricsPrefix+"connections",
		"Accounts by platform and state of their connection. hearing and waiting (another replica holds it) are well.",
		[]string{"platform", "state"}, nil)}
}

// Describe names the metric.
func (c *connections) Describe(to chan<- *prometheus.Desc) { to <- c.desc }

// Collect asks each adapter for its health, which does no I/O.
func (c *connections) Collect(to chan<- prometheus.Metric) {
	type place struct {
		platform adapters.Platform
		state    adapters.ConnectionState
	}
	counted := map[place]float64{}
	for _, adapter := range c.adapters {
		platform := adapter.Capabilities().Platform
		for _, state := range []adapters.ConnectionState{adapters.Connecting, adapters.Hearing, adapters.Waiting, adapters.Deaf, adapters.Refused} {
			counted[place{platform, state}] += oneIf(adapter.Health().State == state)
		}
	}
	for at, n := range counted {
		to <- prometheus.MustNewConstMetric(c.desc, prometheus.GaugeValue, n, string(at.platform), string(at.state))
	}
}
