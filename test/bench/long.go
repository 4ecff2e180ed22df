package main

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"golang.org/x/sync/errgroup"

	"parley/adapters"
	"parley/sessions"
)

const (
	// shortLog is how many messages a short session has before its turns; with
	// those it stands at about 100 entries.
	shortLog = 70
	// turnsBefore go before those that are measured, in each session, so that
	// the model reads the same amount in all: nothing but turns.
	turnsBefore  = sessions.HistoryMessages/2 + 1
	fillTogether = 64
	longGroup    = 9_000
	shortGroup   = longGroup + 1 // and those that follow
)

// long compares a message, and a turn, of a session with a long log with those
// of sessions with short ones, alternately.
func (r *runner) long(ctx context.Context, b *backend) error {
	return inLab(ctx, b.store, func(l *lab) error {
		if err := fill(ctx, l, longGroup, r.sizes.longLog); err != nil {
			return err
		}
		for i := range r.sizes.shortLogs {
			if err := fill(ctx, l, shortGroup+i, shortLog); err != nil {
				return err
			}
		}
		r.say("  %d messages are there", r.sizes.longLog)
		turn := func(group int) error { return l.turn(ctx, l.inGroup(group, true)) }
		for i := range turnsBefore * (1 + r.sizes.shortLogs) {
			if err := turn(longGroup + i%(1+r.sizes.shortLogs)); err != nil {
				return err
			}
		}
		post := func(group int) error { return l.sink(ctx, l.inGroup(group, false)) }
		for _, c := range []struct {
			measure measure
			one     func(group int) error
		}{{measureLongTurn, turn}, {measureLongPost, post}} {
			f, err := r.compare(b.name, c.measure, c.one)
			if err != nil {
				return err
			}
			r.add(f)
		}
		return nil
	})
}

// compare gives how many times what one costs in a short session it costs in
// the long one.
func (r *runner) compare(name string, m measure, one func(group int) error) (figure, error) {
	var short, long []float64
	for i := range r.sizes.longTries {
		first, err := took(func() error { return one(shortGroup + i%r.sizes.shortLogs) })
		if err != nil {
			return figure{}, err
		}
		second, err := took(func() error { return one(longGroup) })
		if err != nil {
			return figure{}, err
		}
		short, long = append(short, first), append(long, second)
	}
	f := newFigure(name, m, median(long)/median(short), 1)
	f.Note = fmt.Sprintf("%.2f ms, short %.2f ms", median(long), median(short))
	return f, nil
}

// took is how long work took, in milliseconds.
func took(work func() error) (float64, error) {
	began := time.Now()
	err := work()
	return millis(time.Since(began)), err
}

// fill gives a group's session a log of so many messages, straight through the
// store.
func fill(ctx context.Context, l *lab, group, n int) error {
	var workers errgroup.Group
	workers.SetLimit(fillTogether)
	for range n {
		event := l.inGroup(group, false)
		workers.Go(func() error {
			_, err := l.store.Post(ctx, logged(event))
			return err
		})
	}
	return workers.Wait()
}

// logged is how a message that triggers nothing is stored.
func logged(event adapters.Event) sessions.PostRequest {
	surface := event.Surface.Key()
	return sessions.PostRequest{
		Key: "in:" + event.ID, Surface: surface, UserID: string(event.Sender.ID), Rights: "guest",
		New: sessions.NewSession{
			Surface: surface, UserID: string(event.Sender.ID),
			Source: sessions.Source{Kind: "channel", Interactive: true, Platform: string(event.Surface.Platform), Type: sessions.Group},
		},
		Message: sessions.Message{
			Role: sessions.RoleUser, Text: event.Text + " " + strconv.FormatInt(event.Sequence, 10), Surface: surface, MessageID: event.MessageID,
			Sender: &sessions.Sender{ID: string(event.Sender.ID), Name: event.Sender.Name, Role: "guest"},
			Group:  true, Decision: "unmentioned", SentAt: event.Time, Sequence: event.Sequence,
		},
	}
}
