package adaptertest

import (
	"context"
	"errors"
	"fmt"
	"time"

	"parley/adapters"
)

// testDeaf: an adapter that cannot hear says so, with a reason, and recovers.
func testDeaf(s *stage) {
	if s.Deafen == nil {
		s.t.Skip("the world cannot keep the connection away")
	}
	r := s.run(nil)
	restore := s.Deafen()
	s.Await(s.t, "an adapter that knows it is deaf", func() bool { return r.Health().State == adapters.Deaf })
	health := r.Health()
	if health.OK() || health.Problem == "" || health.Since.IsZero() {
		s.t.Errorf("deaf, but %+v", health)
	}
	s.clean("a problem", health.Problem)
	restore()
	s.hears(r)
	r.say(s.Group, "hello again")
}

// testRevoked: credentials that become invalid end Run with one clear line.
func testRevoked(s *stage) {
	r := s.run(nil)
	surface := r.say(s.Group, "where").Surface
	s.Revoke()
	s.Disconnect()
	s.refused(r)
	_, err := r.send(adapters.Outgoing{Surface: surface, Text: "x", DeliveryID: "revoked-1", Attempt: 1})
	failure(s, "a revoked token", err, adapters.SendDenied)
}

// testRefusedAtStart: so do credentials that never were valid.
func testRefusedAtStart(s *stage) {
	s.Revoke()
	s.refused(s.start(nil))
}

func (s *stage) refused(r *running) {
	s.t.Helper()
	select {
	case <-r.done:
	case <-time.After(waitMax):
		s.t.Fatal("Run goes on although the credentials are refused")
	}
	health := r.Health()
	if r.err == nil || health.State != adapters.Refused || health.Problem == "" {
		s.t.Errorf("Run returned %v, health is %+v", r.err, health)
	}
	s.cleanError(r.err)
	s.clean("a problem", health.Problem)
}

// testStop: Run returns nil when its context ends, also in the middle of
// things; it can be run again.
func testStop(s *stage) {
	for i := range 2 {
		refuse := func(adapters.Event) error { return errors.New("never") }
		r := s.run(refuse)
		s.Post(s.Group, fmt.Sprint("stop me ", i))
		r.stop()
		if r.err != nil {
			s.t.Errorf("stopped, Run returns %v", r.err)
		}
	}
}

// testStopBeforeHearing: also while it waits for a platform that is not there.
func testStopBeforeHearing(s *stage) {
	s.Down()
	r := s.start(nil)
	s.Await(s.t, "an adapter that notices", func() bool { return r.Health().State == adapters.Deaf })
	r.stop()
	if r.err != nil {
		s.t.Errorf("stopped, Run returns %v", r.err)
	}
}

// testOptional: typing and the command menu, where the adapter has them.
func testOptional(s *stage) {
	r := s.run(nil)
	ctx, cancel := context.WithTimeout(context.Background(), waitMax)
	defer cancel()
	typer, ok := r.Adapter.(adapters.Typer)
	if ok != (r.Capabilities().TypingFor > 0) {
		s.t.Errorf("Typer is %v, but typing shows for %s", ok, r.Capabilities().TypingFor)
	}
	for _, place := range s.places() {
		if !ok {
			break
		}
		if err := typer.Typing(ctx, r.say(place, "where").Surface); err != nil {
			s.t.Errorf("typing at %s: %v", place, err)
		}
	}
	registrar, ok := r.Adapter.(adapters.CommandRegistrar)
	for range 2 {
		if !ok {
			break
		}
		if err := registrar.RegisterCommands(ctx, []adapters.CommandInfo{
			{Name: "help", Description: "List the commands you may use here", Groups: true},
			{Name: "new", Description: "Start a new conversation"},
		}); err != nil {
			s.t.Errorf("registering commands: %v", err)
		}
	}
}

// testDiagnose: all is well says no problem; refused credentials are one, with
// a remedy.
func testDiagnose(s *stage) {
	doctor, ok := s.adapter().(adapters.Doctor)
	if !ok {
		s.t.Skip("the adapter is no doctor")
	}
	ctx, cancel := context.WithTimeout(context.Background(), waitMax)
	defer cancel()
	findings := doctor.Diagnose(ctx)
	if len(findings) == 0 {
		s.t.Error("no findings")
	}
	for _, finding := range findings {
		if finding.Level == adapters.LevelProblem {
			s.t.Errorf("all is well, but %+v", finding)
		}
	}
	s.Revoke()
	problems := 0
	for _, finding := range doctor.Diagnose(ctx) {
		s.clean("a finding", finding.What+finding.Remedy)
		if finding.Level == adapters.LevelProblem && finding.Remedy != "" {
			problems++
		}
	}
	if problems == 0 {
		s.t.Error("refused credentials are no problem")
	}
}
