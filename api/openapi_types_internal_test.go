package api

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"parley/people"
	"parley/scheduler"
	"parley/sessions"
	"parley/sessions/view"
)

// schemaTypes are what the schemas of the document describe.
var schemaTypes = map[string]any{
	"Attached": attachedAnswer{}, "Branch": branchRequest{}, "Check": Check{}, "Checkpointed": checkpointAnswer{}, "Checks": checksAnswer{},
	"Cleared": clearedAnswer{}, "Custom": customRequest{}, "DeadLetter": sessions.DeadLetter{}, "DeadLetters": deadLettersAnswer{},
	"Deleted": deletedAnswer{}, "Delta": deltaJSON{}, "Entries": entriesAnswer{}, "Entry": EntryView{}, "Feed": feedAnswer{}, "FeedItem": view.FeedItem{},
	"Fork": forkRequest{}, "Gap": gapJSON{}, "Health": healthAnswer{}, "Label": labelRequest{}, "LoginLink": loginLinkJSON{}, "Me": meJSON{}, "Message": messageRequest{},
	"Moved": movedJSON{}, "Name": nameRequest{}, "Noted": noteAnswer{}, "Open": openRequest{}, "PartHealth": PartHealth{}, "Patch": patchRequest{},
	"People": people.Everybody{}, "Person": people.Person{}, "Problem": problemJSON{}, "Readiness": Readiness{}, "Resume": resumeRequest{}, "Role": roleRequest{}, "Said": messageAnswer{}, "Schedule": scheduler.View{}, "ScheduleDefinition": scheduler.Definition{}, "ScheduleRun": scheduler.Run{}, "ScheduleRuns": runsAnswer{},
	"Schedules": schedulesAnswer{}, "Session": sessionJSON{}, "Sessions": foundAnswer{}, "Source": sessions.Source{}, "Status": statusJSON{}, "Stop": stopAnswer{},
	"Tree": treeAnswer{}, "TreeNode": view.TreeNode{}, "User": sessions.User{}, "Users": usersAnswer{},
}

// A member that the code has and the document does not, or the other way round,
// fails here, whether a test ever sees it in an answer or not.
func TestSchemasHaveTheMembersOfTheirTypes(t *testing.T) {
	t.Parallel()
	var document struct {
		Components struct {
			Schemas map[string]struct{ Properties map[string]json.RawMessage }
		}
	}
	if err := json.Unmarshal(openAPIDocument, &document); err != nil {
		t.Fatal(err)
	}
	for name, schema := range document.Components.Schemas {
		if schemaTypes[name] == nil {
			t.Errorf("schema %s is of no type", name)
			continue
		}
		want := members(reflect.TypeOf(schemaTypes[name]))
		if got := slices.Sorted(maps.Keys(schema.Properties)); !slices.Equal(got, want) {
			t.Errorf("schema %s has %q; %T has %q", name, got, schemaTypes[name], want)
		}
	}
	for name := range schemaTypes {
		if _, said := document.Components.Schemas[name]; !said {
			t.Errorf("%s is not described", name)
		}
	}
}

// members are the names that a struct has as JSON, in order of the alphabet.
func members(of reflect.Type) (names []string) {
	for field := range of.Fields() {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		switch {
		case field.Anonymous && name == "":
			names = append(names, members(field.Type)...)
		case field.IsExported() && name != "-":
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}
