package doctor

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"

	"parley/adapters"
	"parley/agent"
	"parley/cmd/gateway/cli"
	"parley/cmd/gateway/config"
	"parley/cmd/gateway/wiring"
	"parley/redisstore"
	"parley/sessions"
)

// data tries to write where the gateway will.
func (e *examination) data(context.Context) {
	folder := e.config.Data
	info, err := os.Stat(folder)
	switch {
	case errors.Is(err, os.ErrNotExist):
		if err = tryWrite(madeIn(folder)); err == nil {
			e.add("data", adapters.LevelOK, folder+" will be made at the first start", "")
			return
		}
	case err == nil && !info.IsDir():
		err = errors.New("it is not a folder")
	case err == nil:
		err = tryWrite(folder)
	}
	if err != nil {
		e.add("data", adapters.LevelProblem, fmt.Sprintf("%s cannot be used: %v", folder, err), "set data (GATEWAY_DATA) to a folder that can be written")
		return
	}
	e.add("data", adapters.LevelOK, folder+" can be written", "")
}

// madeIn is the folder in which one that does not exist would be made: the
// nearest above it that does.
func madeIn(folder string) string {
	for {
		above := filepath.Dir(folder)
		if _, err := os.Stat(above); above == folder || !errors.Is(err, os.ErrNotExist) {
			return above
		}
		folder = above
	}
}

func tryWrite(folder string) error {
	file, err := os.CreateTemp(folder, ".doctor-*")
	if err != nil {
		return err
	}
	return errors.Join(file.Close(), os.Remove(file.Name()))
}

func (e *examination) store(ctx context.Context) {
	address := e.config.Store.URL
	if wiring.NotMadeYet(e.config) {
		e.add("store", adapters.LevelOK, address.String()+" will be made at the first start", "")
		return
	}
	store, err := wiring.OpenStore(ctx, e.config, slog.New(slog.DiscardHandler))
	switch {
	case errors.Is(err, sessions.ErrLocked):
		e.add("store", adapters.LevelWarning, address.String()+" is in use by another process", "that is fine if it is a gateway; else end the process")
		return
	case err != nil:
		e.add("store", adapters.LevelProblem, cli.Explain(wiring.StoreError(address, err)), wiring.StoreRemedy(e.config))
		return
	}
	defer func() { _ = store.Close() }() // nothing was written
	e.openStore(ctx, store)
}

// openStore asks a store that is open.
func (e *examination) openStore(ctx context.Context, store sessions.Store) {
	address := e.config.Store.URL
	var short *redisstore.ReplicasError
	switch err := store.Ping(ctx); {
	case errors.As(err, &short): // all else can be asked
		e.add("store", adapters.LevelProblem, fmt.Sprintf("%s acknowledges nothing: %v", address, short), "bring the replicas back, or lower replicas= in store.url (REDIS_URL)")
	case err != nil:
		e.add("store", adapters.LevelProblem, fmt.Sprintf("%s does not answer: %v", address, err), wiring.StoreRemedy(e.config))
		return
	default:
		e.add("store", adapters.LevelOK, address.String()+" answers", "")
	}
	for _, finding := range wiring.StoreFindings(ctx, store) {
		e.add("store", finding.Level, finding.What, finding.Remedy)
	}
	e.chores(ctx, store)
}

// people finds a bot that would answer nobody.
func (e *examination) people(context.Context) {
	c := e.config
	if len(wiring.Connected(c)) == 0 {
		e.add("access", adapters.LevelOK, "who has the token, or a link of `gateway login`, is the owner", "")
		return
	}
	e.add("access", adapters.LevelOK, fmt.Sprintf("%d owners, %d members; direct messages: %s, groups: %s", len(c.Owners), len(c.Members), c.Access.DM, c.Access.Groups), "")
	for _, p := range wiring.Platforms() {
		if p.On(c) && !p.Known(c.Owners) {
			e.add("access", adapters.LevelWarning, fmt.Sprintf("there is no owner on %s: nobody can allow groups there, and direct messages are for: %s", p.ID.Traits().Title, c.Access.DM), fmt.Sprintf(wiring.NameOwner, p.ID))
		}
	}
}

// platform asks one platform what would make its bot deaf.
func (e *examination) platform(ctx context.Context, p wiring.Platform) {
	part := string(p.ID)
	if !p.On(e.config) {
		e.add(part, adapters.LevelOff, "off", p.Connect)
		return
	}
	adapter, err := p.Open(e.config, nil, slog.New(slog.DiscardHandler))
	if err != nil {
		e.add(part, adapters.LevelProblem, err.Error(), p.Remedy)
		return
	}
	e.adapter(ctx, part, adapter)
}

// adapter asks a connection what would make its bot deaf.
func (e *examination) adapter(ctx context.Context, part string, adapter adapters.Adapter) {
	doctor, ok := adapter.(adapters.Doctor)
	if !ok {
		e.add(part, adapters.LevelUnchecked, "this platform cannot be checked", "")
		return
	}
	for _, finding := range doctor.Diagnose(ctx) {
		e.checks = append(e.checks, Check{Part: part, Finding: finding})
	}
}

func (e *examination) model(ctx context.Context) {
	m := e.config.Models.Default
	if m.Provider == config.ProviderDemo {
		e.add("model", adapters.LevelOff, "off: the offline demo answers", wiring.ConnectModel)
		return
	}
	model, err := wiring.NewModel(m)
	if err != nil {
		e.add("model", adapters.LevelProblem, err.Error(), wiring.ModelRemedy(m))
		return
	}
	e.probe(ctx, m, model)
}

// probe asks a model whether it would answer.
func (e *examination) probe(ctx context.Context, m config.Model, model agent.Model) {
	e.ending("models.default", m)
	if small := e.config.Models.Small; small != m {
		e.ending("models.small", small)
	}
	name := fmt.Sprintf("%s at %s", model.Name(), m.BaseURL)
	prober, ok := model.(agent.Prober)
	if !ok {
		e.add("model", adapters.LevelUnchecked, name+" cannot be checked without asking it something", "")
		return
	}
	if err := prober.Probe(ctx); err != nil {
		e.add("model", adapters.LevelProblem, fmt.Sprintf("%s: %v", name, err), wiring.ModelRemedy(m))
		return
	}
	e.add("model", adapters.LevelOK, name+" answers", "")
}

func (e *examination) http(ctx context.Context) {
	address := e.config.HTTP.Listen
	var listening net.ListenConfig
	listener, err := listening.Listen(ctx, "tcp", address)
	if err == nil {
		_ = listener.Close() // it was only tried
		e.add("http", adapters.LevelOK, address+" is free to listen on", "")
		return
	}
	e.add("http", adapters.LevelProblem, fmt.Sprintf("cannot listen on %s: %v", address, err), "stop what listens there, or set http.listen (GATEWAY_LISTEN) to another port")
}

// ending warns of a model that its provider ends.
func (e *examination) ending(key string, m config.Model) {
	ending, known := m.ModelEnding()
	if !known {
		return
	}
	level, word := adapters.LevelWarning, "ends"
	if !e.now().Before(ending.On) {
		level, word = adapters.LevelProblem, "has ended"
	}
	remedy := "set " + key + ".name"
	if key == "models.default" {
		remedy += " (OPENAI_MODEL)"
	}
	if ending.Instead != "" {
		remedy += " to " + ending.Instead + ", which the provider names in its place"
	}
	e.add("model", level, fmt.Sprintf("%s %s on %s", m.Name, word, ending.On.Format("2 January 2006")), remedy)
}
