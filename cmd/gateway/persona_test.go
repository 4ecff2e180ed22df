package main

import (
	"strings"
	"testing"

	"parley/test/fakeopenai"
)

func TestTheModelIsToldWhoTheBotIsAndWhatTimeItIsHere(t *testing.T) {
	t.Parallel()
	model, err := fakeopenai.New(fakeopenai.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(model.Close)
	m := newMachine(t)
	m.env["OPENAI_BASE_URL"], m.env["OPENAI_API_KEY"], m.env["OPENAI_MODEL"] = model.URL(), model.Key(), fakeopenai.ModelDefault
	m.env["TZ"] = "Asia/Tokyo"
	file := m.file("name: Ada\npersona: You look after the garden.\n")
	if code, _, errs := m.does("hello\n", "chat", "--config", file); code != exitOK {
		t.Fatalf("chat: %d %s", code, errs)
	}
	system := model.AwaitRequests(t, 1)[0].System()
	for _, part := range []string{"Your name is Ada.", "You look after the garden.", "Asia/Tokyo, UTC+09:00"} {
		if !strings.Contains(system, part) {
			t.Errorf("the model is not told %q:\n%s", part, system)
		}
	}
}

func TestASchedulesTimeIsTheServers(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	m.env["TZ"] = "Asia/Tokyo"
	add := []string{"schedules", "add", "0 9 * * *", "Good morning"}
	if code, out, errs := m.does("", append(add, "--id", "rest")...); code != exitOK || !strings.Contains(out, "every day at 09:00 Asia/Tokyo") {
		t.Errorf("on a store at rest: %d %s %s", code, out, errs)
	}
	g := m.runs("--config", m.file("timezone: Europe/Berlin\n"))
	if code, out, errs := m.does("", append(add, "--id", "running")...); code != exitOK || !strings.Contains(out, "every day at 09:00 Europe/Berlin") {
		t.Errorf("through a gateway whose zone is configured: %d %s %s", code, out, errs)
	}
	if code, out, errs := m.does("/schedule add \"0 9 * * 1-5\" id=chat What is on?\n/schedule list\n", "chat"); code != exitOK ||
		!strings.Contains(out, "every weekday at 09:00 Europe/Berlin") || !strings.Contains(out, "0 9 * * * (Asia/Tokyo)") {
		t.Errorf("in a chat: %d %s %s", code, out, errs)
	}
	g.stop()
}
