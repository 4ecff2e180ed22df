package commands

import (
	"context"
	"errors"
	"strings"
	"time"

	"parley/adapters"
	"parley/bot/texts"
	"parley/routing"
	"parley/sessions"
)

// pair is what an owner does about those who ask to be let in.
func (c *Commands) pair(ctx context.Context, call Call) (Answer, error) {
	if !call.Alone() {
		return say(texts.PeopleAlone)
	}
	verb, who, _ := strings.Cut(strings.TrimSpace(call.Command.Args), " ")
	switch verb = strings.ToLower(verb); {
	case verb == "" || verb == "list":
		waiting, err := c.People.Waiting(ctx)
		if err != nil {
			return Answer{}, err
		}
		return say(texts.Requests(waiting, time.Now()))
	case verb == "allow" && who != "":
		return c.give(ctx, call, who, routing.Member)
	case verb == "block" && who != "":
		return c.give(ctx, call, who, routing.Blocked)
	}
	return say(texts.PairUsage)
}

// people shows an owner who may talk to the bot, and changes it.
func (c *Commands) people(ctx context.Context, call Call) (Answer, error) {
	if !call.Alone() {
		return say(texts.PeopleAlone)
	}
	args := strings.Fields(call.Command.Args)
	switch {
	case len(args) == 0 || len(args) == 1 && strings.EqualFold(args[0], "list"):
		return c.listPeople(ctx)
	case len(args) == 3 && strings.EqualFold(args[0], "role"):
		return c.give(ctx, call, args[1], routing.Role(strings.ToLower(args[2])))
	case len(args) != 2:
		return say(texts.PeopleUsage)
	}
	role, known := map[string]routing.Role{"allow": routing.Member, "block": routing.Blocked, "remove": ""}[strings.ToLower(args[0])]
	if !known {
		return say(texts.PeopleUsage)
	}
	return c.give(ctx, call, args[1], role)
}

func (c *Commands) listPeople(ctx context.Context) (Answer, error) {
	list, _, err := c.People.List(ctx)
	if err != nil {
		return Answer{}, err
	}
	waiting, err := c.People.Waiting(ctx)
	if err != nil {
		return Answer{}, err
	}
	return say(texts.People(list, len(waiting)))
}

// give gives somebody a role, in the name of whoever commands it.
func (c *Commands) give(ctx context.Context, call Call, who string, role routing.Role) (Answer, error) {
	person, err := c.People.Give(ctx, string(call.Event.Sender.ID), who, role)
	if text := texts.NotGiven(err); text != "" {
		return say(text)
	}
	if err != nil {
		return Answer{}, err
	}
	c.Linked(person.Identities...)
	c.Log.Info("somebody was given a role", "user", person.ID, "role", person.Role, "by", call.Event.Sender.ID)
	return say(texts.Given(person))
}

// strangerText is the one line to somebody who is not known: the owners are
// asked first, so that it can say so.
func (c *Commands) strangerText(ctx context.Context, call Call) (string, error) {
	if !call.Event.Direct || call.Event.Surface.Platform.Own() {
		return texts.Stranger(call.Event.Sender.ID, texts.Knocked{}), nil
	}
	knocked, err := c.Knock(ctx, call.Event)
	return texts.Stranger(call.Event.Sender.ID, knocked), err
}

// ofOne is what to write instead where /allow names the chat of one person;
// empty: it is none, as far as is known.
func (c *Commands) ofOne(ctx context.Context, chat adapters.Surface) (string, error) {
	waiting, err := c.People.Waiting(ctx)
	if err != nil {
		return "", err
	}
	for _, request := range waiting {
		if surface, err := adapters.ParseSurface(request.Surface); err == nil && surface.ChatKey() == chat.ChatKey() {
			return texts.AllowPerson(request.Code), nil
		}
	}
	record, err := c.Store.Bound(ctx, chat.ChatKey())
	if err == nil && record.Source.Type == sessions.Direct {
		return texts.AllowPerson(""), nil
	}
	if errors.Is(err, sessions.ErrNotFound) {
		err = nil
	}
	return "", err
}
