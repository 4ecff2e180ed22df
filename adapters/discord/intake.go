package discord

import (
	"context"
	"encoding/json"
	"errors"

	"parley/adapters"
	"parley/internal/pause"
)

// kinds remembers which kinds of event were logged, so that a strange one is
// logged once and not with every event.
type kinds map[string]bool

const kindsMax = 1000

// first reports whether kind is new.
func (k *kinds) first(kind string) bool {
	if (*k)[kind] || len(*k) >= kindsMax {
		return false
	}
	if *k == nil {
		*k = kinds{}
	}
	(*k)[kind] = true
	return true
}

// dispatch takes an event of the session; a non-nil ending ends the connection.
func (s *shard) dispatch(ctx context.Context, c *connection, frame received) *ending {
	if frame.Type == "READY" {
		return s.ready(frame)
	}
	session := s.keep.session()
	if session == nil {
		return &ending{next: nextFresh, reason: errors.New("events came before the session began")}
	}
	if !s.room(ctx, c, session.marks) {
		return &ending{next: nextResume, reason: errBehind}
	}
	if !session.marks.receive(frame.Seq) {
		s.log.Warn("Discord sent an event of the session a second time; it is passed over", "event", frame.Type, "sequence", frame.Seq)
		return nil
	}
	if frame.Type == "RESUMED" {
		s.hearing("the session with Discord goes on")
	}
	s.route(ctx, dispatched{kind: frame.Type, data: frame.Data, session: session.ID, seq: frame.Seq}, session.marks)
	return nil
}

// room waits for a while until the event can be one more of those that wait.
func (s *shard) room(ctx context.Context, c *connection, marks *watermark) bool {
	if waiting, _ := marks.waiting(); waiting < pendingMax {
		return true
	}
	ctx, cancel := context.WithTimeout(ctx, s.a.times.room)
	defer cancel()
	defer c.acked.Store(true) // an acknowledgement may have waited to be read
	return marks.below(ctx, pendingMax-1)
}

func (s *shard) ready(frame received) *ending {
	var ready readyData
	if err := json.Unmarshal(frame.Data, &ready); err != nil || ready.SessionID == "" || !isSocketURL(ready.ResumeURL) {
		return &ending{next: nextFresh, reason: errors.New("a session began without an id or an address")}
	}
	s.keep.keep(&session{ID: ready.SessionID, ResumeURL: ready.ResumeURL, marks: newWatermark(frame.Seq, s.keep.moved)})
	s.hearing("a session with Discord began")
	return nil
}

func (s *shard) hearing(what string) {
	s.report(adapters.Hearing, "")
	s.log.Info(what)
}

// class is what is done with a kind of event.
type class int

const (
	classStrange class = iota
	classTalk          // goes to the sink
	classPlace         // tells of channels and servers
	classRoles         // tells that a server's roles, or who has them, changed
	classNoise         // known, and of no use
)

func classOf(kind string) class {
	switch kind {
	case "MESSAGE_CREATE", "MESSAGE_UPDATE", "MESSAGE_DELETE", "MESSAGE_DELETE_BULK",
		"MESSAGE_REACTION_ADD", "MESSAGE_REACTION_REMOVE", "INTERACTION_CREATE":
		return classTalk
	case "GUILD_CREATE", "GUILD_UPDATE", "CHANNEL_CREATE", "CHANNEL_UPDATE", "CHANNEL_DELETE",
		"THREAD_CREATE", "THREAD_UPDATE", "THREAD_DELETE", "THREAD_LIST_SYNC", "THREAD_MEMBER_UPDATE":
		return classPlace
	case "GUILD_ROLE_CREATE", "GUILD_ROLE_UPDATE", "GUILD_ROLE_DELETE", "GUILD_MEMBER_UPDATE":
		return classRoles
	case "RESUMED", "GUILD_DELETE",
		"THREAD_MEMBERS_UPDATE", "CHANNEL_PINS_UPDATE", "PRESENCE_UPDATE", "TYPING_START",
		"MESSAGE_REACTION_REMOVE_ALL", "MESSAGE_REACTION_REMOVE_EMOJI", "VOICE_STATE_UPDATE", "APPLICATION_COMMAND_PERMISSIONS_UPDATE",
		"STAGE_INSTANCE_CREATE", "STAGE_INSTANCE_UPDATE", "STAGE_INSTANCE_DELETE", "VOICE_CHANNEL_STATUS_UPDATE":
		return classNoise
	}
	return classStrange
}

// route sends an event on its way. It does not block.
func (s *shard) route(ctx context.Context, in dispatched, marks *watermark) {
	switch classOf(in.kind) {
	case classTalk:
		s.queue(ctx, in, marks)
		return
	case classPlace:
		if err := s.a.places.learn(in.kind, in.data, s.a.self().user); err != nil {
			s.dropped(in, err)
		}
	case classRoles:
		var at where
		if json.Unmarshal(in.data, &at) == nil {
			s.a.roles.forget(at.GuildID)
		}
	case classStrange:
		if s.strange.first(in.kind) {
			s.dropped(in, errUnknownKind)
		}
	case classNoise:
	}
	marks.taken(in.seq)
}

// dropped logs an event that goes no further, by its kind and never its content.
func (s *shard) dropped(in dispatched, reason error) {
	if errors.Is(reason, errNoUse) {
		return
	}
	s.log.Warn("an event from Discord is dropped", "event", in.kind, "sequence", in.seq, "reason", reason)
}

// queue puts an event into the lane of its channel. An interaction gets its
// first answer at once, however many events are before it.
func (s *shard) queue(ctx context.Context, in dispatched, marks *watermark) {
	var at where
	if err := json.Unmarshal(in.data, &at); err != nil || !isSnowflake(at.ChannelID) {
		s.dropped(in, errors.Join(errMalformed, err))
		marks.taken(in.seq)
		return
	}
	answered := make(chan string, 1)
	if in.kind == "INTERACTION_CREATE" {
		s.calls.Go(func() { answered <- s.a.acknowledge(ctx, in.data) })
	} else {
		answered <- ""
	}
	s.lanes.Add(at.ChannelID, func(ctx context.Context) {
		around := scene{reference: <-answered}
		if s.take(ctx, in, at, around) {
			marks.taken(in.seq)
		}
	})
}

// take normalizes an event and offers it to the sink until it is taken; false
// when ctx ended before.
func (s *shard) take(ctx context.Context, in dispatched, at where, around scene) bool {
	around.me = s.a.self()
	around.guild = s.a.places.guildName(at.GuildID)
	if !s.locate(ctx, at, &around) {
		return false
	}
	events, err := normalize(in, around)
	if err != nil {
		s.dropped(in, err)
	}
	for _, event := range events {
		if !s.offer(ctx, event) {
			return false
		}
	}
	return true
}

// locate finds the event's channel, and by which roles the bot is named there
// if any are; a direct one needs no asking.
func (s *shard) locate(ctx context.Context, at where, around *scene) bool {
	if at.GuildID == "" {
		return true
	}
	for try := 1; ctx.Err() == nil; try++ {
		var err error
		if around.place, err = s.a.places.find(ctx, at.ChannelID); err == nil && len(at.Roles) > 0 {
			around.roles, err = s.a.roles.of(ctx, at.GuildID)
		}
		if err == nil {
			return true
		}
		if try == 1 {
			s.log.Warn("a channel could not be looked up; its events wait", "channel", at.ChannelID, "error", err)
		}
		pause.For(ctx, s.a.times.offer.After(try))
	}
	return false
}

func (s *shard) offer(ctx context.Context, event adapters.Event) bool {
	for try := 1; ctx.Err() == nil; try++ {
		err := errors.New("no more time")
		s.lanes.Within(ctx, func() { err = s.sink(ctx, event) })
		if err == nil {
			return true
		}
		if try == 1 && ctx.Err() == nil {
			s.log.Warn("an event was not taken in; it is offered again", "surface", event.Surface, "error", err)
		}
		pause.For(ctx, s.a.times.offer.After(try))
	}
	return false
}
