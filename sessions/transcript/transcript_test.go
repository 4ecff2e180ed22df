package transcript_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"parley/sessions"
	"parley/sessions/logtest"
	"parley/sessions/transcript"
)

// transcribed is a session that went through a transcript.
type transcribed struct {
	record  sessions.Record
	entries []sessions.Entry
}

func export(tb testing.TB, record sessions.Record, log sessions.Log) string {
	tb.Helper()
	var out bytes.Buffer
	if err := transcript.Write(tb.Context(), &out, log, record); err != nil {
		tb.Fatal(err)
	}
	return out.String()
}

// imported reads a transcript as a store's Import takes it.
func imported(r io.Reader) (transcribed, error) {
	t, err := transcript.Read(r)
	if err != nil {
		return transcribed{}, err
	}
	return taken(t)
}

// taken checks a transcript's entries as every store does.
func taken(t *transcript.Transcript) (transcribed, error) {
	out := transcribed{record: t.Record}
	if err := sessions.CheckImport(t.Record); err != nil {
		return out, fmt.Errorf("the record could not be imported: %w", err)
	}
	var sequel sessions.Sequel
	for e, err := range t.Entries {
		if err != nil {
			return out, err
		}
		if err := sequel.Next(e); err != nil {
			return out, fmt.Errorf("a store would refuse it: %w", err)
		}
		out.entries = append(out.entries, e)
	}
	out.record.Seq = sequel.Seq()
	if err := sequel.End(t.Record.Leaf); err != nil {
		return out, fmt.Errorf("a store would refuse it: %w", err)
	}
	return out, nil
}

func (s transcribed) log() *logtest.Log { return &logtest.Log{Entries: s.entries} }

func fullRecord() sessions.Record {
	return sessions.Record{
		ID: "cli:main", Source: sessions.Source{Kind: "cli", Interactive: true, Platform: "cli", Type: sessions.Direct, TriggerID: "t"},
		UserID: "cli:owner", WorkspaceID: "/home/ada", State: sessions.StateSuspended, Status: sessions.StatusInactive,
		CreatedAt: logtest.Day(), LastActivityAt: logtest.Day().Add(time.Hour), StateChangedAt: logtest.Day().Add(2 * time.Hour),
		Surfaces: []string{"cli:local:main"}, Participants: []string{"cli:owner", "telegram:1"}, Metadata: map[string]any{"a<b": "x&y"},
		MessageCount: 4, TurnCount: 2, Name: "Trip", Description: "a <trip>", DescriptionSource: sessions.DescriptionAgent, Preview: "hi",
		WorkingMemory: "wm", Agent: "guide", ParentSession: "cli:old", ContextTokens: 99, Epoch: 7, Version: 9, Queued: 1,
	}
}

// everyType is a log with an entry of each kind and its own traps.
func everyType(tb testing.TB) []sessions.Entry {
	tb.Helper()
	call := sessions.Message{Role: sessions.RoleAssistant, ToolCalls: []sessions.ToolCall{{ID: "c", Name: "f", Arguments: `{"n":9007199254740993}`}}, Tokens: &sessions.Tokens{Prompt: 3, Completion: 4}}
	return []sessions.Entry{
		logtest.Entry(tb, 1, sessions.EntryMessage, sessions.Message{Role: sessions.RoleUser, Text: "<b>\u2028& \x00", Sender: &sessions.Sender{ID: "telegram:1", Name: "Ada", Role: "owner"}}),
		logtest.Entry(tb, 2, sessions.EntryMessage, call),
		logtest.Entry(tb, 3, sessions.EntryMessage, sessions.Message{Role: sessions.RoleTool, CallID: "c", ToolName: "f", Text: "r"}),
		logtest.Entry(tb, 4, sessions.EntryModelChange, sessions.ModelChange{ModelID: "m"}),
		logtest.Entry(tb, 5, sessions.EntryThinking, sessions.ThinkingLevelChange{ThinkingLevel: "high"}),
		logtest.Entry(tb, 6, sessions.EntrySessionName, sessions.SessionName{Name: "Trip"}),
		logtest.Entry(tb, 7, sessions.EntryLabel, sessions.Label{TargetID: "e1", Label: "start"}),
		logtest.Entry(tb, 8, sessions.EntryCompaction, sessions.Compaction{Summary: "s", FirstKeptID: "e2", Trigger: "auto", CompactedTurns: 25}),
		logtest.Entry(tb, 9, sessions.EntryBranchSummary, sessions.BranchSummary{Summary: "b", FromID: "e8"}),
		logtest.Entry(tb, 10, sessions.EntryCustomMessage, sessions.CustomMessage{Name: "ci", Text: "t", ForModel: true, Data: json.RawMessage(`{"target_id":"e99"}`)}),
		logtest.Entry(tb, 11, sessions.EntryCustomInfo, json.RawMessage(`{"id":5,"type":"mine","target_id":"e99","n":12345678901234567890}`)),
		logtest.Entry(tb, 12, sessions.EntryCustomInfo, json.RawMessage(`{"a":1,"a":2}`)),
		below(logtest.Entry(tb, 13, sessions.EntryLeaf, sessions.LeafEntry{TargetID: "e3", Reason: "retry"}), 0),
		below(logtest.Entry(tb, 14, sessions.EntryDelivery, sessions.DeliveryEntry{Delivery: "d", EntryID: "e3", State: sessions.DeliverySent}), 0),
		below(logtest.Entry(tb, 15, sessions.EntryEdit, map[string]any{"target_id": "e1", "text": "x"}), 0),
		below(sessions.Entry{Seq: 16, Type: sessions.EntryTurn, Time: logtest.Day(), Payload: json.RawMessage(` { } `)}, 0),
		below(logtest.Entry(tb, 17, sessions.EntryMessage, sessions.Message{Role: sessions.RoleUser, Text: "late"}), 18),
		below(logtest.Entry(tb, 18, sessions.EntryMessage, sessions.Message{Role: sessions.RoleAssistant, Text: "answer"}), 3),
	}
}

func below(e sessions.Entry, parent int64) sessions.Entry { e.Parent = parent; return e }

func TestTranscriptRoundTrip(t *testing.T) {
	t.Parallel()
	record, log := fullRecord(), &logtest.Log{Entries: everyType(t)}
	record.Seq, record.Leaf = 18, 17
	text := export(t, record, log)
	got, err := imported(strings.NewReader(text))
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	if again := export(t, got.record, got.log()); again != text {
		t.Errorf("the second export differs: %s", cmp.Diff(text, again))
	}
	want := record
	want.Surfaces, want.Status, want.Epoch, want.Version, want.Queued = nil, "", 0, 0, 0
	if diff := cmp.Diff(want, got.record); diff != "" {
		t.Error(diff)
	}
	for i, e := range got.entries {
		var was, is any
		if json.Unmarshal(log.Entries[i].Payload, &was) != nil || json.Unmarshal(e.Payload, &is) != nil {
			t.Fatal("not JSON")
		}
		if diff := cmp.Diff(was, is); diff != "" || !e.Time.Equal(log.Entries[i].Time) || e.Parent != log.Entries[i].Parent || e.Type != log.Entries[i].Type {
			t.Errorf("%s: %s", e.ID(), diff)
		}
	}
}

func TestTranscriptHasTheNamesOfTheTree(t *testing.T) {
	t.Parallel()
	record := fullRecord()
	record.Seq, record.Leaf = 18, 17
	lines := strings.Split(export(t, record, &logtest.Log{Entries: everyType(t)}), "\n")
	for i, want := range map[int]string{
		0:  `{"type":"session_header","version":1,"id":"cli:main","timestamp":"2026-03-02T10:00:00.123Z","cwd":"/home/ada","parent_session":"cli:old","source":{"kind":"cli"`,
		2:  `{"type":"message","id":"e2","parent_id":"e1","timestamp":"2026-03-02T10:00:02Z","message":{"role":"assistant","tool_calls":[{"id":"c","name":"f","arguments":"{\"n\":9007199254740993}"}],"tokens":{"prompt":3,"completion":4}}}`,
		7:  `{"type":"label","id":"e7","parent_id":"e6","timestamp":"2026-03-02T10:00:07Z","target_id":"e1","label":"start"}`,
		8:  `{"type":"compaction","id":"e8","parent_id":"e7","timestamp":"2026-03-02T10:00:08Z","summary":"s","first_kept_entry_id":"e2","trigger":"auto","compacted_turns":25}`,
		11: `{"type":"custom_info","id":"e11","parent_id":"e10","timestamp":"2026-03-02T10:00:11Z","payload":{"id":5,"type":"mine","target_id":"e99","n":12345678901234567890}}`,
		13: `{"type":"leaf","id":"e13","parent_id":null,"timestamp":"2026-03-02T10:00:13Z","target_id":"e3","reason":"retry"}`,
	} {
		if !strings.HasPrefix(lines[i], want) {
			t.Errorf("line %d: %s\nwant     %s", i+1, lines[i], want)
		}
	}
}

func TestExportOfWhatWaitsStandsBehindTheLeaf(t *testing.T) {
	t.Parallel()
	record, log := fullRecord(), logtest.Chain(6)
	for _, i := range []int{3, 5} {
		log.Entries[i].Parent, log.Entries[i].Waiting = 0, true
	}
	log.Entries[4].Parent = 3
	record.Seq, record.Leaf = 6, 5
	got, err := imported(strings.NewReader(export(t, record, log)))
	if err != nil {
		t.Fatal(err)
	}
	var parents []int64
	for _, e := range got.entries {
		parents = append(parents, e.Parent)
	}
	if diff := cmp.Diff([]int64{0, 1, 2, 5, 3, 4}, parents); diff != "" || got.record.Leaf != 6 {
		t.Errorf("leaf %d, %s", got.record.Leaf, diff)
	}
	// One that gets its place behind an entry which is not in the file.
	log.Entries[5].Waiting, log.Entries[5].Parent = false, 99
	if got, err = imported(strings.NewReader(export(t, record, log))); err != nil || got.entries[5].Parent != 4 {
		t.Errorf("%+v, %v", got.entries, err)
	}
}

func TestExportOfAClearedSession(t *testing.T) {
	t.Parallel()
	record, log := fullRecord(), logtest.Chain(10)
	log.Entries = log.Entries[5:]
	log.Entries[0].Parent = 0
	log.Entries = append(log.Entries,
		below(logtest.Entry(t, 11, sessions.EntryDelivery, sessions.DeliveryEntry{Delivery: "d", EntryID: "e2"}), 0),
		below(logtest.Entry(t, 12, sessions.EntryLabel, sessions.Label{TargetID: "e8", Label: "x"}), 10))
	record.Cleared, record.Seq, record.Leaf = 5, 12, 12
	got, err := imported(strings.NewReader(export(t, record, log)))
	if err != nil || len(got.entries) != 7 || got.record.Leaf != 7 || got.record.Cleared != 0 {
		t.Fatalf("%+v, %v", got, err)
	}
	if delivery, label := string(got.entries[5].Payload), string(got.entries[6].Payload); !strings.Contains(delivery, `"entry_id":null`) || !strings.Contains(label, `"target_id":"e3"`) {
		t.Errorf("%s %s", delivery, label)
	}
	log.Entries = log.Entries[3:]
	if err := transcript.Write(t.Context(), io.Discard, log, record); err == nil {
		t.Error("a session that was cleared meanwhile was exported")
	}
}

// Whatever the log, it comes back as it was.
func TestTranscriptRoundTripOfAnything(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		log, record := logtest.Random(rt), fullRecord()
		record.Seq = int64(len(log.Entries))
		for _, e := range log.Entries {
			if e.Type.InTree() {
				record.Leaf = e.Seq
			}
		}
		for i := range log.Entries {
			if !log.Entries[i].Type.InTree() {
				log.Entries[i].Parent = 0
			}
		}
		text := export(t, record, log)
		got, err := imported(strings.NewReader(text))
		if err != nil {
			rt.Fatal(err)
		}
		if again := export(t, got.record, got.log()); again != text {
			rt.Error(cmp.Diff(text, again))
		}
	})
}

const (
	ownHead  = `{"type":"session_header","version":1,"id":"cli:x","timestamp":"2026-03-02T10:00:00Z","source":{"kind":"cli"},"state":"active","last_activity_at":"2026-03-02T10:00:00Z","leaf_id":null}` + "\n"
	treeHead = `{"type":"session_header","id":"0b9e","timestamp":1772445600,"cwd":"/my/project"}` + "\n"
	turnHead = `{"type":"header","chatId":"8304042211","agentId":"annabelle","createdAt":"2026-02-11T01:14:59.755Z","version":1}` + "\n"
)

func TestImportRefusesWithLineAndReason(t *testing.T) {
	t.Parallel()
	msg := func(id, parent string) string {
		return `{"type":"message","id":"` + id + `","parent_id":` + parent + `,"timestamp":"2026-03-02T10:00:01Z","message":{"role":"user","text":"x"}}` + "\n"
	}
	long := strings.Repeat("x", transcript.LineMax)
	for name, c := range map[string]struct {
		text string
		line int
		why  string
	}{
		"nothing":               {"", 1, "empty"},
		"another program's":     {`{"type":"session","version":3,"id":"x"}` + "\n", 1, `type "session"`},
		"no JSON":               {"Dear diary\n", 1, "JSON Lines"},
		"a JSON array":          {"[1]\n", 1, "JSON Lines"},
		"a later version":       {`{"type":"session_header","version":2,"id":"x"}` + "\n", 1, "version 2"},
		"no id":                 {`{"type":"session_header","version":1,"timestamp":1}` + "\n", 1, "needs an id"},
		"an id that is none":    {`{"type":"session_header","version":1,"id":"a b","timestamp":1}` + "\n", 1, "session id"},
		"two headers":           {ownHead + msg("e1", "null") + ownHead, 3, "second header"},
		"two headers, tree":     {treeHead + msg("a", "null") + treeHead, 3, "second header"},
		"two headers, turns":    {turnHead + turnHead, 2, "second header"},
		"cycle":                 {ownHead + msg("e1", `"e2"`) + msg("e2", `"e1"`), 2, "its own ancestor"},
		"cycle, tree":           {treeHead + msg("a", `"b"`) + msg("b", `"a"`), 2, "its own ancestor"},
		"own parent":            {ownHead + msg("e1", `"e1"`), 2, "its own parent"},
		"own parent, tree":      {treeHead + msg("a", `"a"`), 2, "its own ancestor"},
		"duplicate":             {ownHead + msg("e1", "null") + msg("e1", "null"), 3, "e2 has to follow"},
		"duplicate, tree":       {treeHead + msg("a", "null") + msg("b", `"a"`) + msg("a", "null"), 4, "twice"},
		"a line is missing":     {ownHead + msg("e1", "null") + msg("e3", `"e1"`), 3, "e2 has to follow"},
		"dangling":              {ownHead + msg("e1", "null") + msg("e2", `"e9"`), 3, `"e9" is no entry`},
		"dangling before":       {ownHead + msg("e5", "null") + msg("e6", `"e4"`), 3, "no entry of this file"},
		"dangling, tree":        {treeHead + msg("a", "null") + msg("b", `"zz"`), 3, `"zz" is no entry`},
		"dangling target":       {ownHead + msg("e1", "null") + `{"type":"label","id":"e2","parent_id":"e1","timestamp":1,"target_id":"e7"}` + "\n", 3, "target_id"},
		"dangling target, tree": {treeHead + msg("a", "null") + `{"type":"label","id":"b","parent_id":"a","timestamp":1,"target_id":"q"}` + "\n", 3, "target_id"},
		"dangling leaf":         {strings.Replace(ownHead, `"leaf_id":null`, `"leaf_id":"e4"`, 1) + msg("e1", "null"), 1, "leaf_id"},
		"dangling leaf, tree":   {strings.Replace(treeHead, `"cwd"`, `"leaf_id":"a4","cwd"`, 1) + msg("a", "null"), 1, "leaf_id"},
		"below what is beside":  {ownHead + `{"type":"turn","id":"e1","parent_id":null,"timestamp":1}` + "\n" + msg("e2", `"e1"`), 3, "below"},
		"unknown type":          {ownHead + `{"type":"dream","id":"e1","parent_id":null,"timestamp":1}` + "\n", 2, `"dream"`},
		"unknown turn type":     {turnHead + `{"type":"message"}` + "\n", 2, `"message"`},
		"no message":            {ownHead + `{"type":"message","id":"e1","parent_id":null,"timestamp":1}` + "\n", 2, "without its message"},
		"unknown role":          {ownHead + `{"type":"message","id":"e1","parent_id":null,"timestamp":1,"message":{"role":"god"}}` + "\n", 2, `"god"`},
		"unknown role, tree":    {treeHead + `{"type":"message","id":"a","parent_id":null,"timestamp":1,"message":{"role":"system"}}` + "\n", 2, `"system"`},
		"a name twice":          {ownHead + `{"type":"turn","id":"e1","id":"e1"}` + "\n", 2, "twice"},
		"two objects in a line": {ownHead + `{"type":"turn","id":"e1"} {}` + "\n", 2, "more behind"},
		"no object":             {ownHead + "5\n", 2, "no JSON object"},
		"a bad time":            {ownHead + `{"type":"turn","id":"e1","timestamp":"yesterday"}` + "\n", 2, "timestamp"},
		"empty line":            {ownHead + "\n" + msg("e1", "null"), 2, "empty"},
		"not UTF-8":             {ownHead + "\xff\n", 2, "UTF-8"},
		"too long":              {ownHead + `{"type":"turn","id":"` + long + `"}` + "\n", 2, "more than"},
		"too long an id":        {ownHead + `{"type":"turn","id":"` + strings.Repeat("x", 300) + `"}` + "\n", 2, "256"},
		"a payload too long":    {ownHead + `{"type":"custom_info","id":"e1","parent_id":null,"data":"` + strings.Repeat("x", sessions.PayloadMax) + `"}` + "\n", 2, "payload"},
		"a payload and more":    {ownHead + `{"type":"custom_info","id":"e1","parent_id":null,"payload":{},"data":1}` + "\n", 2, "data"},
		"torn":                  {ownHead + msg("e1", "null") + `{"type":"message","id":"e2","par`, 3, "in the middle of this line"},
		"torn header":           {ownHead[:50], 1, "in the middle of this line"},
		"torn, tree":            {treeHead + msg("a", "null") + `{"type":"mess`, 3, "in the middle of this line"},
		"torn, turns":           {turnHead + `{"type":"turn","us`, 2, "in the middle of this line"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := imported(strings.NewReader(c.text))
			wrong, ok := errors.AsType[*transcript.Error](err)
			if !ok || wrong.Line != c.line || !strings.Contains(wrong.Why, c.why) {
				t.Fatalf("got %v, want line %d with %q", err, c.line, c.why)
			}
			if wrong.Torn != strings.HasPrefix(name, "torn") {
				t.Errorf("torn: %v", wrong.Torn)
			}
			if _, ok := errors.AsType[*sessions.InvalidError](err); !ok {
				t.Error("it is no InvalidError")
			}
			if _, _, err := transcript.Check(strings.NewReader(c.text)); err == nil {
				t.Error("CheckTranscript finds nothing wrong")
			}
		})
	}
}

func TestImportTakesALastLineWithoutItsEnd(t *testing.T) {
	t.Parallel()
	for _, text := range []string{ownHead + `{"type":"turn","id":"e1","timestamp":1}`, "\ufeff" + ownHead + `{"type":"turn","id":"e1","timestamp":1}` + "\r\n\n\n"} {
		if got, err := imported(strings.NewReader(text)); err != nil || len(got.entries) != 1 {
			t.Errorf("%v, %v", got, err)
		}
	}
}

// The example of the tree seed, with what its implementations write.
func TestImportOfATreeWithIDsOfItsOwn(t *testing.T) {
	t.Parallel()
	got, err := imported(strings.NewReader(treeHead + strings.Join([]string{
		`{"type":"message","id":"a1","parent_id":null,"timestamp":1772445601,"message":{"role":"user","content":"hello"}}`,
		`{"type":"message","id":"a2","parent_id":"a1","timestamp":1772445602.5,"message":{"role":"assistant","content":[{"type":"thinking","text":"hm"},{"type":"text","text":"hi"},{"type":"tool_use","id":"t1","name":"look","input":{"x":1}}]}}`,
		`{"type":"message","id":"r","parent_id":"a2","timestamp":1772445603000,"message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"A"},{"type":"tool_result","tool_use_id":"t2","content":"B"}]}}`,
		`{"type":"compaction","id":"a3","parent_id":"r","summary":"sum","first_kept_entry_id":"a2"}`,
		`{"type":"message","id":"a4","parent_id":"a3","timestamp":1772445605,"message":{"role":"assistant","text":"done"}}`,
		`{"type":"leaf","id":"a5","parent_id":"a4","timestamp":1772445606,"target_id":"a2"}`,
		`{"type":"message","id":"a6","parent_id":"a5","timestamp":1772445607,"message":{"role":"user","text":"again"}}`,
		`{"type":"label","id":"a7","parent_id":"a6","timestamp":1772445608,"target_id":"a1","label":"x"}`,
		`{"type":"branch","id":"a8","parent_id":"a7","timestamp":1772445609,"summary":"left"}`,
	}, "\n")))
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, e := range got.entries {
		lines = append(lines, fmt.Sprintf("%s<%s %s %s", sessions.EntryID(e.Parent), e.ID(), e.Type, e.Payload))
	}
	want := []string{
		`<e1 message {"role":"user","text":"hello","triggered":true}`,
		`e1<e2 message {"role":"assistant","text":"hi","tool_calls":[{"id":"t1","name":"look","arguments":"{\"x\":1}"}]}`,
		`e2<e3 message {"role":"tool","text":"A","call_id":"t1"}`,
		`e3<e4 message {"role":"tool","text":"B","call_id":"t2"}`,
		`e4<e5 compaction {"summary":"sum","first_kept_entry_id":"e2"}`,
		`e5<e6 message {"role":"assistant","text":"done"}`,
		`<e7 leaf {"target_id":"e2"}`,
		`e2<e8 message {"role":"user","text":"again"}`,
		`e8<e9 label {"target_id":"e1","label":"x"}`,
		`e9<e10 branch_summary {"summary":"left"}`,
	}
	if diff := cmp.Diff(want, lines); diff != "" {
		t.Error(diff)
	}
	r := got.record
	if r.ID != "0b9e" || r.WorkspaceID != "/my/project" || r.Leaf != 10 || r.MessageCount != 2 || r.TurnCount != 1 || r.Preview != "again" ||
		r.Description != "hello" || r.State != sessions.StateActive || r.Source.Kind != "import" || !r.LastActivityAt.Equal(time.Unix(1772445609, 0)) {
		t.Errorf("%+v", r)
	}
	if at := got.entries[4].Time; !at.Equal(got.entries[3].Time) || !got.entries[1].Time.Equal(time.UnixMilli(1772445602500)) {
		t.Errorf("a line without a time has %v", at)
	}
	if again := export(t, got.record, got.log()); !strings.Contains(again, `"leaf_id":"e10"`) {
		t.Error(again)
	}
}

// The examples of the turn-based seed.
func TestImportOfAListOfTurns(t *testing.T) {
	t.Parallel()
	got, err := imported(strings.NewReader(turnHead +
		`{"type":"compaction","summary":"The user asked about their schedule and emails...","compactedTurns":25,"timestamp":"2026-02-11T02:30:00.000Z"}` + "\n" +
		`{"type":"turn","user":"What emails do I have?","assistant":"You have 20 unread emails...","timestamp":"2026-02-11T02:31:59.755Z","toolsUsed":["gmail_list_emails"],"tokens":{"prompt":12955,"completion":100}}` + "\n" +
		`{"type":"turn","user":"And?","assistant":"None.","timestamp":"2026-02-11T02:32:59.755Z","toolsUsed":["look"],"messages":[{"role":"assistant","content":[{"type":"tool-call","toolCallId":"c1","toolName":"look","args":{"q":"x"}}]},{"role":"tool","content":[{"type":"tool-result","toolCallId":"c1","toolName":"look","result":{"n":0}}]},{"role":"assistant","content":"None."}]}` + "\n"))
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, e := range got.entries {
		lines = append(lines, fmt.Sprintf("%s<%s %s %s", sessions.EntryID(e.Parent), e.ID(), e.Type, e.Payload))
	}
	want := []string{
		`<e1 compaction {"summary":"The user asked about their schedule and emails...","compacted_turns":25}`,
		`e1<e2 message {"role":"user","text":"What emails do I have?","triggered":true}`,
		`e2<e3 message {"role":"assistant","text":"You have 20 unread emails...","tokens":{"prompt":12955,"completion":100}}`,
		`e3<e4 custom_info {"name":"tools_used","data":["gmail_list_emails"]}`,
		`e4<e5 message {"role":"user","text":"And?","triggered":true}`,
		`e5<e6 message {"role":"assistant","tool_calls":[{"id":"c1","name":"look","arguments":"{\"q\":\"x\"}"}]}`,
		`e6<e7 message {"role":"tool","text":"{\"n\":0}","call_id":"c1","tool_name":"look"}`,
		`e7<e8 message {"role":"assistant","text":"None."}`,
	}
	if diff := cmp.Diff(want, lines); diff != "" {
		t.Error(diff)
	}
	r := got.record
	if r.ID != "import:annabelle:8304042211" || r.Agent != "annabelle" || r.Leaf != 8 || r.MessageCount != 2 || r.TurnCount != 2 || !r.CreatedAt.Equal(time.Date(2026, 2, 11, 1, 14, 59, 755e6, time.UTC)) {
		t.Errorf("%+v", r)
	}
	c := sessions.Rebuild(sessions.Lines(got.entries))
	if c.Compaction == nil || c.Compaction.CompactedTurns != 25 || len(c.Lines) != 6 {
		t.Errorf("%+v", c)
	}
}

// One that is written is read at the same time.
func TestTranscriptsStream(t *testing.T) {
	t.Parallel()
	const n = 5_000
	log, record := logtest.Chain(n), fullRecord()
	record.Seq, record.Leaf = n, n
	r, w := io.Pipe()
	go func() { w.CloseWithError(transcript.Write(t.Context(), w, log, record)) }()
	_, count, err := transcript.Check(r)
	if err != nil || count != n {
		t.Errorf("%d, %v", count, err)
	}
}

func TestImportGivesTheReadersError(t *testing.T) {
	t.Parallel()
	broken := errors.New("unplugged")
	r := io.MultiReader(strings.NewReader(ownHead), &failing{broken})
	if _, err := imported(r); !errors.Is(err, broken) {
		t.Errorf("%v", err)
	}
}

type failing struct{ err error }

func (f *failing) Read([]byte) (int, error) { return 0, f.err }

func FuzzReadTranscript(f *testing.F) {
	record := fullRecord()
	record.Seq, record.Leaf = 18, 17
	f.Add(export(f, record, &logtest.Log{Entries: everyType(f)}))
	f.Add(treeHead + `{"type":"message","id":"a","parent_id":null,"message":{"role":"user","content":[{"type":"text"}]}}` + "\n" + `{"type":"leaf","id":"b","parent_id":"a","target_id":"a"}`)
	f.Add(turnHead + `{"type":"turn","user":"u","assistant":"a","messages":[{"role":"tool","content":[{"type":"tool-result"}]}]}`)
	f.Add(ownHead + `{"type":"label","id":"e1","parent_id":"e2","target_id":"e2"}` + "\n" + `{"type":"turn","id":"e2","payload":{"id":1}}`)
	f.Fuzz(func(t *testing.T, text string) {
		got, err := imported(strings.NewReader(text))
		if err != nil {
			if _, ok := errors.AsType[*transcript.Error](err); !ok {
				t.Fatalf("%T: %v", err, err)
			}
			return
		}
		first := export(t, got.record, got.log())
		again, err := imported(strings.NewReader(first))
		if err != nil {
			t.Fatalf("what was exported cannot be imported: %v\n%s", err, first)
		}
		if second := export(t, again.record, again.log()); second != first {
			t.Fatalf("the second export differs:\n%s\n%s", first, second)
		}
	})
}
