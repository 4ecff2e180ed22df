package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"parley/internal/secret"
)

// runFileName is the file in the data folder by which a running gateway is
// found by the other commands on this machine.
const runFileName = "gateway.json"

// runFile is where a running gateway listens, and the token of its API. Only
// its user can read it.
type runFile struct {
	Address string `json:"address"` // as in http://127.0.0.1:8080
	Token   string `json:"token"`
	PID     int    `json:"pid"`
}

// String leaves the token out.
func (f runFile) String() string { return fmt.Sprintf("%s (process %d)", f.Address, f.PID) }

func (f runFile) secret() secret.String { return secret.New(f.Token) }

// writeRunFile replaces the file as a whole.
func writeRunFile(data string, file runFile) error {
	content, err := json.Marshal(file)
	if err != nil {
		return err
	}
	temporary, err := os.CreateTemp(data, "."+runFileName+"-*") // 0600
	if err != nil {
		return fmt.Errorf("cannot write to the data folder: %w", err)
	}
	_, err = temporary.Write(append(content, '\n'))
	err = errors.Join(err, temporary.Close())
	if err == nil {
		err = os.Rename(temporary.Name(), filepath.Join(data, runFileName))
	}
	if err != nil {
		return errors.Join(fmt.Errorf("cannot write to the data folder: %w", err), os.Remove(temporary.Name()))
	}
	return nil
}

// readRunFile reads the file; found is false when there is none.
func readRunFile(data string) (file runFile, found bool, err error) {
	path := filepath.Join(data, runFileName)
	content, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return file, false, nil
	}
	if err == nil {
		err = json.Unmarshal(content, &file)
	}
	if err != nil {
		return file, false, fmt.Errorf("cannot read where the running gateway is: %w; remove %s if none runs", err, path)
	}
	return file, true, nil
}

// removeRunFile removes the file if it is still this gateway's.
func removeRunFile(data string, mine runFile) error {
	file, found, err := readRunFile(data)
	if err != nil || !found || file != mine {
		return err
	}
	return os.Remove(filepath.Join(data, runFileName))
}

// makeDataFolder creates the folder for its user alone.
func makeDataFolder(data string) error {
	if err := os.MkdirAll(data, 0o700); err != nil {
		return fmt.Errorf("cannot make the data folder: %w; set data (GATEWAY_DATA) to a folder that can be written", err)
	}
	return nil
}
