package config

import (
	"encoding/json"
	"fmt"
	"reflect"

	"github.com/google/jsonschema-go/jsonschema"

	"parley/internal/secret"
)

// Schema is the JSON Schema of the file, made from [Config]: descriptions,
// words allowed, defaults. Editors use it to complete and check.
func Schema() (*jsonschema.Schema, error) {
	schema, err := jsonschema.For[Config](&jsonschema.ForOptions{TypeSchemas: typeSchemas()})
	if err != nil {
		return nil, fmt.Errorf("make the schema: %w", err)
	}
	schema.Schema = "https://json-schema.org/draft/2020-12/schema"
	schema.Title = "gateway configuration"
	if err := addDefaults(schema, Config{}.WithDefaults()); err != nil {
		return nil, err
	}
	return schema, nil
}

func typeSchemas() map[reflect.Type]*jsonschema.Schema {
	return map[reflect.Type]*jsonschema.Schema{
		reflect.TypeFor[secret.String](): {Type: "string"},
		reflect.TypeFor[URL]():           {Type: "string"},
		reflect.TypeFor[Duration]():      {Types: []string{"string", "integer"}},
		reflect.TypeFor[Queue]():         words(QueueCollect, QueueFollowup),
		reflect.TypeFor[DMAccess]():      words(DMKnown, DMAnyone),
		reflect.TypeFor[GroupAccess]():   words(GroupsListed, GroupsAnyone),
		reflect.TypeFor[Provider]():      words(ProviderOpenAI, ProviderAnthropic, ProviderDemo),
		reflect.TypeFor[TokenScope]():    words(ScopeOwner, ScopeChannel),
		reflect.TypeFor[TelegramMode]():  words(TelegramPolling),
		reflect.TypeFor[LogLevel]():      words(LevelDebug, LevelInfo, LevelWarn, LevelError),
		reflect.TypeFor[LogFormat]():     words(FormatAuto, FormatText, FormatJSON),
	}
}

// words is the schema of a word out of a list; a value may also be a variable.
func words[T ~string](allowed ...T) *jsonschema.Schema {
	list := make([]any, len(allowed))
	for i, word := range allowed {
		list[i] = string(word)
	}
	return &jsonschema.Schema{Type: "string", AnyOf: []*jsonschema.Schema{
		{Enum: list},
		{Pattern: `\$\{.+\}`},
	}}
}

// addDefaults writes the defaults into the leaves of the schema.
func addDefaults(schema *jsonschema.Schema, defaults Config) error {
	text, err := json.Marshal(defaults)
	if err != nil {
		return fmt.Errorf("make the schema: %w", err)
	}
	var values map[string]json.RawMessage
	if err := json.Unmarshal(text, &values); err != nil {
		return fmt.Errorf("make the schema: %w", err)
	}
	addLeafDefaults(schema, values)
	return nil
}

func addLeafDefaults(schema *jsonschema.Schema, values map[string]json.RawMessage) {
	for key, property := range schema.Properties {
		var inner map[string]json.RawMessage
		if json.Unmarshal(values[key], &inner) == nil && len(property.Properties) > 0 {
			addLeafDefaults(property, inner)
			continue
		}
		if key != "provider" && key != "name" && key != "base_url" { // depend on each other
			property.Default = values[key]
		}
	}
}
