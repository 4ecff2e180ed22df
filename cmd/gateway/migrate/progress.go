package migrate

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"

	"parley/cmd/gateway/datafolder"
)

// progressFile is kept in the data folder while a migration is under way.
const progressFile = "migrate.json"

// progress is how far a migration has come.
type progress struct {
	Stores string `json:"stores"` // which ones, so that nobody reads an address off it
	Cursor string `json:"cursor"`
	Done   int64  `json:"done"`
}

// ProgressPath is the file in the data folder that says how far a migration came.
func ProgressPath(data string) string { return filepath.Join(data, progressFile) }

// progress of these stores, at the beginning.
func (f migrateFlags) progress() progress {
	sum := sha256.Sum256([]byte(f.from.Reveal() + "\n" + f.to.Reveal()))
	return progress{Stores: hex.EncodeToString(sum[:])}
}

func writeProgress(path string, p progress) error {
	return datafolder.ReplaceFile(path, func(w io.Writer) error { return json.NewEncoder(w).Encode(p) })
}

// ReadProgress reads the file; found is false when there is none.
func ReadProgress(path string) (p progress, found bool, err error) {
	if found, err = datafolder.ReadJSON(path, &p); err != nil {
		return p, false, fmt.Errorf("cannot read how far the migration has come: %w; remove %s and empty the new store", err, path)
	}
	return p, found, nil
}
