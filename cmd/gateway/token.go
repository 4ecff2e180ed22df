package main

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"parley/internal/secret"
)

// tokenFileName is where a token that nobody configured is kept, so that
// browsers and terminals stay signed in over a restart.
const tokenFileName = "api-token"

// keptToken reads the token of the data folder, or draws one and keeps it,
// readable by its user only.
func keptToken(data string) (secret.String, error) {
	path := filepath.Join(data, tokenFileName)
	content, err := os.ReadFile(path)
	if token := strings.TrimSpace(string(content)); err == nil && token != "" {
		return secret.New(token), nil
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return secret.String{}, fmt.Errorf("cannot read the API's token: %w; set GATEWAY_TOKEN", err)
	}
	token := rand.Text()
	if err := os.WriteFile(path, []byte(token+"\n"), 0o600); err != nil {
		return secret.String{}, fmt.Errorf("cannot keep the API's token: %w; set GATEWAY_TOKEN", err)
	}
	return secret.New(token), nil
}
