package doors_test

import (
	"context"
	"io"
	"slices"
	"strings"

	"parley/cmd/gateway/sessionscli"
	"parley/conversations"
	"parley/sessions"
)

const untouched = "active  3 e3 0, 0 copies"

func verbs() []verb { return slices.Concat(notes(), copies(), places(), life(), looks()) }

// notes are what is written into a log.
func notes() []verb {
	long := strings.Repeat("x", conversations.LabelMax+1)
	return []verb{
		{does: "Name", name: "name", chat: "/name Rome", http: [3]string{"POST", "/name", `{"name":"Rome"}`}, left: "active Rome 4 e4 0, 0 copies"},
		{does: "Name", name: "a name that turns what is behind it", chat: "/name a\u202eb", http: [3]string{"POST", "/name", `{"name":"a\u202eb"}`}, refused: conversations.Invalid},
		{does: "Name", name: "a name that is too long", chat: "/name " + long, http: [3]string{"POST", "/name", `{"name":"` + long + `"}`}, refused: conversations.Invalid},
		{does: "Name", name: "name what has ended", prepare: (*world).expire, chat: "/name Rome", http: [3]string{"POST", "/name", `{"name":"Rome"}`}, refused: conversations.Expired},

		{does: "Label", name: "label", chat: "/label e1 first", http: [3]string{"POST", "/labels", `{"entry":"e1","label":"first"}`}, left: "active  4 e4 0, 0 copies, first"},
		{does: "Label", name: "label nothing", chat: "/label e99 first", http: [3]string{"POST", "/labels", `{"entry":"e99","label":"first"}`}, refused: conversations.NoEntry},
		{does: "Label", name: "a label that is too long", chat: "/label e1 " + long, http: [3]string{"POST", "/labels", `{"entry":"e1","label":"` + long + `"}`}, refused: conversations.Invalid},

		{does: "Branch", name: "branch", chat: "/branch e1", http: [3]string{"POST", "/branch", `{"entry":"e1"}`}, left: "active  4 e1 0, 0 copies"},
		{does: "Branch", name: "branch to nothing", chat: "/branch e99", http: [3]string{"POST", "/branch", `{"entry":"e99"}`}, refused: conversations.NoEntry},
		{does: "Branch", name: "branch while a turn runs", prepare: (*world).run, chat: "/branch e1", http: [3]string{"POST", "/branch", `{"entry":"e1"}`}, refused: conversations.Running},

		{does: "Patch", name: "patch", http: [3]string{"PATCH", "", `{"name":"Rome","working_memory":"m"}`}, left: "active Rome 4 e4 0, 0 copies"},
		{does: "Patch", name: "patch what is not there", http: [3]string{"PATCH", "/../api:none", `{"name":"Rome"}`}, refused: conversations.NotFound},

		{does: "Write", name: "write", http: [3]string{"POST", "/custom", `{"type":"custom_info","name":"ci","data":1,"parent_id":"e3"}`}, left: "active  4 e4 0, 0 copies"},
		{does: "Write", name: "write behind what is no leaf", http: [3]string{"POST", "/custom", `{"type":"custom_info","name":"ci","parent_id":"e1"}`}, refused: conversations.LeafMoved},
		{does: "Write", name: "write nothing", http: [3]string{"POST", "/custom", `{"type":"custom_message"}`}, refused: conversations.Invalid},
		{does: "Write", name: "write into what has ended", prepare: (*world).expire, http: [3]string{"POST", "/custom", `{"type":"custom_info","name":"ci"}`}, refused: conversations.Expired},
	}
}

// copies make conversations of others.
func copies() []verb {
	fork := func(at string) func(context.Context, sessionscli.Place) error {
		return func(ctx context.Context, place sessionscli.Place) error {
			var entry *string
			if at != "" {
				entry = &at
			}
			_, err := place.Fork(ctx, here, entry, "")
			return err
		}
	}
	importing := func(transcript string) func(context.Context, sessionscli.Place) error {
		return func(ctx context.Context, place sessionscli.Place) error {
			_, err := place.Import(ctx, strings.NewReader(transcript), false)
			return err
		}
	}
	return []verb{
		{does: "Fork", name: "fork", chat: "/fork e1", http: [3]string{"POST", "/fork", `{"entry":"e1"}`}, line: fork("e1"), left: "active  3 e3 0, 1 copies"},
		{does: "Fork", name: "fork what is not there", chat: "/fork e99", http: [3]string{"POST", "/fork", `{"entry":"e99"}`}, line: fork("e99"), refused: conversations.NoEntry},
		{does: "Fork", name: "fork while a turn runs", prepare: (*world).run, chat: "/fork", http: [3]string{"POST", "/fork", "{}"}, line: fork(""), refused: conversations.Running},

		{does: "Import", name: "import", http: [3]string{"POST", "/../import", transcriptOf("api:new")}, line: importing(transcriptOf("api:new")), left: untouched, also: (*world).opened},
		{does: "Import", name: "import what is there", http: [3]string{"POST", "/../import", transcriptOf(here)}, line: importing(transcriptOf(here)), refused: conversations.Exists},
		{does: "Import", name: "import what only the gateway makes", http: [3]string{"POST", "/../import", transcriptOf("sub:x")}, line: importing(transcriptOf("sub:x")), refused: conversations.Reserved},
		{does: "Import", name: "import what cannot be read", http: [3]string{"POST", "/../import", "none"}, line: importing("none"), refused: conversations.Unreadable},
	}
}

// places are where a conversation is held.
func places() []verb {
	return []verb{
		{does: "Resume", name: "resume", chat: "/resume " + other, http: [3]string{"POST", "/../" + other + "/resume", `{"surface":"web:local:a"}`}, left: untouched + ", elsewhere"},
		{does: "Resume", name: "resume what is not there", chat: "/resume api:none", http: [3]string{"POST", "/../api:none/resume", `{"surface":"web:local:a"}`}, refused: conversations.NotFound},

		{does: "Attach", name: "attach", http: [3]string{"PUT", "/surfaces/web:local:c", ""}, left: untouched, also: holds("web:local:c", here)},
		{does: "Attach", name: "attach again", http: [3]string{"PUT", "/surfaces/web:local:a", ""}, left: untouched, also: holds("web:local:a", here)},
		{does: "Attach", name: "attach what has another one's place", http: [3]string{"PUT", "/surfaces/api:local:b", ""}, left: untouched, also: holds("api:local:b", here)},
		{does: "Attach", name: "attach where others may read along", http: [3]string{"PUT", "/surfaces/telegram:1:-5", ""}, refused: conversations.GroupOnly},
		{does: "Attach", name: "attach what has ended", prepare: (*world).expire, http: [3]string{"PUT", "/surfaces/web:local:c", ""}, refused: conversations.Expired},
		{does: "Attach", name: "attach what is not there", http: [3]string{"PUT", "/../api:none/surfaces/web:local:c", ""}, refused: conversations.NotFound},
		{does: "Attach", name: "attach no surface", http: [3]string{"PUT", "/surfaces/nowhere", ""}, refused: conversations.Invalid},

		{does: "Detach", name: "detach", http: [3]string{"DELETE", "/surfaces/web:local:a", ""}, left: untouched, also: holds("web:local:a", "")},
		{does: "Detach", name: "detach again", prepare: (*world).detach, http: [3]string{"DELETE", "/surfaces/web:local:a", ""}, left: untouched, also: holds("web:local:a", "")},
		{does: "Detach", name: "detach another one's place", http: [3]string{"DELETE", "/surfaces/api:local:b", ""}, left: untouched, also: holds("api:local:b", other)},
		{does: "Detach", name: "detach what has ended", prepare: (*world).expire, http: [3]string{"DELETE", "/surfaces/web:local:a", ""}, refused: conversations.Expired},
		{does: "Detach", name: "detach what is not there", http: [3]string{"DELETE", "/../api:none/surfaces/web:local:a", ""}, refused: conversations.NotFound},
	}
}

// holds: a surface has a session, or none.
func holds(surface, session string) func(*world) bool {
	return func(w *world) bool {
		record, err := w.store.Bound(w.Context(), surface)
		return record.ID == session && (err == nil) == (session != "")
	}
}

// life is what becomes of a conversation.
func life() []verb {
	clearIt := func(ctx context.Context, place sessionscli.Place) error { _, err := place.Clear(ctx, here); return err }
	remove := func(ctx context.Context, place sessionscli.Place) error { return place.Delete(ctx, here) }
	return []verb{
		{does: "Clear", name: "clear", chat: "/clear", http: [3]string{"POST", "/clear", ""}, line: clearIt, left: "active  3  3, 0 copies"},
		{does: "Clear", name: "clear while a turn runs", prepare: (*world).run, chat: "/clear", http: [3]string{"POST", "/clear", ""}, line: clearIt, refused: conversations.Running},
		{does: "Clear", name: "clear what has ended", prepare: (*world).expire, chat: "/clear", http: [3]string{"POST", "/clear", ""}, line: clearIt, refused: conversations.Expired},

		{does: "Delete", name: "delete", http: [3]string{"DELETE", "", ""}, line: remove, left: "gone"},
		{does: "Delete", name: "delete a group's", prepare: (*world).group, http: [3]string{"DELETE", "", ""}, line: remove, refused: conversations.GroupOnly},
		{does: "Delete", name: "delete while a turn runs", prepare: (*world).run, http: [3]string{"DELETE", "", ""}, line: remove, refused: conversations.Running},

		{does: "Checkpoint", name: "checkpoint", prepare: (*world).clear, chat: "/checkpoint", http: [3]string{"POST", "/checkpoint", ""}, left: "active  3  3, 0 copies"},
		{does: "Checkpoint", name: "checkpoint what has ended", prepare: (*world).expire, chat: "/checkpoint", http: [3]string{"POST", "/checkpoint", ""}, refused: conversations.Expired},

		{does: "Open", name: "open", http: [3]string{"POST", "/..", `{"id":"api:new"}`}, left: untouched, also: (*world).opened},
		{does: "Open", name: "reopen", http: [3]string{"POST", "/..", `{"id":"web:a"}`}, left: untouched},
		{does: "Open", name: "open what only the gateway makes", http: [3]string{"POST", "/..", `{"id":"flow:x"}`}, refused: conversations.Reserved},
		{does: "Open", name: "open with a name of two lines", http: [3]string{"POST", "/..", `{"id":"api:new","name":"a\nb"}`}, refused: conversations.Invalid},

		{does: "Touch", name: "touch", prepare: (*world).suspend, http: [3]string{"POST", "/touch", ""}, left: untouched},
		{does: "Touch", name: "touch what has ended", prepare: (*world).expire, http: [3]string{"POST", "/touch", ""}, refused: conversations.Expired},
		{does: "Touch", name: "touch what is not there", http: [3]string{"POST", "/../api:none/touch", ""}, refused: conversations.NotFound},

		{does: "Expire", name: "expire", http: [3]string{"POST", "/expire", ""}, left: "expired  3 e3 0, 0 copies", also: holds("web:local:a", "")},
		{does: "Expire", name: "expire again", prepare: (*world).expire, http: [3]string{"POST", "/expire", ""}, left: "expired  3 e3 0, 0 copies"},
		{does: "Expire", name: "expire while a turn runs", prepare: (*world).run, http: [3]string{"POST", "/expire", ""}, left: "expired  4 e4 0, 0 copies"},
		{does: "Expire", name: "expire what is not there", http: [3]string{"POST", "/../api:none/expire", ""}, refused: conversations.NotFound},

		{does: "Stop", name: "stop", prepare: (*world).run, chat: "/stop", http: [3]string{"POST", "/stop", ""}, left: "active  4 e4 0, 0 copies", also: (*world).stopping},
		{does: "Stop", name: "stop nothing", chat: "/stop", http: [3]string{"POST", "/stop", ""}, left: untouched},
		{does: "Stop", name: "stop what is not there", http: [3]string{"POST", "/../api:none/stop", ""}, refused: conversations.NotFound},

		{does: "Discard", name: "discard", prepare: (*world).unused, http: [3]string{"DELETE", "?unused=1", ""}, left: "gone"},
		{does: "Discard", name: "discard what is used", prepare: (*world).answered, http: [3]string{"DELETE", "?unused=1", ""}, left: "active  5 e5 0, 0 copies"},
		{does: "Discard", name: "discard what is not there", http: [3]string{"DELETE", "/../api:none?unused=1", ""}, refused: conversations.NotFound},
	}
}

// looks change nothing.
func looks() []verb {
	drawing := func(id string) func(context.Context, sessionscli.Place) error {
		return func(ctx context.Context, place sessionscli.Place) error {
			_, err := place.Tree(ctx, id, 10)
			return err
		}
	}
	feeding := func(id string) func(context.Context, sessionscli.Place) error {
		return func(ctx context.Context, place sessionscli.Place) error {
			_, err := place.Feed(ctx, id, 10)
			return err
		}
	}
	exporting := func(id string) func(context.Context, sessionscli.Place) error {
		return func(ctx context.Context, place sessionscli.Place) error { return place.Export(ctx, id, io.Discard) }
	}
	finding := func(query sessions.Query) func(context.Context, sessionscli.Place) error {
		return func(ctx context.Context, place sessionscli.Place) error { _, err := place.Find(ctx, query); return err }
	}
	reading := func(id string) func(context.Context, sessionscli.Place) error {
		return func(ctx context.Context, place sessionscli.Place) error { _, err := place.Session(ctx, id); return err }
	}
	return []verb{
		{does: "Get", name: "read", http: [3]string{"GET", "", ""}, line: reading(here), left: untouched},
		{does: "Get", name: "read what is not there", http: [3]string{"GET", "/../api:none", ""}, line: reading("api:none"), refused: conversations.NotFound},
		{does: "Get", name: "read what is no id", http: [3]string{"GET", "/../a%20b", ""}, line: reading("a b"), refused: conversations.Invalid},

		{does: "Tree", name: "draw", chat: "/tree", http: [3]string{"GET", "/tree", ""}, line: drawing(here), left: untouched},
		{does: "Tree", name: "draw what is not there", http: [3]string{"GET", "/../api:none/tree", ""}, line: drawing("api:none"), refused: conversations.NotFound},

		{does: "Path", name: "read a path", http: [3]string{"GET", "/entries?leaf=e2", ""}, left: untouched},
		{does: "Path", name: "read a path to nothing", http: [3]string{"GET", "/entries?leaf=e99", ""}, refused: conversations.NoEntry},
		{does: "Path", name: "read a path and a page", http: [3]string{"GET", "/entries?leaf=e2&after=1", ""}, refused: conversations.Invalid},
		{does: "Path", name: "read a path of what is not there", http: [3]string{"GET", "/../api:none/entries?leaf=e1", ""}, refused: conversations.NotFound},

		{does: "Feed", name: "feed", http: [3]string{"GET", "/feed", ""}, line: feeding(here), left: untouched},
		{does: "Feed", name: "feed of what is not there", http: [3]string{"GET", "/../api:none/feed", ""}, line: feeding("api:none"), refused: conversations.NotFound},

		{does: "Export", name: "export", http: [3]string{"GET", "/export", ""}, line: exporting(here), left: untouched},
		{does: "Export", name: "export what has ended", prepare: (*world).expire, http: [3]string{"GET", "/export", ""}, line: exporting(here), left: "expired  3 e3 0, 0 copies"},
		{does: "Export", name: "export what is not there", http: [3]string{"GET", "/../api:none/export", ""}, line: exporting("api:none"), refused: conversations.NotFound},

		{does: "Find", name: "find", chat: "/sessions", http: [3]string{"GET", "/..?limit=1", ""}, line: finding(sessions.Query{Limit: 1}), left: untouched},
		{does: "Find", name: "find in no state", http: [3]string{"GET", "/..?state=none", ""}, line: finding(sessions.Query{States: []sessions.State{"none"}}), refused: conversations.Invalid},
	}
}

func transcriptOf(id string) string {
	return `{"type":"session_header","version":1,"id":"` + id + `","timestamp":"2026-03-02T10:00:00Z"}` + "\n" +
		`{"type":"message","id":"e1","parent_id":null,"timestamp":"2026-03-02T10:00:01Z","message":{"role":"user","text":"hi"}}` + "\n"
}
