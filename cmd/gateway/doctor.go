package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"parley/adapters"
	"parley/agent"
	"parley/cmd/gateway/config"
	"parley/cmd/gateway/logging"
	"parley/redisstore"
	"parley/sessions"
)

// check is one line of the doctor's report.
type check struct {
	Part string `json:"part"`
	adapters.Finding
}

func (p *program) doctorCommand(flags *common) *cobra.Command {
	return &cobra.Command{
		Use: "doctor", Short: "Check configuration, store, tokens and model, and say what to fix", Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error { return p.doctor(command.Context(), flags) },
	}
}

// doctor checks everything it can and ends with a failure if it found a problem.
func (p *program) doctor(ctx context.Context, flags *common) error {
	checks := p.examine(ctx, flags)
	if flags.asJSON {
		if err := p.printJSON(checks); err != nil {
			return err
		}
	} else {
		p.printChecks(checks)
	}
	for _, c := range checks {
		if c.Level == adapters.LevelProblem {
			return errReported
		}
	}
	return nil
}

// examination gathers checks.
type examination struct {
	program *program
	config  config.Config
	running *runFile // the gateway that runs on this machine, if one does
	checks  []check
}

func (e *examination) add(part string, level adapters.Level, what, remedy string) {
	e.checks = append(e.checks, check{part, adapters.Finding{Level: level, What: what, Remedy: remedy}})
}

func (p *program) examine(ctx context.Context, flags *common) []check {
	e := &examination{program: p}
	if !e.configuration(flags) {
		return e.checks
	}
	if running, found, err := p.running(ctx, e.config.Data); err == nil && found {
		e.running = &running
	}
	examinations := []func(context.Context){e.data, e.store, e.people}
	for _, platform := range platforms() {
		examinations = append(examinations, func(ctx context.Context) { e.platform(ctx, platform) })
	}
	for _, examine := range append(examinations, e.model, e.http) {
		part, cancel := context.WithTimeout(ctx, diagnoseTimeout)
		examine(part)
		cancel()
	}
	return e.checks
}

// configuration reports whether there is one to go on with.
func (e *examination) configuration(flags *common) bool {
	loaded, err := e.program.load(flags)
	for _, warning := range loaded.Warnings {
		e.add("config", adapters.LevelWarning, warning, "set only what is meant")
	}
	var problems config.Errors
	switch {
	case errors.As(err, &problems):
		for _, problem := range problems {
			e.add("config", adapters.LevelProblem, problem.String(), "change it, then run this again")
		}
		return false
	case err != nil:
		e.add("config", adapters.LevelProblem, err.Error(), "")
		return false
	case loaded.File == "":
		e.add("config", adapters.LevelOK, "no file; the environment and the defaults are in order", "")
	default:
		e.add("config", adapters.LevelOK, loaded.File+" is in order", "")
	}
	e.config = loaded.Config
	return true
}

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
	if notMadeYet(e.config) {
		e.add("store", adapters.LevelOK, address.String()+" will be made at the first start", "")
		return
	}
	store, err := openStore(ctx, e.config, slog.New(slog.DiscardHandler))
	switch {
	case errors.Is(err, sessions.ErrLocked) && e.running != nil:
		e.add("store", adapters.LevelOK, fmt.Sprintf("%s is in use by the gateway at %s", address, e.running), "")
		return
	case errors.Is(err, sessions.ErrLocked):
		e.add("store", adapters.LevelWarning, address.String()+" is in use by another process", "that is fine if it is a gateway; else end the process")
		return
	case err != nil:
		e.add("store", adapters.LevelProblem, explain(storeError(address, err)), storeRemedy(e.config))
		return
	}
	defer func() { _ = store.Close() }() // nothing was written
	var short *redisstore.ReplicasError
	switch err := store.Ping(ctx); {
	case errors.As(err, &short): // all else can be asked
		e.add("store", adapters.LevelProblem, fmt.Sprintf("%s acknowledges nothing: %v", address, short), "bring the replicas back, or lower replicas= in store.url (REDIS_URL)")
	case err != nil:
		e.add("store", adapters.LevelProblem, fmt.Sprintf("%s does not answer: %v", address, err), storeRemedy(e.config))
		return
	default:
		e.add("store", adapters.LevelOK, address.String()+" answers", "")
	}
	if redis, ok := store.(*redisstore.Store); ok {
		e.redisSettings(redis.Diagnose(ctx))
	}
	e.chores(ctx, store)
}

func (e *examination) redisSettings(findings []redisstore.Finding) {
	levels := map[string]adapters.Level{
		redisstore.LevelOK: adapters.LevelOK, redisstore.LevelWarning: adapters.LevelWarning, redisstore.LevelError: adapters.LevelProblem,
	}
	for _, finding := range findings {
		e.add("store", levels[finding.Level], finding.What, finding.Remedy)
	}
}

// people finds a bot that would answer nobody.
func (e *examination) people(context.Context) {
	c := e.config
	if len(connected(c)) == 0 {
		e.add("access", adapters.LevelOK, "who sits at this machine is the owner", "")
		return
	}
	e.add("access", adapters.LevelOK, fmt.Sprintf("%d owners, %d members; direct messages: %s, groups: %s", len(c.Owners), len(c.Members), c.Access.DM, c.Access.Groups), "")
	for _, p := range platforms() {
		if p.on(c) && !p.known(c.Owners) {
			e.add("access", adapters.LevelWarning, fmt.Sprintf("there is no owner on %s: nobody can allow groups there, and direct messages are for: %s", p.title, c.Access.DM), fmt.Sprintf(nameOwner, p.id))
		}
	}
}

// platform asks one platform what would make its bot deaf.
func (e *examination) platform(ctx context.Context, p platform) {
	part := string(p.id)
	if !p.on(e.config) {
		e.add(part, adapters.LevelOK, "off. "+p.connect, "")
		return
	}
	adapter, err := p.open(e.config, nil, slog.New(slog.DiscardHandler))
	if err != nil {
		e.add(part, adapters.LevelProblem, err.Error(), p.remedy)
		return
	}
	doctor, ok := adapter.(adapters.Doctor)
	if !ok {
		e.add(part, adapters.LevelUnchecked, "this platform cannot be checked", "")
		return
	}
	for _, finding := range doctor.Diagnose(ctx) {
		e.checks = append(e.checks, check{part, finding})
	}
}

func (e *examination) model(ctx context.Context) {
	m := e.config.Models.Default
	if m.Provider == config.ProviderDemo {
		e.add("model", adapters.LevelOK, "the offline demo. "+connectModel, "")
		return
	}
	model, err := newModel(m)
	if err != nil {
		e.add("model", adapters.LevelProblem, err.Error(), modelRemedy(m))
		return
	}
	name := fmt.Sprintf("%s at %s", model.Name(), m.BaseURL)
	prober, ok := model.(agent.Prober)
	if !ok {
		e.add("model", adapters.LevelUnchecked, name+" cannot be checked without asking it something", "")
		return
	}
	if err := prober.Probe(ctx); err != nil {
		e.add("model", adapters.LevelProblem, fmt.Sprintf("%s: %v", name, err), modelRemedy(m))
		return
	}
	e.add("model", adapters.LevelOK, name+" answers", "")
}

func (e *examination) http(ctx context.Context) {
	address := e.config.HTTP.Listen
	var listening net.ListenConfig
	listener, err := listening.Listen(ctx, "tcp", address)
	switch {
	case err == nil:
		_ = listener.Close() // it was only tried
		e.add("http", adapters.LevelOK, address+" is free to listen on", "")
	case errors.Is(err, syscall.EADDRINUSE) && e.running != nil:
		e.add("http", adapters.LevelOK, fmt.Sprintf("the gateway listens at %s", e.running), "")
	default:
		e.add("http", adapters.LevelProblem, fmt.Sprintf("cannot listen on %s: %v", address, err), "stop what listens there, or set http.listen (GATEWAY_LISTEN) to another port")
	}
}

func marks() map[adapters.Level][2]string {
	return map[adapters.Level][2]string{
		adapters.LevelOK:        {"✓", "\x1b[32m"},
		adapters.LevelWarning:   {"!", "\x1b[33m"},
		adapters.LevelProblem:   {"✗", "\x1b[31m"},
		adapters.LevelUnchecked: {"?", "\x1b[36m"},
	}
}

func (p *program) printChecks(checks []check) {
	for _, c := range checks {
		mark := marks()[c.Level]
		sign := mark[0]
		if p.color(p.out) {
			sign = mark[1] + sign + "\x1b[0m"
		}
		fmt.Fprintf(p.out, "%s %-9s %s\n", sign, c.Part, printable(c.What))
		if c.Remedy != "" {
			fmt.Fprintf(p.out, "%s→ %s\n", strings.Repeat(" ", 12), printable(c.Remedy))
		}
	}
}

func printable(text string) string { return logging.Visible(logging.Redact(text)) }
