package telegram_test

import (
	"context"
	"log/slog"
	"testing"

	"parley/adapters"
	"parley/adapters/telegram"
	"parley/internal/secret"
	"parley/test/faketelegram"
)

// BenchmarkEcho is the raw limit of the platform side: every message is taken
// without a store and answered at once.
func BenchmarkEcho(b *testing.B) {
	server := faketelegram.Start(faketelegram.Options{ReadAllGroupMessages: true, KeepCalls: 100})
	defer server.Close()
	adapter, err := telegram.New(telegram.Config{Token: secret.New(server.Token()), APIURL: server.URL(), Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		b.Fatal(err)
	}
	const chats = 200
	users := make([]*faketelegram.User, chats)
	for i := range users {
		users[i] = server.User(int64(i+1), "P", "")
		users[i].DM()
	}
	ctx, cancel := context.WithCancel(b.Context())
	done, ended := make(chan struct{}, chats), make(chan error, 1)
	go func() {
		ended <- adapter.Run(ctx, func(ctx context.Context, event adapters.Event) error {
			_, err := adapter.Send(ctx, adapters.Outgoing{Surface: event.Surface, Text: event.Text})
			done <- struct{}{}
			return err
		})
	}()
	b.ResetTimer()
	go func() {
		for i := range b.N {
			users[i%chats].Send(users[i%chats].ID, "hello **there**")
		}
	}()
	for range b.N {
		<-done
	}
	b.StopTimer()
	cancel()
	<-ended
}
