package config

import (
	"encoding/json"
	"fmt"

	"github.com/goccy/go-yaml"
)

// YAML is the configuration as a file, secrets masked.
func (c Config) YAML() ([]byte, error) {
	text, err := json.Marshal(c)
	if err != nil {
		return nil, fmt.Errorf("print the configuration: %w", err)
	}
	return yaml.JSONToYAML(text)
}
