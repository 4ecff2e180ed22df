package metrics

import (
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"parley/adapters"
	"parley/agent"
	"parley/routing"
	"parley/sessions"
	"parley/sessions/storewrap"
)

// metricsPrefix begins the name of every metric that is the gateway's own.
const metricsPrefix = "parley_"

// Metrics counts what one gateway does, in a registry of its own. Labels are
// words of closed lists: no id, name or text of anybody gets in. All methods
// may be called from any goroutine and on nil, which counts nothing.
type Metrics struct {
	registry *prometheus.Registry

	messages pairs[adapters.Platform, routing.Reason]
	refused  words[adapters.Platform]
	posts    words[sessions.PostOutcome]

	turns       words[sessions.Outcome]
	turnTook    prometheus.Observer
	takeovers   prometheus.Counter
	deadLetters prometheus.Counter

	modelCalls words[agent.ErrorKind]
	modelTook  prometheus.Observer
	tokens     words[string]

	storeCalls [storewrap.Ops]storeCall
	due        prometheus.Gauge

	attempts    pairs[adapters.Platform, adapters.SendKind]
	attemptTook map[adapters.Platform]prometheus.Observer
	deliveries  pairs[adapters.Platform, sessions.DeliveryState]
	retries     words[adapters.Platform]

	locksHeld prometheus.Gauge
	locksLost prometheus.Counter

	schedules scheduleMetrics

	checkpoints pairs[string, string]
}

// Words are the closed lists of labels that are not another room's.
type Words struct {
	Chores             []string
	CheckpointReasons  []string
	CheckpointOutcomes []string
}

// New makes the metrics of one gateway. version is what build_info shows.
func New(version string, lists Words) *Metrics {
	m := &Metrics{registry: prometheus.NewRegistry()}
	m.registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	in := maker{m.registry}
	in.gauge("build_info", "1, with the version of this gateway.", "version").WithLabelValues(version).Set(1)
	m.makeIntake(in)
	m.makeTurns(in)
	m.makeStore(in)
	m.makeOutbox(in)
	m.makeSchedules(in, lists)
	return m
}

// Handler serves the metrics in Prometheus' text format.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{})
}

func (m *Metrics) makeIntake(in maker) {
	m.messages = pairsOf(in.counter("messages_total", "Events taken in, by the platform they came from and why they were treated as they were.", "platform", "reason"),
		adapters.Platforms(), routing.Reasons())
	m.refused = wordsOf(in.counter("intake_failures_total", "Events that could not be stored. They were not acknowledged, so the platform offers them again.", "platform"), adapters.Platforms())
	m.posts = wordsOf(in.counter("posts_total", "Messages given to the store, by what it did with them.", "outcome"),
		[]sessions.PostOutcome{sessions.PostDuplicate, sessions.PostLogged, sessions.PostQueued, sessions.PostClaimed})
}

// turnLost is the outcome, in the metrics only, of a turn whose lease was
// another worker's when it came to its end.
const turnLost sessions.Outcome = "lost"

// modelOK and modelEnded are results of a model call that are no failure of
// the model: an answer, and a call whose turn was stopped.
const (
	modelOK    agent.ErrorKind = "ok"
	modelEnded agent.ErrorKind = "ended"
)

func (m *Metrics) makeTurns(in maker) {
	m.turns = wordsOf(in.counter("turns_total", "Turns that ended here, by outcome. lost: another worker had taken the session over.", "outcome"),
		[]sessions.Outcome{sessions.Done, sessions.Unanswered, sessions.Again, sessions.Park, sessions.HandBack, turnLost})
	m.turnTook = in.histogram("turn_duration_seconds", "From the claim of a turn to its stored end.", turnBuckets()).WithLabelValues()
	m.takeovers = in.counter("turn_takeovers_total", "Turns begun once more, because an earlier attempt was killed, cut off, or failed for now.").WithLabelValues()
	m.deadLetters = in.counter("dead_letters_total", "Turns given up: parked, and the person told.").WithLabelValues()
	m.modelCalls = wordsOf(in.counter("model_calls_total", "Calls of the model, by result: ok, ended (the turn was stopped), or the kind of failure.", "result"),
		[]agent.ErrorKind{
			modelOK, modelEnded, agent.KindUnauthorized, agent.KindNotFound, agent.KindQuota, agent.KindRateLimited,
			agent.KindUnavailable, agent.KindTimeout, agent.KindContextLength, agent.KindRefused, agent.KindFiltered,
			agent.KindBrokenStream, agent.KindTooLong, agent.KindEmpty,
		})
	m.modelTook = in.histogram("model_call_duration_seconds", "One call of the model, to the last word of its answer.", turnBuckets()).WithLabelValues()
	m.tokens = wordsOf(in.counter("model_tokens_total", "Tokens that the model says it read (prompt) and wrote (completion).", "direction"), []string{tokensRead, tokensWritten})
	m.locksHeld = in.gauge("locks_held", "Exclusive rights held here, such as polling with one bot's token.").WithLabelValues()
	m.locksLost = in.counter("locks_lost_total", "Exclusive rights that another replica took, or that ran out because the store did not answer.").WithLabelValues()
}

const (
	tokensRead    = "prompt"
	tokensWritten = "completion"
)

// Results of an attempt to deliver that are no failure of the platform: it
// succeeded, or it was not begun because too much of the lane's lease had passed.
const (
	attemptSent    adapters.SendKind = "sent"
	attemptPutBack adapters.SendKind = "put_back"
)

func (m *Metrics) makeOutbox(in maker) {
	remote := adapters.Joined()
	m.attempts = pairsOf(in.counter("delivery_attempts_total", "Attempts to send a message, by result: sent, or why not.", "platform", "result"), remote,
		[]adapters.SendKind{
			attemptSent, attemptPutBack, adapters.SendRateLimited, adapters.SendUnavailable, adapters.SendUnknown, adapters.SendMoved,
			adapters.SendGone, adapters.SendRefused, adapters.SendDenied,
		})
	m.deliveries = pairsOf(in.counter("deliveries_total", "Messages that left the outbox, by their end. unknown: given up without knowing whether people see them.", "platform", "state"), remote,
		[]sessions.DeliveryState{sessions.DeliverySent, sessions.DeliveryUnknown, sessions.DeliveryFailed})
	m.retries = wordsOf(in.counter("delivery_retries_total", "Attempts after which a message waits for another one.", "platform"), remote)
	took := in.histogram("delivery_attempt_duration_seconds", "One attempt to send.", storeBuckets(), "platform")
	m.attemptTook = map[adapters.Platform]prometheus.Observer{}
	for _, platform := range remote {
		m.attemptTook[platform] = took.WithLabelValues(string(platform))
	}
}

// TakenIn counts an event that was decided about and, where that was the
// decision, stored.
func (m *Metrics) TakenIn(platform adapters.Platform, reason routing.Reason, outcome sessions.PostOutcome, err error) {
	switch {
	case m == nil:
	case err != nil:
		m.refused.inc(platform)
	case outcome == sessions.PostDuplicate:
		m.messages.inc(platform, routing.ReasonDuplicate)
	default:
		m.messages.inc(platform, reason)
	}
}

// TurnEnded takes the time of a turn whose end was stored.
func (m *Metrics) TurnEnded(began time.Time) {
	if m != nil {
		m.turnTook.Observe(time.Since(began).Seconds())
	}
}

// TurnLost counts a turn that was given up without an end, because another
// worker has it.
func (m *Metrics) TurnLost() {
	if m != nil {
		m.turns.inc(turnLost)
	}
}

// Attempted counts one attempt to send that ended with err (nil: sent).
func (m *Metrics) Attempted(delivery sessions.Delivery, began time.Time, after sessions.DeliveryState, err error) {
	if m == nil {
		return
	}
	platform, result := platformOf(delivery), attemptSent
	if err != nil {
		result = adapters.AsSendError(err).Kind
	}
	m.attempts.inc(platform, result)
	if after == sessions.DeliveryPending {
		m.retries.inc(platform)
	}
	if took, known := m.attemptTook[platform]; known {
		took.Observe(time.Since(began).Seconds())
	}
}

// PutBack counts a message that was given back untried.
func (m *Metrics) PutBack(delivery sessions.Delivery) {
	if m != nil {
		m.attempts.inc(platformOf(delivery), attemptPutBack)
	}
}

func platformOf(delivery sessions.Delivery) adapters.Platform {
	surface, err := adapters.ParseSurface(delivery.Surface)
	if err != nil {
		return other
	}
	return surface.Platform
}

// LockTaken counts an exclusive right that is held here from now on.
func (m *Metrics) LockTaken() {
	if m != nil {
		m.locksHeld.Inc()
	}
}

// LockGone counts one that is held no longer; lost: another replica has it, or
// it ran out.
func (m *Metrics) LockGone(lost bool) {
	if m == nil {
		return
	}
	m.locksHeld.Dec()
	if lost {
		m.locksLost.Inc()
	}
}
