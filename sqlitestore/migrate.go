package sqlitestore

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"path"
	"slices"
)

//go:embed migrations/*.sql
var migrations embed.FS

// applicationID marks a file as ours (PRAGMA application_id): "Parl".
const applicationID = 0x5061726c

// migrate brings the database to the newest schema, from the version that it
// has. File i of migrations makes version i+1, PRAGMA user_version.
func migrate(ctx context.Context, db *sql.DB, file string, version int) error {
	steps, err := steps()
	if err != nil {
		return err
	}
	for i := version; i < len(steps); i++ {
		script := fmt.Sprintf("BEGIN IMMEDIATE; %s; PRAGMA user_version = %d; PRAGMA application_id = %d; COMMIT;", steps[i], i+1, applicationID)
		if _, err := db.ExecContext(ctx, script); err != nil {
			return errors.Join(fmt.Errorf("%s: bring the schema to version %d: %w", file, i+1, err), rollback(ctx, db))
		}
	}
	return nil
}

// rollback ends a transaction that a failed step may have left.
func rollback(ctx context.Context, db *sql.DB) error {
	_, err := db.ExecContext(ctx, "ROLLBACK")
	return err
}

// identify reads the version of a file's schema, over a connection that
// changes nothing. A file of another program, or of a newer gateway, is an
// error that says so.
func identify(ctx context.Context, source, file string) (version int, err error) {
	db, err := sql.Open("sqlite", source)
	if err != nil {
		return 0, fmt.Errorf("open %s: %w", file, err)
	}
	defer db.Close()
	var application, tables int
	err = db.QueryRowContext(ctx, "SELECT (SELECT * FROM pragma_application_id), (SELECT * FROM pragma_user_version), (SELECT count(*) FROM sqlite_schema)").
		Scan(&application, &version, &tables)
	if isNoDatabase(err) {
		return 0, fmt.Errorf("%s is not a gateway's database, or is damaged: move it away to start anew, or restore a backup: %w", file, err)
	}
	if err != nil {
		return 0, fmt.Errorf("%s cannot be read: %w", file, err)
	}
	return version, checkIdentity(file, application, version, tables)
}

func checkIdentity(file string, application, version, tables int) error {
	fresh := application == 0 && version == 0 && tables == 0
	if !fresh && application != applicationID {
		return fmt.Errorf("%s is the database of another program: choose another path", file)
	}
	steps, err := steps()
	if err == nil && version > len(steps) {
		return fmt.Errorf("%s was written by a newer gateway (schema %d, this one knows %d): run that version, or restore a backup", file, version, len(steps))
	}
	return err
}

// steps reads the migrations in order.
func steps() ([]string, error) {
	entries, err := migrations.ReadDir("migrations")
	if err != nil {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	slices.Sort(names)
	var out []string
	for _, name := range names {
		text, err := migrations.ReadFile(path.Join("migrations", name))
		if err != nil {
			return nil, err
		}
		out = append(out, string(text))
	}
	return out, nil
}
