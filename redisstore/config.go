package redisstore

import (
	"fmt"
	"log/slog"
	"strings"
	"time"

	"parley/internal/secret"
)

// Defaults of a Config.
const (
	PrefixDefault     = "parley:"
	PartitionsDefault = 64
	PartitionsMax     = 1024
)

// Config says where the store is and how it is laid out.
type Config struct {
	// URL of the server: redis://[user:password@]host[:port][/db],
	// rediss:// (TLS), redis+cluster://[user:password@]host,host…,
	// redis+sentinel://[user:password@]host,host…/master[/db]. Behind a ?:
	//
	//   - tls=true: over TLS;
	//   - ca=FILE: with the authority in this PEM file instead of the system's;
	//   - replicas=N: safe mode. What somebody is told of is on N replicas of
	//     its master, or the call fails with a ReplicasError. 0: off;
	//   - synced=true: and on their disks and the master's. Redis 7.2 or newer.
	URL secret.String
	// Prefix of every key; without braces. Empty: PrefixDefault.
	Prefix string
	// Partitions the key space is divided into, 1 to PartitionsMax; fixed when
	// the store is first used. 0: PartitionsDefault.
	Partitions int
	// Logger gets what an operator should know. Nil: nothing is logged.
	Logger *slog.Logger
	// Offset is added to the server's clock. For tests. Nil: none.
	Offset func() time.Duration
}

// WithDefaults fills in what is not set.
func (c Config) WithDefaults() Config {
	if c.Prefix == "" {
		c.Prefix = PrefixDefault
	}
	if c.Partitions == 0 {
		c.Partitions = PartitionsDefault
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if c.Offset == nil {
		c.Offset = func() time.Duration { return 0 }
	}
	return c
}

func (c Config) validate() error {
	if c.Partitions < 1 || c.Partitions > PartitionsMax {
		return fmt.Errorf("store partitions must be 1 to %d, not %d", PartitionsMax, c.Partitions)
	}
	if strings.ContainsAny(c.Prefix, "{}") {
		return fmt.Errorf("store prefix %q must not contain braces", c.Prefix)
	}
	return nil
}
