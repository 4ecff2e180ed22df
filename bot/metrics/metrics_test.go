package metrics

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"

	"parley/adapters"
	"parley/agent"
	"parley/routing"
	"parley/sessions"
	"parley/sessions/storewrap"
	"parley/sqlitestore"
)

func memoryStore(t *testing.T) sessions.Store {
	t.Helper()
	store, err := sqlitestore.Open(t.Context(), sqlitestore.Config{Path: sqlitestore.Memory})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	return store
}

func valueOf(metric prometheus.Metric) float64 {
	var out dto.Metric
	if err := metric.Write(&out); err != nil {
		panic(err)
	}
	return out.GetCounter().GetValue() + out.GetGauge().GetValue()
}

// calls is how often an operation of the store was counted.
func (m *Metrics) calls(op storewrap.Op) float64 {
	total := valueOf(m.storeCalls[op].results.other)
	for _, counter := range m.storeCalls[op].results.known {
		total += valueOf(counter)
	}
	return total
}

func TestEveryStoreOperationIsCounted(t *testing.T) {
	t.Parallel()
	m := New("test", Words{})
	store := m.Store(memoryStore(t))
	for op := range storewrap.Ops {
		callWithZeroes(t.Context(), reflect.ValueOf(store).MethodByName(op.Method()))
		if lasts(op) {
			continue
		}
		if n := m.calls(op); n != 1 {
			t.Errorf("%s was called once and counted %v times", op.Method(), n)
		}
	}
}

func callWithZeroes(ctx context.Context, method reflect.Value) {
	args := []reflect.Value{reflect.ValueOf(ctx)}
	for i := 1; i < method.Type().NumIn(); i++ {
		args = append(args, reflect.Zero(method.Type().In(i)))
	}
	method.Call(args)
}

func TestStoreResults(t *testing.T) {
	t.Parallel()
	for want, errs := range map[string][]error{
		resultOK:          {nil},
		resultBusy:        {sessions.ErrBusy},
		resultNothing:     {sessions.ErrNothing},
		resultNotFound:    {sessions.ErrNotFound, fmt.Errorf("it: %w", sessions.ErrNotFound)},
		resultFenced:      {sessions.ErrFenced},
		resultRefused:     {sessions.ErrConflict, sessions.ErrGroup, sessions.ErrQueueFull, &sessions.StateError{}, &sessions.InvalidError{}},
		resultUnavailable: {sessions.ErrUnavailable, context.DeadlineExceeded},
		resultEnded:       {context.Canceled},
		resultError:       {errors.New("?"), sessions.ErrClosed},
	} {
		for _, err := range errs {
			if got := storeResult(err); got != want {
				t.Errorf("%v: %s, want %s", err, got, want)
			}
		}
	}
}

func TestTurnsPostsAndTakeoversAreSeenAtTheStore(t *testing.T) {
	t.Parallel()
	m := New("test", Words{})
	store := m.Store(memoryStore(t))
	ctx := t.Context()
	post := sessions.PostRequest{
		Key: "k", Surface: "telegram:1:2", New: sessions.NewSession{Source: sessions.Source{Kind: "channel", Type: sessions.Direct}},
		Message: sessions.Message{Role: sessions.RoleUser, Text: "hello"}, Trigger: true,
		Claim: &sessions.Claimer{Owner: "a", For: sessions.LeaseFor},
	}
	posted, err := store.Post(ctx, post)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := store.Post(ctx, post); err != nil {
		t.Fatal(err)
	}
	if _, err := store.Commit(ctx, sessions.CommitRequest{Lease: posted.Turn.Lease, Outcome: sessions.Again}); err != nil {
		t.Fatal(err)
	}
	turn, err := store.Claim(ctx, sessions.ClaimRequest{Session: posted.Session, Claimer: *post.Claim})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := store.Commit(ctx, sessions.CommitRequest{Lease: posted.Turn.Lease, Outcome: sessions.Done}); !errors.Is(err, sessions.ErrFenced) {
		t.Fatalf("an old lease: %v", err)
	}
	out := adapters.Outgoing{Surface: adapters.Surface{Platform: adapters.Telegram, Account: "1", Chat: "2"}}
	if _, err := store.Commit(ctx, sessions.CommitRequest{Lease: turn.Lease, Outcome: sessions.Park, Reason: "?",
		Deliveries: []sessions.NewDelivery{{Surface: out.Surface.Key(), Payload: []byte("{}"), Entry: -1}}}); err != nil {
		t.Fatal(err)
	}
	delivery, err := store.Take(ctx, takeLane(t, store), *post.Claim)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := store.Settle(ctx, sessions.Settlement{Delivery: delivery, State: sessions.DeliveryUnknown}, sessions.Claimer{}); err != nil {
		t.Fatal(err)
	}
	for name, counter := range map[string]prometheus.Metric{
		"claimed": m.posts.at(sessions.PostClaimed), "duplicate": m.posts.at(sessions.PostDuplicate),
		"again": m.turns.at(sessions.Again), "park": m.turns.at(sessions.Park), "lost": m.turns.at(turnLost),
		"take-overs": m.takeovers, "dead letters": m.deadLetters,
		"unknown": m.deliveries.known[adapters.Telegram].at(sessions.DeliveryUnknown),
	} {
		if n := valueOf(counter); n != 1 {
			t.Errorf("%s: %v, want 1", name, n)
		}
	}
	if n := valueOf(m.due); n != 1 {
		t.Errorf("due: %v", n)
	}
}

func takeLane(t *testing.T, store sessions.Store) string {
	t.Helper()
	items, err := store.Due(t.Context(), 10)
	if err != nil || len(items) != 1 || items[0].Kind != sessions.WorkLane {
		t.Fatalf("due: %+v, %v", items, err)
	}
	return items[0].ID
}

type modelFunc func() (agent.Answer, error)

func (modelFunc) Name() string { return "m" }

func (f modelFunc) Complete(context.Context, agent.Request, func(string)) (agent.Answer, error) {
	return f()
}

func TestModelCallsAreCounted(t *testing.T) {
	t.Parallel()
	ended, end := context.WithCancel(t.Context())
	end()
	cases := []struct {
		ctx    context.Context //nolint:containedctx // the case
		answer agent.Answer
		err    error
		want   agent.ErrorKind
	}{
		{t.Context(), agent.Answer{Text: "x", Tokens: &sessions.Tokens{Prompt: 7, Completion: 2}}, nil, modelOK},
		{t.Context(), agent.Answer{ToolCalls: []sessions.ToolCall{{}}}, nil, modelOK},
		{t.Context(), agent.Answer{Text: " \n"}, nil, agent.KindEmpty},
		{t.Context(), agent.Answer{}, &agent.ModelError{Kind: agent.KindQuota}, agent.KindQuota},
		{t.Context(), agent.Answer{}, errors.New("?"), agent.KindUnavailable},
		{ended, agent.Answer{}, context.Canceled, modelEnded},
		{t.Context(), agent.Answer{}, &agent.ModelError{Kind: "telegram:12345"}, other},
	}
	for _, c := range cases {
		m := New("test", Words{})
		model := observedModel{modelFunc(func() (agent.Answer, error) { return c.answer, c.err }), m}
		if _, err := model.Complete(c.ctx, agent.Request{}, nil); !errors.Is(err, c.err) {
			t.Errorf("the error became %v", err)
		}
		counter := m.modelCalls.at(c.want)
		if n := valueOf(counter); n != 1 {
			t.Errorf("%s: %v", c.want, n)
		}
		if c.answer.Tokens != nil && (valueOf(m.tokens.at(tokensRead)) != 7 || valueOf(m.tokens.at(tokensWritten)) != 2) {
			t.Error("tokens are miscounted")
		}
	}
}

func TestEventsAndAttempts(t *testing.T) {
	t.Parallel()
	m := New("test", Words{})
	m.TakenIn(adapters.Slack, routing.ReasonMentioned, sessions.PostQueued, nil)
	m.TakenIn(adapters.Slack, routing.ReasonMentioned, sessions.PostDuplicate, nil)
	m.TakenIn(adapters.Slack, routing.ReasonMentioned, "", sessions.ErrUnavailable)
	delivery := sessions.Delivery{Surface: "discord:1:2"}
	m.Attempted(delivery, time.Now(), sessions.DeliverySent, nil)
	m.Attempted(delivery, time.Now(), sessions.DeliveryPending, &adapters.SendError{Kind: adapters.SendRateLimited})
	m.LockTaken()
	m.LockTaken()
	m.LockGone(true)
	for name, counter := range map[string]prometheus.Metric{
		"mentioned": m.messages.known[adapters.Slack].at(routing.ReasonMentioned),
		"duplicate": m.messages.known[adapters.Slack].at(routing.ReasonDuplicate),
		"failure":   m.refused.at(adapters.Slack),
		"sent":      m.attempts.known[adapters.Discord].at(attemptSent),
		"limited":   m.attempts.known[adapters.Discord].at(adapters.SendRateLimited),
		"retry":     m.retries.at(adapters.Discord),
		"held":      m.locksHeld,
		"lost":      m.locksLost,
	} {
		if n := valueOf(counter); n != 1 {
			t.Errorf("%s: %v, want 1", name, n)
		}
	}
	var none *Metrics
	none.TakenIn(adapters.Slack, routing.ReasonMentioned, "", nil)
	none.Attempted(delivery, time.Now(), sessions.DeliverySent, nil)
	none.TurnEnded(time.Now())
	none.TurnLost()
	none.LockTaken()
	none.LockGone(true)
}

// What is not on a list, an id above all, never becomes a label.
func TestNoIDBecomesALabel(t *testing.T) {
	t.Parallel()
	const id = "canary-4711"
	m := New("test", Words{})
	m.TakenIn(id, id, id, nil)
	m.TakenIn(id, id, id, errors.New(id))
	m.TakenIn(adapters.Telegram, id, "", nil)
	m.Attempted(sessions.Delivery{Surface: id}, time.Now(), sessions.DeliveryPending, &adapters.SendError{Kind: id})
	m.Attempted(sessions.Delivery{Surface: "telegram:" + id + ":" + id}, time.Now(), sessions.DeliverySent, nil)
	m.modelCalls.inc(id)
	m.turns.inc(id)
	m.posts.inc(id)
	answer := httptest.NewRecorder()
	m.Handler().ServeHTTP(answer, httptest.NewRequestWithContext(t.Context(), "GET", "/metrics", nil))
	body, err := io.ReadAll(answer.Body)
	if err != nil || answer.Code != 200 {
		t.Fatalf("%d, %v", answer.Code, err)
	}
	if strings.Contains(string(body), id) {
		t.Error("an id is a label")
	}
	for _, line := range []string{
		`parley_messages_total{platform="other",reason="other"} 1`,
		`parley_messages_total{platform="telegram",reason="other"} 1`,
		`parley_intake_failures_total{platform="other"} 1`,
		`parley_delivery_attempts_total{platform="other",result="other"} 1`,
	} {
		if !strings.Contains(string(body), line) {
			t.Errorf("%s is missing", line)
		}
	}
}

func TestMetricsBelongToOneGateway(t *testing.T) {
	t.Parallel()
	m := New("test", Words{})
	gauges := Gauges{Running: func() int { return 0 }, ModelUp: func() bool { return true }, Stopping: func() bool { return false }}
	if err := m.Watch(gauges); err != nil {
		t.Fatal(err)
	}
	if err := m.Watch(gauges); err == nil {
		t.Error("two gateways in one set of metrics")
	}
}

func TestCountingCostsNoMemory(t *testing.T) {
	m := New("test", Words{})
	model := observedModel{modelFunc(func() (agent.Answer, error) { return agent.Answer{Text: "x"}, nil }), m}
	store := m.Store(nothing{})
	ctx := t.Context()
	began := time.Now()
	for name, count := range map[string]func(){
		"an event":     func() { m.TakenIn(adapters.Telegram, routing.ReasonDirect, sessions.PostQueued, nil) },
		"a turn":       func() { m.TurnEnded(began) },
		"a model call": func() { _, _ = model.Complete(ctx, agent.Request{}, nil) },
		"a store call": func() { _, _ = store.ChatListed(ctx, "") },
		"a claim":      func() { _, _ = store.Claim(ctx, sessions.ClaimRequest{}) },
	} {
		if n := testing.AllocsPerRun(100, count); n > 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}

// nothing is a store that answers two calls at once.
type nothing struct{ sessions.Store }

func (nothing) ChatListed(context.Context, string) (bool, error) { return true, nil }

func (nothing) Claim(context.Context, sessions.ClaimRequest) (*sessions.Turn, error) {
	return nil, sessions.ErrBusy
}
