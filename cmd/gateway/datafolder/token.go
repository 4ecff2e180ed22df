package datafolder

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

// TokenFileName is where a token that nobody configured is kept, so that
// browsers and terminals stay signed in over a restart.
const TokenFileName = "api-token"

// KeptToken reads the token of the data folder, or draws one and keeps it,
// readable by its user only.
func KeptToken(data string) (secret.String, error) {
	path := filepath.Join(data, TokenFileName)
	if info, err := os.Lstat(path); err == nil && (!info.Mode().IsRegular() || !own(info) || info.Mode().Perm()&0o002 != 0) {
		return secret.String{}, fmt.Errorf("%s may have been put there by somebody else; remove it to have a new token drawn, or set GATEWAY_TOKEN", path)
	}
	content, err := os.ReadFile(path)
	if token := strings.TrimSpace(string(content)); err == nil && token != "" {
		return secret.New(token), CloseToOthers(path)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return secret.String{}, fmt.Errorf("cannot read the API's token: %w; set GATEWAY_TOKEN", err)
	}
	token := rand.Text()
	if err := errors.Join(os.WriteFile(path, nil, 0o600), CloseToOthers(path), os.WriteFile(path, []byte(token+"\n"), 0o600)); err != nil {
		return secret.String{}, fmt.Errorf("cannot keep the API's token: %w; set GATEWAY_TOKEN", err)
	}
	return secret.New(token), nil
}

// CloseToOthers makes a file its user's own, however it came to be: copied from
// a backup, or on a volume that is opened to a group.
func CloseToOthers(path string) error {
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm()&0o077 == 0 {
		return err
	}
	if err := os.Chmod(path, 0o600); err != nil {
		return fmt.Errorf("others can read the API's token in %s: %w; remove the file, or set GATEWAY_TOKEN", path, err)
	}
	return nil
}
