package bot

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"time"

	"parley/adapters"
	"parley/bot/delivery"
	"parley/bot/texts"
	"parley/people"
	"parley/sessions"
)

// announcer says what the gateway says of its own accord.
type announcer struct {
	store  sessions.Store
	outbox *delivery.Outbox
	door   *people.Room // where strangers ask and owners answer
	knocks *knocks
	log    *slog.Logger
}

func newAnnouncer(store sessions.Store, outbox *delivery.Outbox, configured people.Configured, log *slog.Logger) *announcer {
	a := &announcer{store: store, outbox: outbox, knocks: newKnocks(), log: log}
	a.door = &people.Room{Store: store, Configured: configured, Tell: func(ctx context.Context, key string, to people.Request) error {
		return outbox.Say(ctx, key, sessions.DedupeFor, delivery.Text{Surface: to.Surface, Text: texts.LetIn, Format: adapters.Markdown})
	}}
	return a
}

// tell says something on a surface, once per key.
func (a *announcer) tell(ctx context.Context, key string, surface adapters.Surface, text string) error {
	if surface.Platform.Own() {
		return a.record(ctx, key, surface, sessions.Message{Role: sessions.RoleAssistant, Text: text, Decision: "gateway"})
	}
	return a.say(ctx, key, sessions.DedupeFor, surface, text)
}

// say sends something to a surface, once per key and keyFor.
func (a *announcer) say(ctx context.Context, key string, keyFor time.Duration, surface adapters.Surface, text string) error {
	return a.outbox.Say(ctx, key, keyFor, delivery.Text{Surface: surface.Key(), Text: text, Format: adapters.Markdown})
}

// owners are where owners, by the configuration or the store, can be told
// something: where the bot reaches each of them alone.
func (a *announcer) owners(ctx context.Context) ([]adapters.Surface, error) {
	owners, err := a.door.Owners(ctx)
	if err != nil {
		return nil, err
	}
	var out []adapters.Surface
	for _, owner := range owners {
		surface, found, err := a.aloneWith(ctx, adapters.Identity(owner.ID))
		if err != nil {
			return nil, err
		}
		if found && !slices.Contains(out, surface) {
			out = append(out, surface)
		}
	}
	return out, nil
}

// aloneMax is how many of a person's conversations are looked through for a
// place where they are alone with the bot.
const aloneMax = 10

// aloneWith is where the bot reaches a person alone: where they wrote to it
// last, with whatever account of theirs and in whosever conversation that goes
// on; else the place of a conversation in which nobody else takes part.
func (a *announcer) aloneWith(ctx context.Context, identity adapters.Identity) (surface adapters.Surface, found bool, err error) {
	user, err := a.store.Who(ctx, string(identity))
	if err != nil {
		return surface, false, err
	}
	page, err := a.store.Find(ctx, sessions.Query{Participant: user.ID, Limit: aloneMax})
	if err != nil {
		return surface, false, err
	}
	for _, record := range page.Records {
		if surface, found, err = a.wroteFrom(ctx, record, user); err != nil || found {
			return surface, found, err
		}
	}
	for _, record := range page.Records {
		if record.Source.Type != sessions.Direct || len(record.Participants) > 1 {
			continue
		}
		for _, key := range record.Surfaces {
			if surface, found = a.reachable(key); found {
				return surface, true, nil
			}
		}
	}
	return surface, false, nil
}

// wroteFrom is where a person wrote last in a conversation, if it was to the
// bot alone and can be reached. It looks at the end of the log.
func (a *announcer) wroteFrom(ctx context.Context, record sessions.Record, user sessions.User) (adapters.Surface, bool, error) {
	entries, err := a.store.Range(ctx, record.ID, max(record.Seq-sessions.TailMax, record.Cleared)+1, record.Seq)
	if err != nil {
		return adapters.Surface{}, false, err
	}
	for _, line := range slices.Backward(sessions.Lines(entries)) {
		m := line.Message
		if m == nil || m.Group || m.Sender == nil || !slices.Contains(user.Identities, m.Sender.ID) {
			continue
		}
		if surface, ok := a.reachable(m.Surface); ok {
			return surface, true, nil
		}
	}
	return adapters.Surface{}, false, nil
}

// reachable reads a surface's key; false: nothing can be sent there.
func (a *announcer) reachable(key string) (adapters.Surface, bool) {
	surface, err := adapters.ParseSurface(key)
	return surface, err == nil && !surface.Platform.Own() && a.outbox.Connections.Problem(key) == ""
}

// record stores something the bot said of its own accord in the session of
// a surface, once per key. It makes the session if there is none.
func (a *announcer) record(ctx context.Context, key string, surface adapters.Surface, m sessions.Message) error {
	begins, err := a.begins(ctx, surface)
	if err != nil {
		return err
	}
	m.Group = begins.Source.Type == sessions.Group
	_, err = a.store.Post(ctx, sessions.PostRequest{
		Key: key, Surface: surface.Key(), Message: m,
		New: begins,
	})
	if isInvalid(err) {
		a.log.Error("what the bot said of its own accord could not be stored", "surface", surface, "error", err)
		return nil
	}
	return err
}

// begins is what the session of a surface begins with where the bot speaks
// first. What neither the surface's name nor its session tells is taken for a
// group, until a message from there says otherwise.
func (a *announcer) begins(ctx context.Context, surface adapters.Surface) (sessions.NewSession, error) {
	crowd, assumed := surface.Crowd(), false
	if crowd == adapters.CrowdUnknown {
		record, err := a.store.Bound(ctx, surface.Key())
		if err != nil && !errors.Is(err, sessions.ErrNotFound) {
			return sessions.NewSession{}, err
		}
		assumed = err != nil || record.Source.Assumed
		if record.Source.Type == sessions.Direct {
			crowd = adapters.CrowdDirect
		}
	}
	begins := newSession(adapters.Event{Surface: surface, Direct: crowd == adapters.CrowdDirect}, "")
	begins.Source.Assumed = assumed
	return begins, nil
}
