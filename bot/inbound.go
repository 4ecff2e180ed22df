package bot

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"parley/adapters"
	"parley/bot/delivery"
	"parley/bot/life"
	"parley/bot/texts"
	"parley/internal/fault"
	"parley/internal/guard"
	"parley/routing"
	"parley/sessions"
)

// arrival is an event together with what was decided about it.
type arrival struct {
	event    adapters.Event
	user     sessions.User // whose identity the sender's is
	role     routing.Role
	decision routing.Decision
	key      string // dedupe key in the store
	session  string // to this session instead of the surface's; usually empty
	held     string // the session that the surface has to have; usually empty: any
	spoken   bool   // a program speaks for the sender
	limits          // of the program that speaks
	reply    func(text string)
}

// limits are those of a channel's token: whom it names is its program's word.
type limits struct {
	namespace string       // what its commands may name; empty: everything
	most      routing.Role // the most that the sender may do; empty: no limit
}

// takeIn is the adapters' sink: it returns nil when the event is durable or
// was decided to be dropped.
func (b *Bot) takeIn(ctx context.Context, event adapters.Event) error {
	fault.Here(fault.BeforeWrite)
	if event.Kind == adapters.EventMigrate {
		return b.migrate(ctx, event)
	}
	err := guard.Run(b.log, "an event", func() error {
		if event.Kind == adapters.EventLeft {
			return rollOf(b.config).left(ctx, event)
		}
		_, err := b.handle(ctx, arrival{event: event})
		return err
	})
	switch {
	case errors.Is(err, guard.ErrPanic):
		err = b.tripped(ctx, event)
	case isInvalid(err):
		b.log.Error("an event that no store takes was dropped", "surface", event.Surface, "kind", event.Kind, "event", event.ID, "error", err)
		err = nil
	}
	fault.Here(fault.AfterWriteBeforeAck)
	return err
}

// tripped ends an event that set off a fault: it would do so again, and stop
// all that come behind it, so it is dropped. Who may talk to the bot and did so
// alone with it is told.
func (b *Bot) tripped(ctx context.Context, event adapters.Event) error {
	b.log.Error("an event was dropped", "surface", event.Surface, "kind", event.Kind, "event", event.ID)
	if event.Kind != adapters.EventMessage || !event.Direct || b.rank(ctx, event) < routing.Member.Rank() {
		return nil
	}
	return b.outbox.Say(ctx, "broken:"+string(event.Surface.Platform)+":"+event.ID, sessions.DedupeFor, delivery.Text{Surface: event.Surface.Key(), Text: texts.Broken, Format: adapters.Markdown, ReplyTo: event.MessageID})
}

// rank is that of an event's sender, 0 where it cannot be told.
func (b *Bot) rank(ctx context.Context, event adapters.Event) int {
	_, role, err := b.people.Of(ctx, event.Sender)
	if err != nil {
		return 0
	}
	return role.Rank()
}

func (b *Bot) migrate(ctx context.Context, event adapters.Event) error {
	if event.MigratedTo == (adapters.Surface{}) {
		b.log.Warn("a chat moved, but the platform does not say where; dropped", "surface", event.Surface)
		return nil
	}
	return b.moveChat(ctx, event.Surface, event.MigratedTo)
}

func (b *Bot) moveChat(ctx context.Context, old, renamed adapters.Surface) error {
	from, to := old.ChatKey(), renamed.ChatKey()
	if err := b.store.MoveChat(ctx, from, to); err != nil {
		return err
	}
	b.listed.forget(from)
	b.listed.forget(to)
	b.log.Info("a chat has a new id", "surface", from, "to", to)
	return nil
}

// movedWhileSending stores a move that came out with a send.
func (b *Bot) movedWhileSending(ctx context.Context, old, renamed adapters.Surface) {
	call, cancel := life.Bounded(ctx)
	defer cancel()
	if err := b.moveChat(call, old, renamed); err != nil {
		b.log.Error("a chat has a new id, but it could not be stored; it is tried again with the next message", "surface", old, "to", renamed, "error", err)
	}
}

// taken is what became of an arrival.
type taken struct {
	post     sessions.PostResult
	decision routing.Decision
	reply    string // said on a local surface
}

func (b *Bot) handle(ctx context.Context, a arrival) (taken, error) {
	if err := b.decide(ctx, &a); err != nil {
		b.metrics.TakenIn(a.event.Surface.Platform, a.decision.Reason, "", err)
		return taken{}, err
	}
	var out taken
	a.reply = func(text string) { out.reply = text }
	var err error
	switch a.decision.Action {
	case routing.ActionTurn, routing.ActionLog:
		if out.post, err = b.post(ctx, a); err == nil {
			err = b.complete(ctx, a, out.post)
		}
	case routing.ActionCommand:
		out.post, err = b.commands.Run(ctx, a.call())
	case routing.ActionNotice:
		err = b.commands.Refuse(ctx, a.call(), a.decision.Notice)
	}
	out.decision = a.decision
	b.logDecision(ctx, a, out, err)
	return out, err
}

// decide resolves who speaks and where, and asks routing. A store that cannot
// say who somebody is or whether a group is allowed is an error: the event is
// neither let in nor lost.
func (b *Bot) decide(ctx context.Context, a *arrival) error {
	event := a.event
	var err error
	if a.user, a.role, err = b.people.Of(ctx, event.Sender); err != nil {
		return fmt.Errorf("who sent it could not be looked up: %w", err)
	}
	if a.most != "" && a.role.Rank() > a.most.Rank() {
		a.role = a.most
	}
	if err := b.maySpeak(ctx, *a); err != nil {
		return err
	}
	in := routing.Input{Event: event, BotName: event.BotName, Role: a.role, Policy: b.config.Policy}
	if !event.Direct && !event.Surface.Platform.Own() && b.config.Policy.Access.Groups != routing.GroupsAnyone {
		yes, err := b.listed.ask(ctx, event.Surface.ChatKey())
		if err != nil {
			return fmt.Errorf("whether the group is allowed could not be looked up: %w", err)
		}
		in.Listed = yes
	}
	a.decision = routing.Decide(in)
	a.key = keyOf(event)
	if a.decision.ListChat {
		return b.listChat(ctx, event.Surface.ChatKey(), string(event.Sender.ID))
	}
	return nil
}

// maySpeak refuses a program the conversations that the person it speaks for
// takes no part in: sessions.ErrNotFound.
func (b *Bot) maySpeak(ctx context.Context, a arrival) error {
	if !a.spoken {
		return nil
	}
	var record sessions.Record
	var err error
	if a.session != "" {
		record, err = b.store.Get(ctx, a.session)
	} else {
		record, err = b.store.Bound(ctx, a.event.Surface.Key())
	}
	if errors.Is(err, sessions.ErrNotFound) {
		return nil // their message begins it, or finds that itself
	}
	if err != nil {
		return err
	}
	return sessions.MaySpeak(record, a.user, a.role == routing.Owner)
}

// keyOf is an event's dedupe key; empty: it has none. A platform's ids are its
// own for the whole account, but pages and terminals may number what they say
// in each place anew.
func keyOf(event adapters.Event) string {
	if event.ID == "" {
		return ""
	}
	key := "in:" + string(event.Surface.Platform) + ":" + event.Surface.Account + ":"
	if !event.Surface.Platform.Own() {
		return key + event.ID
	}
	sum := sha256.Sum256([]byte(event.Surface.Key() + "\x00" + event.ID))
	return key + hex.EncodeToString(sum[:20])
}

func (b *Bot) listChat(ctx context.Context, chat, by string) error {
	if err := b.store.ListChat(ctx, chat, by); err != nil {
		return err
	}
	b.listed.remember(chat, true)
	b.log.Info("a group was allowed", "chat", chat, "by", by)
	return nil
}

// post stores a message and starts its turn, if it got one.
func (b *Bot) post(ctx context.Context, a arrival) (sessions.PostResult, error) {
	surface := a.event.Surface.Key()
	triggers := a.decision.Action == routing.ActionTurn
	request := sessions.PostRequest{
		Key: a.key, Surface: surface, Session: a.session, Held: a.held,
		New: newSession(a.event, a.user.ID), Message: message(a), UserID: a.user.ID,
		Trigger: triggers, Rights: string(a.role), Alone: b.config.Followup, Anywhere: a.role == routing.Owner,
	}
	if !a.event.Surface.Platform.Own() {
		request.Debounce = b.config.Debounce
	}
	if triggers {
		request.Claim = b.turns.Claimer()
		request.Known = b.turns.Cache.KnownOf(surface)
	}
	if err := b.resolve(ctx, a, request.New); err != nil {
		return sessions.PostResult{}, err
	}
	if err := ctx.Err(); err != nil {
		return sessions.PostResult{}, err
	}
	call, cancel := life.Detached(ctx)
	defer cancel()
	result, err := b.store.Post(call, request)
	switch {
	case errors.Is(err, sessions.ErrQueueFull):
		return result, b.answer(ctx, a, a.key+":full", sessions.DedupeFor, texts.QueueFull)
	case isInvalid(err):
		b.log.Warn("a message could not be stored as it is; its sender is told", "surface", surface, "error", err)
		return result, b.answer(ctx, a, a.key+":invalid", sessions.DedupeFor, texts.TooLarge)
	case err != nil:
		return result, err
	}
	if result.Turn != nil {
		b.merge(call, a, &result.Turn.Record)
		b.turns.Start(result.Turn)
	}
	if result.Outcome == sessions.PostLogged {
		b.checkpoints.Heard(result.Session, request.Message.Group)
	}
	return result, nil
}

// merge brings what the platform says of the place, such as a group's new
// title, into the session that a message reopens. Best effort: the next message
// brings it again.
func (b *Bot) merge(ctx context.Context, a arrival, record *sessions.Record) {
	if len(record.Surfaces) > 0 && record.Surfaces[0] != a.event.Surface.Key() {
		return // of the places that have a conversation, the first one names it
	}
	changed := map[string]any{}
	for key, value := range metadata(a.event) {
		if record.Metadata[key] != value {
			changed[key] = value
		}
	}
	if len(changed) == 0 {
		return
	}
	record.Metadata = sessions.MergeMetadata(record.Metadata, changed)
	if _, err := b.store.Update(ctx, record.ID, sessions.Patch{Metadata: changed}); err != nil {
		b.log.Warn("what a place is called could not be stored", "session", record.ID, "error", err)
	}
}

// resolve gives a direct chat without a session the one that its person goes on
// with, if that is asked for. Whether the chat has one the store says each time:
// it may have lost it since this process saw it, or by another. Places with
// a name have the session of that name.
func (b *Bot) resolve(ctx context.Context, a arrival, begin sessions.NewSession) error {
	if !b.config.Affinity || !a.event.Direct || a.session != "" || a.event.Surface.Platform.Own() {
		return nil
	}
	record, how, err := sessions.Resolve(ctx, b.store, sessions.ResolveRequest{New: begin, Affinity: sessions.NewestDirect(b.store)})
	if err == nil && how == sessions.ResolvedAffinity {
		b.log.Info("a chat goes on with its person's conversation", "surface", begin.Surface, "session", record.ID)
	}
	return err
}

func isInvalid(err error) bool {
	_, invalid := errors.AsType[*sessions.InvalidError](err)
	return invalid
}

// message is the event as the log keeps it: raw.
func message(a arrival) sessions.Message {
	event := a.event
	m := sessions.Message{
		Role: sessions.RoleUser, Text: event.Text,
		Sender:  &sessions.Sender{ID: string(event.Sender.ID), Name: event.Sender.Name, Role: string(a.role)},
		Surface: event.Surface.Key(), MessageID: event.MessageID, ReplyTo: event.ReplyTo,
		Group: !event.Direct, Directed: a.decision.Directed,
		Triggered: a.decision.Action == routing.ActionTurn, Decision: string(a.decision.Reason),
		SentAt: event.Time, Sequence: event.Sequence,
	}
	if event.Forwarded != nil {
		m.Forwarded = &sessions.Forward{From: event.Forwarded.From, Time: event.Forwarded.Time}
	}
	m.Via = event.Via
	for _, file := range event.Attachments {
		m.Attachments = append(m.Attachments, sessions.Attachment(file))
	}
	return m
}

// answer says one line to whoever caused an event: through the outbox, or
// straight back on a local surface.
func (b *Bot) answer(ctx context.Context, a arrival, key string, keyFor time.Duration, text string) error {
	if a.event.Surface.Platform.Own() {
		a.reply(text)
		return nil
	}
	return b.outbox.Say(ctx, key, keyFor, delivery.Text{Surface: a.event.Surface.Key(), Text: text, Format: adapters.Markdown, ReplyTo: a.event.MessageID})
}

func (b *Bot) logDecision(ctx context.Context, a arrival, out taken, err error) {
	b.metrics.TakenIn(a.event.Surface.Platform, a.decision.Reason, out.post.Outcome, err)
	level := levelOf(a.decision)
	if err != nil {
		level = slog.LevelError
	}
	if !b.log.Enabled(ctx, level) {
		return
	}
	attrs := []slog.Attr{
		slog.String("surface", a.event.Surface.Key()), slog.String("kind", string(a.event.Kind)),
		slog.String("action", string(a.decision.Action)), slog.String("reason", string(a.decision.Reason)),
	}
	if out.post.Session != "" {
		attrs = append(attrs, slog.String("session", out.post.Session), slog.String("outcome", string(out.post.Outcome)))
	}
	if b.config.LogText && !b.secret(a) {
		attrs = append(attrs, slog.String("text", a.event.Text))
	}
	message := "event"
	if err != nil {
		message = "an event could not be taken in; it is not acknowledged"
		attrs = append(attrs, slog.Any("error", err))
	}
	b.log.LogAttrs(ctx, level, message, attrs...)
}

// secret: what was written must not be kept anywhere.
func (b *Bot) secret(a arrival) bool {
	command, _ := routing.ParseCommand(a.event, a.event.BotName)
	return command != nil && b.commands.Secret(command.Name)
}

func levelOf(decision routing.Decision) slog.Level {
	if decision.Action == routing.ActionLog || decision.Action == routing.ActionDrop {
		return slog.LevelDebug
	}
	return slog.LevelInfo
}
