package metrics

import (
	"github.com/prometheus/client_golang/prometheus"
)

// other is the label of what no closed list knows.
const other = "other"

// words are counters by the words of a closed list, found without a lock. A
// word that is not on the list counts as other.
type words[K ~string] struct {
	known map[K]prometheus.Counter
	other prometheus.Counter
}

// wordsOf makes all counters of a list at once, so that each is seen as 0
// before it first counts.
func wordsOf[K ~string](vec *prometheus.CounterVec, list []K) words[K] {
	out := words[K]{known: make(map[K]prometheus.Counter, len(list)), other: vec.WithLabelValues(other)}
	for _, word := range list {
		out.known[word] = vec.WithLabelValues(string(word))
	}
	return out
}

func (w words[K]) inc(word K) { w.at(word).Inc() }

func (w words[K]) at(word K) prometheus.Counter {
	if counter, known := w.known[word]; known {
		return counter
	}
	return w.other
}

// pairs are words with two labels.
type pairs[A, B ~string] struct {
	known map[A]words[B]
	other prometheus.Counter
}

func pairsOf[A, B ~string](vec *prometheus.CounterVec, as []A, bs []B) pairs[A, B] {
	out := pairs[A, B]{known: make(map[A]words[B], len(as)), other: vec.WithLabelValues(other, other)}
	for _, a := range as {
		counters := words[B]{known: make(map[B]prometheus.Counter, len(bs)), other: vec.WithLabelValues(string(a), other)}
		for _, b := range bs {
			counters.known[b] = vec.WithLabelValues(string(a), string(b))
		}
		out.known[a] = counters
	}
	return out
}

func (p pairs[A, B]) inc(a A, b B) {
	if counters, known := p.known[a]; known {
		counters.inc(b)
		return
	}
	p.other.Inc()
}

// maker makes metrics in a registry. It panics on a name that is wrong or
// taken: both are mistakes in this package.
type maker struct{ registry *prometheus.Registry }

func (m maker) counter(name, help string, labels ...string) *prometheus.CounterVec {
	vec := prometheus.NewCounterVec(prometheus.CounterOpts{Name: metricsPrefix + name, Help: help}, labels)
	m.registry.MustRegister(vec)
	return vec
}

func (m maker) gauge(name, help string, labels ...string) *prometheus.GaugeVec {
	vec := prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: metricsPrefix + name, Help: help}, labels)
	m.registry.MustRegister(vec)
	return vec
}

func (m maker) histogram(name, help string, buckets []float64, labels ...string) *prometheus.HistogramVec {
	vec := prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: metricsPrefix + name, Help: help, Buckets: buckets}, labels)
	m.registry.MustRegister(vec)
	return vec
}

// storeBuckets and turnBuckets are upper bounds in seconds: of what a store or
// a platform does in one call, and of what waits for a model.
func storeBuckets() []float64 {
	return []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, 1, 4}
}

func turnBuckets() []float64 {
	return []float64{.01, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 300}
}
