package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// progressFile is kept in the data folder while a migration is under way.
const progressFile = "migrate.json"

// progress is how far a migration has come.
type progress struct {
	Stores string `json:"stores"` // which ones, so that nobody reads an address off it
	Cursor string `json:"cursor"`
	Done   int64  `json:"done"`
}

func progressPath(data string) string { return filepath.Join(data, progressFile) }

// progress of these stores, at the beginning.
func (f migrateFlags) progress() progress {
	sum := sha256.Sum256([]byte(f.from.Reveal() + "\n" + f.to.Reveal()))
	return progress{Stores: hex.EncodeToString(sum[:])}
}

func writeProgress(path string, p progress) error {
	return replaceFile(path, func(w io.Writer) error { return json.NewEncoder(w).Encode(p) })
}

// readProgress reads the file; found is false when there is none.
func readProgress(path string) (p progress, found bool, err error) {
	content, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return p, false, nil
	}
	if err == nil {
		err = json.Unmarshal(content, &p)
	}
	if err != nil {
		return p, false, fmt.Errorf("cannot read how far the migration has come: %w; remove %s and empty the new store", err, path)
	}
	return p, true, nil
}

func removeProgress(path string) error {
	if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
