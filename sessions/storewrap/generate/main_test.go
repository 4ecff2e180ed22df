package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

func TestTheForwardingIsThatOfTheStoreAsItIs(t *testing.T) {
	t.Parallel()
	want, err := forwarding()
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(filepath.Join("..", target))
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("sessions/storewrap/%s is not what sessions.Store asks for: go generate ./sessions/storewrap (%v)", target, err)
	}
}
