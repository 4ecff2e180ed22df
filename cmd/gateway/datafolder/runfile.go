package datafolder

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"parley/internal/secret"
)

// RunFileName is the file in the data folder by which a running gateway is
// found by the other commands on this machine.
const RunFileName = "gateway.json"

// RunFile is where a running gateway listens, and the token of its API. Only
// its user can read it.
type RunFile struct {
	Address string `json:"address"` // as in http://127.0.0.1:8080
	Token   string `json:"token"`
	PID     int    `json:"pid"`
}

// String leaves the token out.
func (f RunFile) String() string { return fmt.Sprintf("%s (process %d)", f.Address, f.PID) }

// Secret is the token by which the gateway knows this machine's user.
func (f RunFile) Secret() secret.String { return secret.New(f.Token) }

// WriteRunFile replaces the file as a whole.
func WriteRunFile(data string, file RunFile) error {
	err := ReplaceFile(filepath.Join(data, RunFileName), func(w io.Writer) error { return json.NewEncoder(w).Encode(file) })
	if err != nil {
		return fmt.Errorf("cannot write to the data folder: %w", err)
	}
	return nil
}

// ReadRunFile reads the file; found is false when there is none.
func ReadRunFile(data string) (file RunFile, found bool, err error) {
	path := filepath.Join(data, RunFileName)
	if found, err = ReadJSON(path, &file); err != nil {
		return file, false, fmt.Errorf("cannot read where the running gateway is: %w; remove %s if none runs", err, path)
	}
	return file, found, nil
}

// RemoveRunFile removes the file if it is still this gateway's.
func RemoveRunFile(data string, mine RunFile) error {
	file, found, err := ReadRunFile(data)
	if err != nil || !found || file != mine {
		return err
	}
	return os.Remove(filepath.Join(data, RunFileName))
}

// Make creates the folder for its user alone, and closes one that is there to
// others. A folder of somebody else, or that everybody shares, stays as it is:
// what is written into it is its user's own in any case.
func Make(data string) error {
	if err := os.MkdirAll(data, 0o700); err != nil {
		return fmt.Errorf("cannot make the data folder: %w; set data (GATEWAY_DATA) to a folder that can be written", err)
	}
	info, err := os.Stat(data)
	if err == nil && info.Mode().Perm()&0o077 != 0 && info.Mode()&fs.ModeSticky == 0 && own(info) {
		_ = os.Chmod(data, 0o700) //nolint:gosec // a folder has to be entered
	}
	return nil
}

// ReplaceFile writes a file whole or not at all. Only its user can read it.
func ReplaceFile(path string, write func(io.Writer) error) error {
	temporary, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*")
	if err != nil {
		return fmt.Errorf("cannot write %s: %w", path, err)
	}
	err = write(temporary)
	if closing := temporary.Close(); err == nil {
		err = closing
	}
	if err == nil {
		err = os.Rename(temporary.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(temporary.Name()))
	}
	return nil
}

// ReadJSON reads what a file holds; found is false when there is none.
func ReadJSON(path string, into any) (found bool, err error) {
	content, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err == nil {
		err = json.Unmarshal(content, into)
	}
	return err == nil, err
}

// Remove removes a file, if it is there.
func Remove(path string) error {
	if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
