package config

import (
	"errors"
	"time"
)

// Duration is a time such as 72h or 1m30s; 0 needs no unit. It is never
// negative.
type Duration time.Duration

// UnmarshalText reads what people write.
func (d *Duration) UnmarshalText(text []byte) error {
	parsed, err := time.ParseDuration(string(text))
	if err != nil || parsed < 0 {
		return errors.New("must be a time such as 30s, 10m or 72h")
	}
	*d = Duration(parsed)
	return nil
}

// MarshalText writes what UnmarshalText reads.
func (d Duration) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// String is the time as people write it.
func (d Duration) String() string { return time.Duration(d).String() }
