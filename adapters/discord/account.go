package discord

import (
	"context"
	"errors"
	"net/http"

	"github.com/bwmarrin/discordgo"
)

// application is what is read of the bot's own application.
type application struct {
	ID    string `json:"id"`
	Flags int    `json:"flags"`
}

// Flags of an application that let its bot read messages.
const (
	flagMessageContent        = 1 << 18
	flagMessageContentLimited = 1 << 19
)

// readsContent reports whether the message content intent is switched on.
func (app application) readsContent() bool {
	return app.Flags&(flagMessageContent|flagMessageContentLimited) != 0
}

func (a *Adapter) fetchUser(ctx context.Context) (discordgo.User, error) {
	var user discordgo.User
	_, err := a.rest.call(ctx, http.MethodGet, "/users/@me", nil, &user)
	return user, err
}

func (a *Adapter) fetchApplication(ctx context.Context) (application, error) {
	var app application
	_, err := a.rest.call(ctx, http.MethodGet, "/applications/@me", nil, &app)
	return app, err
}

// learn finds out who the bot is, once. An error is an *apiError.
func (a *Adapter) learn(ctx context.Context) error {
	if a.self().user != "" {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, a.times.call)
	defer cancel()
	user, err := a.fetchUser(ctx)
	if err != nil {
		return err
	}
	app, err := a.fetchApplication(ctx)
	if err != nil {
		return err
	}
	if !isSnowflake(user.ID) || !isSnowflake(app.ID) {
		return &apiError{reason: "Discord's answer does not say who the bot is"}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.me = identity{user: user.ID, app: app.ID, name: user.Username}
	return nil
}

// application is the application's id, which is asked for if it is not known.
func (a *Adapter) application(ctx context.Context) (string, *apiError) {
	if err := a.learn(ctx); err != nil {
		failed, _ := errors.AsType[*apiError](err)
		return "", failed
	}
	return a.self().app, nil
}
