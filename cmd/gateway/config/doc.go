// Package config reads the gateway's settings: one YAML file, the environment,
// or both.
//
// It promises that a key it does not know is an error with its line and column,
// that every problem is reported at once and by its path, that what is absent
// has a documented default, and that a secret never shows in what it prints.
// What the file sets wins; the environment fills in what the file leaves open.
//
// It must not open, dial or start anything: it turns text into a checked
// [Config] and knows no package that acts on it.
package config
