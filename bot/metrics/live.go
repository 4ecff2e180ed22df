package metrics

import (
	"fmt"

	"github.com/prometheus/client_golang/prometheus"

	"parley/adapters"
)

// Gauges are what is read from a gateway at each scrape. They make no call to
// the store, to a platform or to the model, and may be called from any goroutine.
type Gauges struct {
	Running  func() int  // turns that run here now
	Max      int         // how many may
	ModelUp  func() bool // the model's last answer, or the last probe, was good
	Stopping func() bool // nothing new is taken in
	Adapters []adapters.Adapter
}

// Watch adds the gauges. A Metrics watches one gateway: a second Watch is an
// error.
func (m *Metrics) Watch(g Gauges) error {
	gauges := []prometheus.Collector{
		gauge("turns_running", "Turns that run here now, each under a lease.", func() float64 { return float64(g.Running()) }),
		gauge("turns_running_max", "How many turns may run here at once; more wait in the store.", func() float64 { return float64(g.Max) }),
		gauge("model_up", "1 while the model's last answer, or the last probe, was good.", func() float64 { return oneIf(g.ModelUp()) }),
		gauge("stopping", "1 once this gateway takes in nothing new.", func() float64 { return oneIf(g.Stopping()) }),
		newConnections(g.Adapters),
	}
	for _, collector := range gauges {
		if err := m.registry.Register(collector); err != nil {
			return fmt.Errorf("metrics belong to one gateway: %w", err)
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
