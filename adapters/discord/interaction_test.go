package discord_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"parley/adapters"
	"parley/test/fakediscord"
)

const editRoute = "PATCH /webhooks/{app}/{token}/messages/{message...}"

// answer sends a reply to an event as the gateway does.
func (c *connection) answer(event adapters.Event, text, delivery string) adapters.Receipt {
	c.rig.t.Helper()
	receipt, err := c.Send(c.rig.t.Context(), adapters.Outgoing{
		Surface: event.Surface, Text: text, ReplyTo: event.MessageID, DeliveryID: delivery, Attempt: 1,
	})
	if err != nil {
		c.rig.t.Error(err)
	}
	return receipt
}

// TestSlashCommand: it is acknowledged before it is taken in, and its answer
// takes the place of the acknowledgement, also after a restart.
func TestSlashCommand(t *testing.T) {
	t.Parallel()
	r := newRig(t, fakediscord.Config{})
	interactions := make(chan string, 1)
	c := r.connect(func(_ context.Context, event adapters.Event) error {
		if event.Command == nil {
			return nil
		}
		if id := <-interactions; !r.fake.Answered(id) {
			t.Error("taken in before it was acknowledged")
		}
		return nil
	}).hearing()
	for i, place := range []string{r.group, r.direct} {
		id := r.fake.Command(place, r.alice, "allow", "that chat")
		interactions <- id
		event := c.next()
		if event.Command == nil || *event.Command != (adapters.NativeCommand{Name: "allow", Args: "that chat"}) || event.ID != "i:"+id {
			t.Errorf("the event is %+v", event)
		}
		if event.Direct != (place == r.direct) || event.Surface.Chat != place || event.Sender.ID != adapters.Identity("discord:"+r.alice.ID) {
			t.Errorf("the event is %+v", event)
		}
		if strings.Contains(event.MessageID, "secret") {
			t.Error("the interaction's token is readable")
		}
		_ = c.stop()
		c = r.connect(nil).hearing()
		c.answer(event, "done", fmt.Sprint("command-", i))
		c.answer(event, "done", fmt.Sprint("command-", i))
		messages := r.fake.Messages(place)
		if len(messages) != 1 || messages[0].Interaction != id || messages[0].Text != "done" {
			t.Errorf("shown: %+v", messages)
		}
	}
	if strings.Contains(r.log.String(), "interaction-token") {
		t.Error("the interaction's token is in the log")
	}
	r.fake.AssertNoViolations(t)
}

// TestInteractionOver: when the acknowledgement can be replaced no more, or
// never was one, the answer is an ordinary message.
func TestInteractionOver(t *testing.T) {
	t.Parallel()
	r := newRig(t, fakediscord.Config{})
	c := r.connect(nil).hearing()
	r.fake.Command(r.group, r.alice, "help", "")
	expired := c.next()
	r.fake.ExpireInteractions()
	c.answer(expired, "after the time", "over-1")
	r.fake.LateCommand(r.group, r.alice, "help")
	late := c.next()
	if late.MessageID != "" || late.Command == nil {
		t.Errorf("a late command is %+v", late)
	}
	c.answer(late, "to a late one", "over-2")
	late.MessageID = "i:1:forged"
	c.answer(late, "to a forged one", "over-3")
	for _, message := range r.fake.AwaitMessages(t, r.group, 3) {
		if message.Interaction != "" || message.ReplyTo != "" {
			t.Errorf("shown: %+v", message)
		}
	}
	if strings.Contains(r.log.String(), "interaction-token") {
		t.Error("the interaction's token is in the log")
	}
	r.fake.AssertNoViolations(t)
}

// TestInteractionFault: a failed answer has its kind, and no token in it.
func TestInteractionFault(t *testing.T) {
	t.Parallel()
	r := newRig(t, fakediscord.Config{})
	c := r.connect(nil).hearing()
	r.fake.Command(r.group, r.alice, "help", "")
	event := c.next()
	for _, fault := range []fakediscord.Fault{{Status: 500, Body: "{}"}, {Drop: true}} {
		r.fake.Fail(editRoute, 1, fault)
		_, err := c.Send(t.Context(), adapters.Outgoing{Surface: event.Surface, Text: "x", ReplyTo: event.MessageID, DeliveryID: "fault"})
		if adapters.AsSendError(err).Kind != adapters.SendUnknown {
			t.Errorf("%+v: %v", fault, err)
		}
		if text := fmt.Sprintf("%v %+v %#v", err, err, err); strings.Contains(text, "interaction-token") {
			t.Errorf("the token shows: %s", text)
		}
	}
	c.answer(event, "at last", "fault")
	if messages := r.fake.Messages(r.group); len(messages) != 1 || messages[0].Text != "at last" {
		t.Errorf("shown: %+v", messages)
	}
}

// TestInteractionInTime: the acknowledgement does not wait for the events that
// came before.
func TestInteractionInTime(t *testing.T) {
	t.Parallel()
	r := newRig(t, fakediscord.Config{})
	c := r.connect(func(context.Context, adapters.Event) error { return errors.New("the store is away") }).hearing()
	r.fake.Post(r.group, r.alice, "never taken")
	id := r.fake.Command(r.group, r.alice, "help", "")
	r.fake.AwaitCalls(t, "POST /interactions/{interaction}/{token}/callback", 1)
	if !r.fake.Answered(id) {
		t.Error("not acknowledged")
	}
	_ = c.stop()
	again := r.connect(nil).hearing()
	again.next()
	if event := again.next(); event.Command == nil || event.MessageID == "" {
		t.Errorf("delivered again, the command is %+v", event)
	}
}

// TestButton: a press is an event of the message it is under.
func TestButton(t *testing.T) {
	t.Parallel()
	r := newRig(t, fakediscord.Config{})
	c := r.connect(nil).hearing()
	id := r.fake.Press(r.group, r.alice, "4711", "approve:1")
	event := c.next()
	if event.Kind != adapters.EventButton || event.MessageID != "4711" || event.Text != "approve:1" || event.ID != "i:"+id {
		t.Errorf("the event is %+v", event)
	}
	if !r.fake.Answered(id) {
		t.Error("not acknowledged")
	}
}

// TestCommandMenu: the menu has the commands, and direct ones only there.
func TestCommandMenu(t *testing.T) {
	t.Parallel()
	r := newRig(t, fakediscord.Config{})
	c := r.connect(nil).hearing()
	err := c.RegisterCommands(t.Context(), []adapters.CommandInfo{{Name: "Help", Description: strings.Repeat("ü", 200), Groups: true}, {Name: "new", Description: "x"}})
	menu := r.fake.Commands()
	if err != nil || len(menu) != 2 || menu[0].Name != "help" || len(menu[0].Contexts) != 2 || len(menu[1].Contexts) != 1 {
		t.Errorf("%v: %+v", err, menu)
	}
	if err := c.RegisterCommands(t.Context(), make([]adapters.CommandInfo, 101)); err == nil {
		t.Error("101 commands are accepted")
	}
	r.fake.AssertNoViolations(t)
}

// TestSlowAcknowledgement: while an interaction is being acknowledged, other
// events come in.
func TestSlowAcknowledgement(t *testing.T) {
	t.Parallel()
	r := newRig(t, fakediscord.Config{})
	c := r.connect(nil).hearing()
	r.fake.Fail("POST /interactions/{interaction}/{token}/callback", 1, fakediscord.Fault{Hang: true})
	r.fake.Command(r.group, r.alice, "help", "")
	id := r.fake.Post(r.direct, r.alice, "meanwhile")
	if event := c.next(); event.MessageID != id {
		t.Errorf("%+v", event)
	}
}
