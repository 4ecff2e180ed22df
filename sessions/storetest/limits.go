package storetest

import (
	"encoding/json"
	"strings"
	"time"

	"parley/sessions"
)

func limitTests() []test {
	return []test{
		{"ids that cannot be are refused everywhere", limitIDs},
		{"new ids can be shown", limitNewIDs},
		{"a session needs a place of its own", limitSessions},
		{"long keys are refused", limitKeys},
		{"payloads are bounded and JSON", limitPayloads},
		{"the largest payload goes through", limitLargest},
		{"metadata is bounded, merged too", limitMetadata},
		{"calls are bounded", limitCalls},
		{"claims need an owner and a time", limitClaimers},
		{"words that do not exist are refused", limitWords},
		{"a refused call changes nothing", limitNothing},
	}
}

// badIDs are no session ids.
func badIDs() []string {
	return []string{"", "a b", "a\nb", "a\x00b", "a\x7fb", "a{b}", "a/b", "a\xffb", strings.Repeat("x", sessions.IDMax+1), strings.Repeat("x", 10<<10)}
}

// limitNewIDs refuses ids that could not be shown as they are.
func limitNewIDs(tr *trial) {
	for _, odd := range []string{"api:a\u009bb", "api:a\u202eb", "api:a\u2066b", "api:a\u2028b", "api:a\u00a0b"} {
		_, _, err := tr.store.Open(tr.ctx, sessions.NewSession{ID: odd})
		tr.wantInvalid(err)
		surface := strings.Replace(odd, ":", ":local:", 1)
		_, err = tr.store.Post(tr.ctx, sessions.PostRequest{Surface: surface, Message: sessions.Message{Role: sessions.RoleUser, Text: "x"}})
		tr.wantInvalid(err)
		tr.imported(chatRecord(odd), chat()...) // as one that was there before
		equal(tr, "id", tr.get(odd).ID, odd)
	}
}

// badKeys cannot name anything.
func badKeys() []string {
	return []string{"", "a\xffb", strings.Repeat("k", sessions.KeyMax+1), strings.Repeat("k", 10<<10)}
}

func limitIDs(tr *trial) {
	for _, id := range badIDs() {
		_, err := tr.store.Claim(tr.ctx, sessions.ClaimRequest{Session: id, Claimer: worker("w1")})
		tr.wantInvalid(err)
		_, err = tr.store.Get(tr.ctx, id)
		tr.wantInvalid(err)
		_, err = tr.store.Update(tr.ctx, id, sessions.Patch{})
		tr.wantInvalid(err)
		_, err = tr.store.Range(tr.ctx, id, 1, 2)
		tr.wantInvalid(err)
		_, err = tr.store.Stop(tr.ctx, id)
		tr.wantInvalid(err)
		_, err = tr.store.Append(tr.ctx, sessions.Lease{Session: id}, nil)
		tr.wantInvalid(err)
		_, _, err = tr.store.Again(tr.ctx, sessions.AgainRequest{Session: id})
		tr.wantInvalid(err)
		_, _, err = tr.store.Open(tr.ctx, sessions.NewSession{ID: id})
		tr.wantInvalid(err)
		if id != "" {
			r := tr.said("x")
			r.Session = id
			_, err = tr.store.Post(tr.ctx, r)
			tr.wantInvalid(err)
		}
	}
}

func limitSessions(tr *trial) {
	for _, n := range []sessions.NewSession{
		{}, {ID: "telegram:mine", Surface: surface}, {ID: "cli:a", Surface: "cli:local:b"}, {Surface: "cli:local:a b"},
	} {
		_, _, err := tr.store.Open(tr.ctx, n)
		tr.wantInvalid(err)
		_, err = tr.store.Rotate(tr.ctx, sessions.RotateRequest{New: n})
		tr.wantInvalid(err)
	}
	_, err := tr.store.Rotate(tr.ctx, sessions.RotateRequest{New: sessions.NewSession{ID: "telegram:mine"}})
	tr.wantInvalid(err)
	_, err = tr.store.Rotate(tr.ctx, sessions.RotateRequest{New: sessions.NewSession{Surface: surface}, Deliveries: []sessions.NewDelivery{row(other, "x")}})
	tr.wantInvalid(err)
	r := tr.said("x")
	r.Surface = ""
	_, err = tr.store.Post(tr.ctx, r)
	tr.wantInvalid(err)
}

func limitKeys(tr *trial) {
	long := strings.Repeat("k", sessions.KeyMax+1)
	for _, change := range []func(*sessions.PostRequest){
		func(r *sessions.PostRequest) { r.Key = long }, func(r *sessions.PostRequest) { r.Surface = long },
		func(r *sessions.PostRequest) { r.UserID = long }, func(r *sessions.PostRequest) { r.Rights = long },
		func(r *sessions.PostRequest) { r.New.UserID = long }, func(r *sessions.PostRequest) { r.Claim = &sessions.Claimer{Owner: long, For: lease} },
	} {
		r := tr.said("x")
		change(&r)
		_, err := tr.store.Post(tr.ctx, r)
		tr.wantInvalid(err)
	}
	for _, name := range []string{"", long} {
		tr.wantInvalid(tr.store.SetTimer(tr.ctx, sessions.Timer{Home: "h", Name: name}, 0))
		tr.wantInvalid(tr.store.SetTimer(tr.ctx, sessions.Timer{Home: name, Name: "t"}, 0))
		_, err := tr.store.Fire(tr.ctx, name, "t", worker("w1"))
		tr.wantInvalid(err)
		_, err = tr.store.Lock(tr.ctx, name, worker("w1"))
		tr.wantInvalid(err)
		tr.wantInvalid(tr.store.ListChat(tr.ctx, name, "u"))
		tr.wantInvalid(tr.store.MoveChat(tr.ctx, surface, name))
		_, err = tr.store.ChatListed(tr.ctx, name)
		tr.wantInvalid(err)
		_, err = tr.store.Bound(tr.ctx, name)
		tr.wantInvalid(err)
	}
	tr.wantInvalid(tr.store.SetTimer(tr.ctx, sessions.Timer{Home: "h", Name: "t"}, -time.Second))
	exact := tr.said("x")
	exact.Key, exact.Surface = strings.Repeat("k", sessions.KeyMax), "telegram:"+strings.Repeat("s", sessions.KeyMax-9)
	tr.say(exact, sessions.PostQueued)
	tr.say(exact, sessions.PostDuplicate)
}

func limitPayloads(tr *trial) {
	turn := tr.begin("q")
	long := json.RawMessage(`{"x":"` + strings.Repeat("y", sessions.PayloadMax) + `"}`)
	for _, payload := range []json.RawMessage{long, {}, json.RawMessage(`{`), json.RawMessage(`[]`), json.RawMessage(`"x"`), json.RawMessage(`{} {}`), json.RawMessage("{\xff")} {
		_, err := tr.store.Append(tr.ctx, turn.Lease, []sessions.NewEntry{{Type: sessions.EntryCustomInfo, Payload: payload}})
		tr.wantInvalid(err)
	}
	for _, payload := range []json.RawMessage{long, nil, json.RawMessage(`{`)} {
		rows := []sessions.NewDelivery{{Surface: surface, Payload: payload, Entry: -1}}
		_, err := tr.store.Enqueue(tr.ctx, sessions.EnqueueRequest{Deliveries: rows})
		tr.wantInvalid(err)
		_, err = tr.store.Commit(tr.ctx, sessions.CommitRequest{Lease: turn.Lease, Outcome: sessions.Done, Deliveries: rows})
		tr.wantInvalid(err)
	}
	tr.wantInvalid(tr.store.SetTimer(tr.ctx, sessions.Timer{Home: "h", Name: "t", Payload: long}, 0))
	r := tr.said(strings.Repeat("y", sessions.PayloadMax))
	_, err := tr.store.Post(tr.ctx, r)
	tr.wantInvalid(err)
	l := tr.lock("l", "w1")
	tr.wantInvalid(tr.store.SaveLock(tr.ctx, l, strings.Repeat("x", sessions.MetadataMax+1), 0))
	tr.wantInvalid(tr.store.SaveLock(tr.ctx, l, "x", -1))
	tr.done(turn, "a")
}

func limitLargest(tr *trial) {
	text := strings.Repeat("z", sessions.PayloadMax-1000)
	turn := tr.begin(text)
	tr.wantTaken(turn, text)
	payload := json.RawMessage(`{"text":"` + text + `"}`)
	result := tr.commit(sessions.CommitRequest{
		Lease: turn.Lease, Outcome: sessions.Done, Entries: tr.answers(text), Send: claimer("w1"),
		Deliveries: []sessions.NewDelivery{{Surface: surface, Payload: payload, Entry: 0}},
	})
	equal(tr, "row", rowText(result.Sends[0]), text)
	tr.wantBranch(turn.Lease.Session, text, text)
	tr.do(tr.store.SetTimer(tr.ctx, sessions.Timer{Home: "h", Name: "t", Payload: payload}, 0))
	equal(tr, "timer", string(tr.fire("h", "t").Payload), string(payload))
}

func limitMetadata(tr *trial) {
	id := tr.post(tr.heard("x")).Session
	half := strings.Repeat("m", sessions.MetadataMax*2/3)
	_, err := tr.store.Update(tr.ctx, id, sessions.Patch{Metadata: map[string]any{"a": half + half}})
	tr.wantInvalid(err)
	must(tr.store.Update(tr.ctx, id, sessions.Patch{Metadata: map[string]any{"a": half}}))(tr)
	_, err = tr.store.Update(tr.ctx, id, sessions.Patch{Name: new("no"), Metadata: map[string]any{"b": half}})
	tr.wantInvalid(err)
	_, _, err = tr.store.Open(tr.ctx, sessions.NewSession{Surface: surface, Metadata: map[string]any{"b": half}})
	tr.wantInvalid(err)
	r := tr.get(id)
	tr.check(r.Name == "" && len(r.Metadata) == 1, "half applied: name %q, %d keys", r.Name, len(r.Metadata))
	_, _, err = tr.store.Open(tr.ctx, sessions.NewSession{ID: "cli:x", Metadata: map[string]any{"f": func() {}}})
	tr.wantInvalid(err)
	must(tr.store.Update(tr.ctx, id, sessions.Patch{Metadata: map[string]any{"a": nil, "b": half}}))(tr)
}

func limitCalls(tr *trial) {
	turn := tr.begin("q")
	many := make([]sessions.NewEntry, sessions.EntriesPerCall+1)
	for i := range many {
		many[i] = sessions.NewEntry{Type: sessions.EntryTurn}
	}
	_, err := tr.store.Append(tr.ctx, turn.Lease, many)
	tr.wantInvalid(err)
	equal(tr, "as many as fit", len(must(tr.store.Append(tr.ctx, turn.Lease, many[1:]))(tr)), sessions.EntriesPerCall)
	_, err = tr.store.Renew(tr.ctx, make([]sessions.Lease, sessions.EntriesPerCall+1), lease)
	tr.wantInvalid(err)
	for _, limit := range []int{0, -1, sessions.ListMax + 1} {
		_, err = tr.store.Due(tr.ctx, limit)
		tr.wantInvalid(err)
		_, err = tr.store.DeadLetters(tr.ctx, limit)
		tr.wantInvalid(err)
	}
	_, err = tr.store.Enqueue(tr.ctx, sessions.EnqueueRequest{})
	tr.wantInvalid(err)
	_, err = tr.store.Enqueue(tr.ctx, sessions.EnqueueRequest{Deliveries: []sessions.NewDelivery{row(surface, "a"), row(other, "b")}})
	tr.wantInvalid(err)
}

func limitClaimers(tr *trial) {
	id := tr.say(tr.said("q"), sessions.PostQueued).Session
	lane := func() string { tr.enqueue(nil, surface, "x"); return tr.lane() }()
	for _, c := range []sessions.Claimer{{Owner: "w1"}, {For: lease}, {Owner: "w1", For: -lease}, {Owner: strings.Repeat("w", sessions.KeyMax+1), For: lease}} {
		_, err := tr.store.Claim(tr.ctx, sessions.ClaimRequest{Session: id, Claimer: c})
		tr.wantInvalid(err)
		_, err = tr.store.Take(tr.ctx, lane, c)
		tr.wantInvalid(err)
		_, err = tr.store.Fire(tr.ctx, "h", "t", c)
		tr.wantInvalid(err)
		_, err = tr.store.Lock(tr.ctx, "l", c)
		tr.wantInvalid(err)
		r := tr.said("x")
		r.Claim = &c
		_, err = tr.store.Post(tr.ctx, r)
		tr.wantInvalid(err)
	}
	turn := tr.claim(id, "w1")
	_, err := tr.store.Renew(tr.ctx, []sessions.Lease{turn.Lease}, 0)
	tr.wantInvalid(err)
}

func limitWords(tr *trial) {
	turn := tr.begin("q")
	for _, r := range []sessions.CommitRequest{
		{Outcome: ""}, {Outcome: "other"}, {Outcome: sessions.Again, After: -time.Second},
		{Outcome: sessions.Done, Entries: []sessions.NewEntry{{Type: "other"}}},
		{Outcome: sessions.Done, Entries: []sessions.NewEntry{{Type: sessions.EntryMessage, Target: 1}}},
		{Outcome: sessions.Done, Entries: []sessions.NewEntry{{Type: sessions.EntryLeaf, Target: -1}}},
		{Outcome: sessions.Done, Deliveries: []sessions.NewDelivery{{Surface: surface, Payload: json.RawMessage(`{}`), Entry: 0}}},
		{Outcome: sessions.Done, Deliveries: []sessions.NewDelivery{{Surface: "", Payload: json.RawMessage(`{}`), Entry: -1}}},
		{Outcome: sessions.Done, Patch: sessions.Patch{Description: &sessions.Description{Text: "x", Source: "other"}}},
	} {
		r.Lease = turn.Lease
		_, err := tr.store.Commit(tr.ctx, r)
		tr.wantInvalid(err)
	}
	d := tr.enqueue(claimer("w1"), surface, "x")[0]
	for _, state := range []sessions.DeliveryState{"", "other", sessions.DeliverySending} {
		_, err := tr.store.Settle(tr.ctx, sessions.Settlement{Delivery: d, State: state}, worker("w1"))
		tr.wantInvalid(err)
	}
	r := tr.said("x")
	r.Debounce = -time.Second
	_, err := tr.store.Post(tr.ctx, r)
	tr.wantInvalid(err)
	r = tr.said("x")
	r.Message.Role = ""
	_, err = tr.store.Post(tr.ctx, r)
	tr.wantInvalid(err)
}

func limitNothing(tr *trial) {
	turn := tr.begin("q")
	before := tr.get(turn.Lease.Session)
	_, err := tr.store.Commit(tr.ctx, sessions.CommitRequest{
		Lease: turn.Lease, Outcome: sessions.Done, Entries: tr.answers("a"), Deliveries: []sessions.NewDelivery{row(surface, "a")},
		Patch: sessions.Patch{Metadata: map[string]any{"x": strings.Repeat("x", sessions.MetadataMax)}},
	})
	tr.wantInvalid(err)
	after := tr.get(turn.Lease.Session)
	tr.check(after.Version == before.Version && after.Seq == before.Seq && after.Status == sessions.StatusRunning, "record %+v", after)
	equal(tr, "lanes due", len(tr.due(sessions.WorkLane)), 0)
	tr.done(turn, "a")
}
