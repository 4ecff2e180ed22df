package conversations_test

import (
	"bytes"
	"context"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"parley/conversations"
	"parley/sessions"
	"parley/sqlitestore"
)

var owner = conversations.Owner("test")

func open(t *testing.T) *conversations.Room {
	t.Helper()
	store, err := sqlitestore.Open(t.Context(), sqlitestore.Config{Path: sqlitestore.Memory})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	return &conversations.Room{Store: store}
}

func storeOf(r *conversations.Room) sessions.Store { return r.Store.(sessions.Store) }

// say posts a message of a person and gives the turn that it began, which is
// open.
func say(t *testing.T, r *conversations.Room, id, text string) *sessions.Turn {
	t.Helper()
	result, err := storeOf(r).Post(t.Context(), sessions.PostRequest{Session: id, Surface: "api:local:x", Trigger: true, UserID: "api:owner",
		Message: sessions.Message{Role: sessions.RoleUser, Text: text}, Claim: &sessions.Claimer{Owner: "test", For: time.Minute}})
	if err != nil {
		t.Fatal(err)
	}
	return result.Turn
}

// answer ends a turn.
func answer(t *testing.T, r *conversations.Room, turn *sessions.Turn) {
	t.Helper()
	entry, err := sessions.NewMessage(sessions.Message{Role: sessions.RoleAssistant, Text: "an answer"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := storeOf(r).Commit(t.Context(), sessions.CommitRequest{Lease: turn.Lease, Outcome: sessions.Done, Entries: []sessions.NewEntry{entry}}); err != nil {
		t.Fatal(err)
	}
}

// talked opens a session in which one question was answered.
func talked(t *testing.T, r *conversations.Room, opening sessions.NewSession) string {
	t.Helper()
	if opening.Source.Type == "" {
		opening.Source = sessions.Source{Kind: "api", Platform: "api", Type: sessions.Direct}
	}
	if _, _, err := storeOf(r).Open(t.Context(), opening); err != nil {
		t.Fatal(err)
	}
	answer(t, r, say(t, r, opening.ID, "a question"))
	return opening.ID
}

func wants(t *testing.T, what string, err error, code conversations.Code) {
	t.Helper()
	if got := conversations.CodeOf(err); err == nil || got != code {
		t.Errorf("%s: %q (%v), want %q", what, got, err, code)
	}
}

func fine(t *testing.T, what string, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
}

func TestANameIsOneLineThatShows(t *testing.T) {
	t.Parallel()
	r := open(t)
	id := talked(t, r, sessions.NewSession{ID: "api:a"})
	for _, name := range []string{"two\nlines", "next\u0085line", "a\u2028b", "turned\u202eround", "\x1b[31m", strings.Repeat("ä", conversations.NameMax+1), "\xff"} {
		_, err := r.Name(t.Context(), owner, id, name, "")
		wants(t, "name "+name, err, conversations.Invalid)
		_, err = r.Open(t.Context(), owner, sessions.NewSession{ID: "api:b", Name: name}, "", "")
		wants(t, "open "+name, err, conversations.Invalid)
		_, err = r.Fork(t.Context(), owner, id, conversations.ForkRequest{Name: name}, "")
		wants(t, "fork "+name, err, conversations.Invalid)
		_, err = r.Patch(t.Context(), owner, id, sessions.Patch{Name: &name}, "")
		wants(t, "patch "+name, err, conversations.Invalid)
	}
	longest := strings.Repeat("ä", conversations.NameMax)
	result, err := r.Name(t.Context(), owner, id, longest, "k")
	fine(t, "name", err)
	if result.Record.Name != longest || len(result.Entries) != 1 || result.Before.Name != "" {
		t.Errorf("named: %+v", result)
	}
	if result, err = r.Name(t.Context(), owner, id, longest, "k"); err != nil || !result.Duplicate {
		t.Errorf("the same key again: %+v %v", result, err)
	}
}

func TestWhoMayReachWhat(t *testing.T) {
	t.Parallel()
	r := open(t)
	direct := talked(t, r, sessions.NewSession{ID: "matrix:a", UserID: "matrix:ann"})
	group := talked(t, r, sessions.NewSession{ID: "matrix:g", UserID: "matrix:ann", Source: sessions.Source{Type: sessions.Group}})
	person := func(id string) conversations.Caller {
		return conversations.Caller{Caller: sessions.Caller{User: sessions.User{ID: id}}}
	}
	bridge := conversations.Caller{Caller: sessions.Caller{Namespace: "matrix"}}
	other := conversations.Caller{Caller: sessions.Caller{Namespace: "matri"}}
	for name, by := range map[string]conversations.Caller{"nobody": {}, "a stranger": person("matrix:mal"), "another token": other} {
		_, err := r.Name(t.Context(), by, direct, "x", "")
		wants(t, name, err, conversations.NotFound)
	}
	for name, by := range map[string]conversations.Caller{"an owner": owner, "who takes part": person("matrix:ann"), "the token": bridge} {
		_, err := r.Name(t.Context(), by, direct, name, "")
		fine(t, name, err)
	}
	_, err := r.Clear(t.Context(), person("matrix:ann"), group, "")
	wants(t, "a member clears a group's", err, conversations.Forbidden)
	_, err = r.Fork(t.Context(), person("matrix:ann"), group, conversations.ForkRequest{}, "")
	fine(t, "a member copies a group's", err)
	_, err = r.Attach(t.Context(), bridge, direct, conversations.There("telegram:1:2"))
	wants(t, "a foreign surface", err, conversations.Forbidden)
}

func TestWhoSpeaksSomewhereReachesWhatIsHeldThere(t *testing.T) {
	t.Parallel()
	r := open(t)
	id := talked(t, r, sessions.NewSession{ID: "api:a"})
	_, err := r.Attach(t.Context(), owner, id, conversations.There("web:local:page"))
	fine(t, "attach", err)
	by := conversations.Caller{Caller: sessions.Caller{User: sessions.User{ID: "web:somebody"}}, At: "web:local:page"}
	_, err = r.Name(t.Context(), by, id, "mine", "")
	fine(t, "name", err)
	by.At = "web:local:other"
	_, err = r.Name(t.Context(), by, id, "mine", "")
	wants(t, "from elsewhere", err, conversations.NotFound)
}

func TestTheTreeDoesNotMoveWhileATurnRuns(t *testing.T) {
	t.Parallel()
	r := open(t)
	id := talked(t, r, sessions.NewSession{ID: "api:a"})
	turn := say(t, r, id, "another")
	_, err := r.Branch(t.Context(), owner, id, 1, "", "")
	wants(t, "branch", err, conversations.Running)
	_, err = r.Fork(t.Context(), owner, id, conversations.ForkRequest{}, "")
	wants(t, "fork", err, conversations.Running)
	_, err = r.Clear(t.Context(), owner, id, "")
	wants(t, "clear", err, conversations.Running)
	_, err = r.Delete(t.Context(), owner, id)
	wants(t, "delete", err, conversations.Running)
	answer(t, r, turn)
	result, err := r.Branch(t.Context(), owner, id, 1, "what was left", "")
	fine(t, "branch", err)
	if result.Before.Leaf == result.Record.Leaf || len(result.Entries) != 2 {
		t.Errorf("branched: %+v", result)
	}
	_, err = r.Branch(t.Context(), owner, id, 99, "", "")
	wants(t, "no entry", err, conversations.NoEntry)
}

func TestALabelNeedsAnEntryOfTheTree(t *testing.T) {
	t.Parallel()
	r := open(t)
	id := talked(t, r, sessions.NewSession{ID: "api:a"})
	for _, entry := range []int64{99, -1} {
		_, err := r.Label(t.Context(), owner, id, entry, "x", "")
		wants(t, "label", err, conversations.NoEntry)
	}
	_, err := r.Label(t.Context(), owner, id, 1, strings.Repeat("x", conversations.LabelMax+1), "")
	wants(t, "too long", err, conversations.Invalid)
	result, err := r.Label(t.Context(), owner, id, 0, "here", "")
	fine(t, "label", err)
	if len(result.Entries) != 1 || !bytes.Contains(result.Entries[0].Payload, []byte(`"e2"`)) {
		t.Errorf("the newest message is labelled: %s", result.Entries[0].Payload)
	}
	_, err = storeOf(r).Clear(t.Context(), id)
	fine(t, "clear", err)
	_, err = r.Label(t.Context(), owner, id, 0, "here", "")
	wants(t, "nothing was said", err, conversations.NoEntry)
}

func TestTheSameRequestAgainIsTheSameWhateverWasSaidSince(t *testing.T) {
	t.Parallel()
	r := open(t)
	id := talked(t, r, sessions.NewSession{ID: "api:a"})
	verbs := map[string]func() (conversations.Result, error){
		"label the newest": func() (conversations.Result, error) { return r.Label(t.Context(), owner, id, 0, "here", "k1") },
		"branch":           func() (conversations.Result, error) { return r.Branch(t.Context(), owner, id, 1, "left", "k2") },
	}
	for what, verb := range verbs {
		first, err := verb()
		fine(t, what, err)
		answer(t, r, say(t, r, id, "since then"))
		again, err := verb()
		fine(t, what+" again", err)
		if first.Duplicate || !again.Duplicate {
			t.Errorf("%s: %+v, then %+v", what, first, again)
		}
	}
}

func TestACopyIsMadeOncePerKey(t *testing.T) {
	t.Parallel()
	r := open(t)
	id := talked(t, r, sessions.NewSession{ID: "api:a"})
	first := int64(1)
	request := conversations.ForkRequest{Entry: &first, Place: conversations.There("web:local:page")}
	made, err := r.Fork(t.Context(), owner, id, request, "key")
	fine(t, "fork", err)
	if !made.Made || made.Record.Seq != 1 || made.Record.ParentSession != id || made.Before.ID != id {
		t.Errorf("made: %+v", made)
	}
	_, err = r.Attach(t.Context(), owner, id, conversations.There("web:local:page"))
	fine(t, "attach", err)
	again, err := r.Fork(t.Context(), owner, id, request, "key")
	fine(t, "again", err)
	if !again.Duplicate || again.Made || again.Record.ID != made.Record.ID {
		t.Errorf("again: %+v", again)
	}
	held, err := r.Store.Bound(t.Context(), "web:local:page")
	if err != nil || held.ID != id {
		t.Errorf("what was sent again took the place back: %s %v", held.ID, err)
	}
	_, err = r.Fork(t.Context(), owner, id, conversations.ForkRequest{}, "key")
	wants(t, "the key for something else", err, conversations.KeyReused)
	other, err := r.Fork(t.Context(), conversations.Owner("other"), id, conversations.ForkRequest{}, "key")
	if err != nil || other.Duplicate {
		t.Errorf("another caller's key is another key: %+v %v", other, err)
	}
	_, err = r.Fork(t.Context(), owner, id, conversations.ForkRequest{ID: id}, "")
	wants(t, "a taken id", err, conversations.Exists)
	none := int64(50)
	_, err = r.Fork(t.Context(), owner, id, conversations.ForkRequest{Entry: &none}, "")
	wants(t, "no entry", err, conversations.NoEntry)
}

func TestADirectConversationNeverGoesOnInAGroup(t *testing.T) {
	t.Parallel()
	r := open(t)
	id := talked(t, r, sessions.NewSession{ID: "api:a"})
	talked(t, r, sessions.NewSession{ID: "telegram:dm", Surface: "", UserID: "telegram:1"})
	_, err := r.Attach(t.Context(), owner, "telegram:dm", conversations.Here("telegram:1:1", false))
	fine(t, "a chat of one", err)
	for name, place := range map[string]conversations.Place{"seen": conversations.Here("telegram:1:-5", true), "unknown": conversations.There("telegram:1:-5")} {
		_, err := r.Attach(t.Context(), owner, id, place)
		wants(t, name+" attach", err, conversations.GroupOnly)
		_, err = r.Resume(t.Context(), owner, id, place, false, "")
		wants(t, name+" resume", err, conversations.GroupOnly)
		_, err = r.Fork(t.Context(), owner, id, conversations.ForkRequest{ID: "api:copy", Place: place}, "")
		wants(t, name+" fork", err, conversations.GroupOnly)
	}
	_, err = r.Get(t.Context(), owner, "api:copy")
	wants(t, "what forbids the place forbids the copy", err, conversations.NotFound)
	result, err := r.Attach(t.Context(), owner, id, conversations.There("telegram:1:1"))
	fine(t, "a chat that is known to be of one", err)
	if result.Previous != "telegram:dm" {
		t.Errorf("previous: %+v", result)
	}
}

func TestWhatHasEndedIsCopiedWhenItIsResumed(t *testing.T) {
	t.Parallel()
	r := open(t)
	id := talked(t, r, sessions.NewSession{ID: "api:a"})
	_, err := r.Expire(t.Context(), owner, id)
	fine(t, "expire", err)
	for what, verb := range map[string]func() error{
		"name":       func() error { _, err := r.Name(t.Context(), owner, id, "x", ""); return err },
		"label":      func() error { _, err := r.Label(t.Context(), owner, id, 0, "x", ""); return err },
		"branch":     func() error { _, err := r.Branch(t.Context(), owner, id, 1, "", ""); return err },
		"clear":      func() error { _, err := r.Clear(t.Context(), owner, id, ""); return err },
		"touch":      func() error { _, err := r.Touch(t.Context(), owner, id); return err },
		"checkpoint": func() error { _, err := r.Checkpoint(t.Context(), owner, id); return err },
		"attach": func() error {
			_, err := r.Attach(t.Context(), owner, id, conversations.There("web:local:p"))
			return err
		},
	} {
		wants(t, what, verb(), conversations.Expired)
	}
	result, err := r.Resume(t.Context(), owner, id, conversations.There("web:local:p"), true, "")
	fine(t, "resume", err)
	if !result.Made || result.Record.ParentSession != id {
		t.Errorf("resumed: %+v", result)
	}
}

func TestAClearIsDoneOncePerKey(t *testing.T) {
	t.Parallel()
	r := open(t)
	id := talked(t, r, sessions.NewSession{ID: "api:a"})
	_, err := r.Clear(t.Context(), owner, id, "key")
	fine(t, "clear", err)
	answer(t, r, say(t, r, id, "since then"))
	result, err := r.Clear(t.Context(), owner, id, "key")
	fine(t, "again", err)
	if !result.Duplicate || result.Record.Seq == result.Record.Cleared {
		t.Errorf("what was sent again erased what was said since: %+v", result)
	}
}

func TestOnlyTheGatewayMakesItsOwnIDs(t *testing.T) {
	t.Parallel()
	r := open(t)
	id := talked(t, r, sessions.NewSession{ID: "api:a"})
	var transcript bytes.Buffer
	fine(t, "export", r.Export(t.Context(), owner, id, &transcript))
	for _, taken := range []string{"schedule:x", "sub:api:a", "flow:x", "api:a__role"} {
		_, err := r.Open(t.Context(), owner, sessions.NewSession{ID: taken}, "", "")
		wants(t, "open "+taken, err, conversations.Reserved)
		_, err = r.Fork(t.Context(), owner, id, conversations.ForkRequest{ID: taken}, "")
		wants(t, "fork "+taken, err, conversations.Reserved)
		_, err = r.Import(t.Context(), owner, strings.NewReader(strings.Replace(transcript.String(), `"id":"api:a"`, `"id":"`+taken+`"`, 1)), false, "")
		wants(t, "import "+taken, err, conversations.Reserved)
	}
}

func TestANewIDIsShownAsItIs(t *testing.T) {
	t.Parallel()
	r := open(t)
	for _, odd := range []string{"api:a\u009bb", "api:a\u202eb"} {
		if _, invalid := errors.AsType[*sessions.InvalidError](conversations.CheckOwnID(owner, odd)); !invalid {
			t.Errorf("%q is taken", odd)
		}
		header := `{"type":"session","version":3,"id":"` + odd + `","timestamp":"2026-01-02T03:04:05.000Z"}` + "\n"
		if result, err := r.Import(t.Context(), owner, strings.NewReader(header), false, ""); err == nil {
			t.Errorf("%q is imported: %+v", odd, result)
		}
	}
}

func TestATranscriptIsImportedOncePerKey(t *testing.T) {
	t.Parallel()
	r := open(t)
	id := talked(t, r, sessions.NewSession{ID: "api:a"})
	var transcript bytes.Buffer
	fine(t, "export", r.Export(t.Context(), owner, id, &transcript))
	in := func(newID bool, key string) (conversations.Result, error) {
		return r.Import(t.Context(), owner, bytes.NewReader(transcript.Bytes()), newID, key)
	}
	_, err := in(false, "")
	wants(t, "the id is taken", err, conversations.Exists)
	made, err := in(true, "key")
	fine(t, "import", err)
	again, err := in(true, "key")
	fine(t, "again", err)
	if !made.Made || again.Made || !again.Duplicate || again.Record.ID != made.Record.ID {
		t.Errorf("%+v, then %+v", made, again)
	}
	another := strings.Replace(transcript.String(), `"kind":"api"`, `"kind":"cli"`, 1)
	_, err = r.Import(t.Context(), owner, strings.NewReader(another), true, "key")
	wants(t, "the key for another transcript", err, conversations.KeyReused)
	_, err = r.Import(t.Context(), owner, strings.NewReader("no transcript"), false, "")
	wants(t, "not a transcript", err, conversations.Unreadable)
	_, err = r.Import(t.Context(), conversations.Caller{Caller: sessions.Caller{Owner: true, Namespace: "api"}}, &transcript, false, "")
	wants(t, "a channel's token", err, conversations.Forbidden)
}

func TestAPageShowsNothingOfWhatACallerMayNotReach(t *testing.T) {
	t.Parallel()
	r := open(t)
	for _, id := range []string{"matrix:1", "telegram:secret1", "matrix:2", "telegram:secret2", "matrix:3"} {
		talked(t, r, sessions.NewSession{ID: id, UserID: "matrix:ann"})
	}
	bridge := conversations.Caller{Caller: sessions.Caller{Namespace: "matrix"}}
	_, err := r.Find(t.Context(), bridge, sessions.Query{})
	wants(t, "everybody's", err, conversations.Forbidden)
	var got []string
	query := sessions.Query{UserID: "matrix:ann", Limit: 1}
	for {
		page, err := r.Find(t.Context(), bridge, query)
		fine(t, "find", err)
		for _, record := range page.Records {
			got = append(got, record.ID)
		}
		if page.Next == "" {
			break
		}
		position, err := sessions.ParsePosition(page.Next)
		fine(t, "cursor", err)
		if !strings.HasPrefix(position.ID, "matrix:") {
			t.Errorf("the cursor names %s", position.ID)
		}
		query.Cursor = page.Next
	}
	if strings.Join(got, " ") != "matrix:3 matrix:2 matrix:1" {
		t.Errorf("found %q", got)
	}
}

func TestAtRestNothingIsStoppedOrSummedUp(t *testing.T) {
	t.Parallel()
	r := open(t)
	id := talked(t, r, sessions.NewSession{ID: "api:a"})
	_, err := r.Checkpoint(t.Context(), owner, id)
	wants(t, "checkpoint", err, conversations.Unsupported)
	_, err = r.Stop(t.Context(), owner, id, "")
	wants(t, "stop", err, conversations.Unsupported)
	r.Noter = func(context.Context, string) (bool, sessions.NoteResult, error) {
		return false, sessions.NoteResult{}, errors.Join(conversations.ErrNoNotes, errors.New("the model is away"))
	}
	_, err = r.Checkpoint(t.Context(), owner, id)
	wants(t, "no notes", err, conversations.NoNotes)
}

func TestACustomEntryIsWrittenBehindTheLeafItWasMeantFor(t *testing.T) {
	t.Parallel()
	r := open(t)
	id := talked(t, r, sessions.NewSession{ID: "api:a"})
	stale := int64(1)
	custom := conversations.Custom{Type: sessions.EntryCustomMessage, Name: "ci", Text: "green", IfLeaf: &stale}
	_, err := r.Write(t.Context(), owner, id, custom, "")
	wants(t, "stale", err, conversations.LeafMoved)
	custom.IfLeaf = nil
	result, err := r.Write(t.Context(), owner, id, custom, "key")
	if err != nil || len(result.Entries) != 1 {
		t.Errorf("written: %+v %v", result, err)
	}
	_, err = r.Write(t.Context(), owner, id, conversations.Custom{Type: "message"}, "")
	wants(t, "another type", err, conversations.Invalid)
}

// A path has the entries as they are in the log, however far apart they stand.
func TestAPathHasTheEntriesAsTheyAre(t *testing.T) {
	t.Parallel()
	r := open(t)
	id := talked(t, r, sessions.NewSession{ID: "api:a"})
	for range 20 {
		_, err := r.Label(t.Context(), owner, id, 1, "a label", "")
		fine(t, "label", err)
	}
	_, err := r.Branch(t.Context(), owner, id, 1, "", "")
	fine(t, "branch", err)
	answer(t, r, say(t, r, id, "another question"))
	path, err := r.Path(t.Context(), owner, id, 25, 10)
	fine(t, "path", err)
	all, err := storeOf(r).Range(t.Context(), id, 1, 25)
	fine(t, "range", err)
	if want := []sessions.Entry{all[0], all[23], all[24]}; !reflect.DeepEqual(path.Entries, want) || path.Before != 0 {
		t.Errorf("%+v, want %+v", path, want)
	}
}
