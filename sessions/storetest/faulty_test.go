package storetest_test

import (
	"context"
	"errors"
	"reflect"
	"testing"

	"parley/sessions"
	"parley/sessions/storetest"
	"parley/sqlitestore"
)

func faulty(t *testing.T) *storetest.Faulty {
	t.Helper()
	store, err := sqlitestore.Open(t.Context(), sqlitestore.Config{Path: sqlitestore.Memory})
	if err != nil {
		t.Fatal(err)
	}
	f := storetest.NewFaulty(store)
	t.Cleanup(func() {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	})
	return f
}

func post(t *testing.T, f *storetest.Faulty, key string) (sessions.PostResult, error) {
	t.Helper()
	return f.Post(t.Context(), sessions.PostRequest{Key: key, Surface: "telegram:1:2", Message: sessions.Message{Role: sessions.RoleUser, Text: key}})
}

func TestAFaultBeforeTheEffectLeavesNothing(t *testing.T) {
	t.Parallel()
	f := faulty(t)
	f.Fail(storetest.Fault{Op: "Post", When: storetest.Before})
	if result, err := post(t, f, "a"); !errors.Is(err, sessions.ErrUnavailable) || result.Seq != 0 {
		t.Fatalf("%+v, %v", result, err)
	}
	if result, err := post(t, f, "a"); err != nil || result.Outcome != sessions.PostLogged {
		t.Fatalf("once more: %+v, %v", result, err)
	}
	if f.Armed() != 0 || f.Calls("Post") != 2 || f.Calls("Get") != 0 {
		t.Errorf("%d armed, %d posts", f.Armed(), f.Calls("Post"))
	}
}

func TestAFaultAfterTheEffectHidesIt(t *testing.T) {
	t.Parallel()
	f := faulty(t)
	mine := errors.New("mine")
	f.Fail(storetest.Fault{Op: "Post", When: storetest.After, Err: mine})
	if result, err := post(t, f, "a"); !errors.Is(err, mine) || result.Seq != 0 {
		t.Fatalf("%+v, %v", result, err)
	}
	if result, err := post(t, f, "a"); err != nil || result.Outcome != sessions.PostDuplicate || result.Seq != 1 {
		t.Fatalf("once more: %+v, %v", result, err)
	}
}

func TestFaultsMeetTheCallTheyName(t *testing.T) {
	t.Parallel()
	f := faulty(t)
	f.Fail(storetest.Fault{Op: "Post", Call: 2}, storetest.Fault{Op: "Ping"}, storetest.Fault{Op: "Post", Call: 3})
	var failed []int
	for i := range 5 {
		if _, err := post(t, f, ""); err != nil {
			failed = append(failed, i+1)
		}
	}
	if len(failed) != 2 || failed[0] != 2 || failed[1] != 3 {
		t.Errorf("posts %v failed, want 2 and 3", failed)
	}
	if err := f.Ping(t.Context()); err == nil {
		t.Error("the ping did not fail")
	}
	f.Fail(storetest.Fault{})
	if _, err := f.Due(t.Context(), 1); err == nil {
		t.Error("a fault of any call met none")
	}
}

func TestAFaultMeetsEveryMethodOfTheStore(t *testing.T) {
	t.Parallel()
	f := faulty(t)
	for method := range reflect.TypeFor[sessions.Store]().Methods() {
		if method.Name == "Close" {
			continue
		}
		f.Fail(storetest.Fault{Op: method.Name})
		if err := withNothing(t.Context(), reflect.ValueOf(f).MethodByName(method.Name)); !errors.Is(err, sessions.ErrUnavailable) || f.Armed() != 0 {
			t.Fatalf("%s passed by: %v, %d armed", method.Name, err, f.Armed())
		}
	}
}

// withNothing calls a method of a store with zero arguments.
func withNothing(ctx context.Context, method reflect.Value) error {
	args := []reflect.Value{reflect.ValueOf(ctx)}
	for i := 1; i < method.Type().NumIn(); i++ {
		args = append(args, reflect.Zero(method.Type().In(i)))
	}
	results := method.Call(args)
	err, _ := reflect.TypeAssert[error](results[len(results)-1])
	return err
}
