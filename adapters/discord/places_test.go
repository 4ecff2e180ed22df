package discord

import (
	"context"
	"errors"
	"strconv"
	"testing"
)

func TestDirectoryLearns(t *testing.T) {
	t.Parallel()
	var d directory
	d.fetch = func(_ context.Context, channel string) (place, error) {
		if channel == "13" {
			return place{}, errors.New("not now")
		}
		return place{ID: channel, Unknown: true}, nil
	}
	for _, event := range []struct{ kind, data string }{
		{"GUILD_CREATE", `{"id":"1","name":"Workshop","channels":[{"id":"2","type":0,"name":"general"},null],"threads":[
			{"id":"3","guild_id":"1","type":11,"parent_id":"2","name":"begun","owner_id":"100"},
			{"id":"4","guild_id":"1","type":12,"parent_id":"2","name":"joined","owner_id":"9","member":{"flags":0}},
			{"id":"5","guild_id":"1","type":11,"parent_id":"2","name":"other","owner_id":"9"}]}`},
		{"THREAD_CREATE", `{"id":"6","guild_id":"1","type":11,"parent_id":"2","name":"later","owner_id":"9"}`},
		{"THREAD_MEMBER_UPDATE", `{"id":"6","guild_id":"1","user_id":"100"}`},
		{"CHANNEL_UPDATE", `{"id":"2","guild_id":"1","type":0,"name":"lobby","parent_id":"77"}`},
		{"THREAD_DELETE", `{"id":"5","guild_id":"1"}`},
	} {
		if err := d.learn(event.kind, []byte(event.data), "100"); err != nil {
			t.Errorf("%s: %v", event.kind, err)
		}
	}
	for id, want := range map[string]place{
		"2": {ID: "2", Guild: "1", Name: "lobby"}, // the parent of a channel is a category
		"3": {ID: "3", Guild: "1", Name: "begun", Parent: "2", HasBot: true},
		"4": {ID: "4", Guild: "1", Name: "joined", Parent: "2", HasBot: true},
		"5": {ID: "5", Unknown: true},
		"6": {ID: "6", Guild: "1", Name: "later", Parent: "2", HasBot: true},
	} {
		if got, err := d.find(t.Context(), id); err != nil || got != want {
			t.Errorf("%s: %+v, %v, want %+v", id, got, err, want)
		}
	}
	if d.guildName("1") != "Workshop" || d.guildName("2") != "" {
		t.Error("names of servers")
	}
	if _, err := d.find(t.Context(), "13"); err == nil {
		t.Error("a failed look-up is an answer")
	}
}

func TestDirectoryIsBounded(t *testing.T) {
	t.Parallel()
	var d directory
	for i := range placesMax + 10 {
		d.put(place{ID: strconv.Itoa(i)})
	}
	if n := len(d.channels); n != placesMax {
		t.Errorf("%d places are remembered", n)
	}
}
