package main

import (
	"context"
	"strconv"
	"sync/atomic"
	"time"

	"parley/adapters"
	"parley/agent"
)

// stubAccount is the account of the stub's surfaces.
const stubAccount = "1"

// What is said in every measurement.
const (
	question = "What is the weather like in Lisbon today, and should I take an umbrella?"
	reply    = "It rains in Lisbon today. Take the umbrella."
)

// stub is a platform in this process that costs nothing: it hands its sink
// over and accepts every message.
type stub struct{ sinks chan adapters.Sink }

var _ adapters.Adapter = stub{}

// Capabilities names the platform it stands for.
func (stub) Capabilities() adapters.Capabilities {
	return adapters.Capabilities{Platform: adapters.Telegram, TextMax: 4096}
}

// Account is stubAccount.
func (stub) Account() string { return stubAccount }

// Run gives the sink away and waits.
func (s stub) Run(ctx context.Context, sink adapters.Sink) error {
	s.sinks <- sink
	<-ctx.Done()
	return nil
}

// Split never splits.
func (stub) Split(text string, _ adapters.Format) []string { return []string{text} }

// Send accepts.
func (stub) Send(context.Context, adapters.Outgoing) (adapters.Receipt, error) {
	return adapters.Receipt{MessageIDs: []string{"1"}}, nil
}

// Health is good.
func (stub) Health() adapters.Health { return adapters.Health{State: adapters.Hearing} }

// instant is a model that answers at once, without a network.
type instant struct{}

// Name implements agent.Model.
func (instant) Name() string { return "instant" }

// Complete implements agent.Model.
func (instant) Complete(_ context.Context, _ agent.Request, onText func(string)) (agent.Answer, error) {
	if onText != nil {
		onText(reply)
	}
	return agent.Answer{Text: reply, Model: "instant", FinishReason: "stop"}, nil
}

// events makes messages, each with an id of its own.
type events struct{ last atomic.Int64 }

// inGroup is a message of one of the people of a group.
func (e *events) inGroup(group int, mentioned bool) adapters.Event {
	event := e.message("-"+strconv.Itoa(group+1), strconv.Itoa(group%10+1))
	event.Title, event.Mentioned = "Travellers", mentioned
	return event
}

// direct is a message of one person to the bot.
func (e *events) direct(person int) adapters.Event {
	id := strconv.Itoa(person + 1)
	event := e.message(id, id)
	event.Direct = true
	return event
}

func (e *events) message(chat, user string) adapters.Event {
	id := e.last.Add(1)
	return adapters.Event{
		Kind: adapters.EventMessage, ID: strconv.FormatInt(id, 10), MessageID: strconv.FormatInt(id, 10), Sequence: id,
		Surface: adapters.Surface{Platform: adapters.Telegram, Account: stubAccount, Chat: chat}, BotName: "parley_bot",
		Sender: adapters.Sender{ID: adapters.NewIdentity(adapters.Telegram, user), Name: "Ann"},
		Text:   question, Time: time.Now(),
	}
}
