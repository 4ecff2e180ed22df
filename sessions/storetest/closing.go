package storetest

import (
	"context"
	"errors"

	"parley/sessions"
)

func closingTests() []test {
	return []test{
		{"a closed store says so", closedSaysSo},
		{"closing ends every subscription", closedSubscriptions},
		{"closing while others write loses nothing acknowledged", closedUnderLoad},
		{"a call whose context is over does not hang", contextOver},
	}
}

func closedSaysSo(tr *trial) {
	id := tr.post(tr.heard("x")).Session
	tr.do(tr.store.Close())
	tr.do(tr.store.Close())
	_, err := tr.store.Post(tr.ctx, tr.heard("y"))
	tr.wantErr(err, sessions.ErrClosed)
	_, err = tr.store.Get(tr.ctx, id)
	tr.wantErr(err, sessions.ErrClosed)
	_, err = tr.store.Due(tr.ctx, 1)
	tr.wantErr(err, sessions.ErrClosed)
	_, err = tr.store.Watch(tr.ctx, id)
	tr.wantErr(err, sessions.ErrClosed)
	_, err = tr.store.Wakes(tr.ctx)
	tr.wantErr(err, sessions.ErrClosed)
	tr.wantErr(tr.store.Ping(tr.ctx), sessions.ErrClosed)
}

func closedSubscriptions(tr *trial) {
	events := tr.watch("telegram:x")
	wakes := must(tr.store.Wakes(tr.ctx))(tr)
	tr.do(tr.store.Close())
	wantEnd(tr, events)
	wantEnd(tr, wakes)
}

func closedUnderLoad(tr *trial) {
	if tr.opened.Reopen == nil {
		tr.Skip("this backend cannot be opened anew")
	}
	acknowledged := make([]int, 8)
	tr.together(len(acknowledged)+1, func(i int) error {
		if i == len(acknowledged) {
			return tr.store.Close()
		}
		for {
			_, err := tr.store.Post(tr.ctx, sessions.PostRequest{Surface: surface, Message: sessions.Message{Role: sessions.RoleUser, Text: "x"}})
			if errors.Is(err, sessions.ErrClosed) {
				return nil
			}
			if err != nil {
				return err
			}
			acknowledged[i]++
		}
	})
	total := 0
	for _, n := range acknowledged {
		total += n
	}
	tr.reopen()
	record, err := tr.store.Bound(tr.ctx, surface)
	tr.check(int(record.Seq) == total || (total == 0 && errors.Is(err, sessions.ErrNotFound)), "%d acknowledged, %d stored (%v)", total, record.Seq, err)
}

func contextOver(tr *trial) {
	ctx, cancel := context.WithCancel(tr.ctx)
	cancel()
	_, err := tr.store.Post(ctx, tr.heard("x"))
	tr.wantErr(err, context.Canceled)
	_, err = tr.store.Get(ctx, "telegram:x")
	tr.wantErr(err, context.Canceled)
	_, err = tr.store.Due(ctx, 10)
	tr.wantErr(err, context.Canceled)
}
