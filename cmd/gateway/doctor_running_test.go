package main

import (
	"strings"
	"testing"

	"parley/adapters"
	"parley/test/fakeopenai"
)

// Another terminal knows nothing of the variables that the gateway was started
// with: the doctor asks the gateway, and says so.
func TestTheDoctorAsksTheGatewayThatRuns(t *testing.T) {
	t.Parallel()
	model, err := fakeopenai.New(fakeopenai.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(model.Close)
	m := newMachine(t)
	_, out, _ := m.does("", "doctor")
	if !strings.HasPrefix(out, "– gateway   none runs") || !strings.Contains(out, "– telegram  off") || !strings.Contains(out, "– model     off") {
		t.Errorf("at rest:\n%s", out)
	}
	m.env["OPENAI_BASE_URL"], m.env["OPENAI_API_KEY"], m.env["OPENAI_MODEL"] = model.URL(), model.Key(), fakeopenai.ModelDefault
	g := m.runs()
	delete(m.env, "OPENAI_BASE_URL")
	delete(m.env, "OPENAI_API_KEY")
	m.env["TELEGRAM_BOT_TOKEN"] = "1:of-this-terminal-only"
	code, out, errs := m.does("", "doctor")
	if code != exitOK || !strings.HasPrefix(out, "✓ gateway   this is what the gateway that runs at "+g.address) {
		t.Errorf("%d %s\n%s", code, errs, out)
	}
	for _, part := range []string{"✓ model     " + fakeopenai.ModelDefault + " at " + model.URL() + " answers", "– telegram  off", "✓ http      listens at " + g.address, "✓ store "} {
		if !strings.Contains(out, part) {
			t.Errorf("no line %q in\n%s", part, out)
		}
	}
	if level := m.diagnosed("telegram"); level != adapters.LevelOff {
		t.Errorf("telegram is %s, though the gateway runs without it", level)
	}
	g.stop()
	if level := m.diagnosed("gateway"); level != adapters.LevelOff {
		t.Errorf("the gateway that has stopped is %s", level)
	}
}
