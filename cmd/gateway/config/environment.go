package config

import (
	"strings"

	"parley/adapters"
	"parley/internal/secret"
)

// fromEnvironment fills what the file left open from the variables that are
// understood without any file.
func fromEnvironment(c Config, environ Environ) (filled Config, warnings []string) {
	orDefault(&c.Data, environ.get("GATEWAY_DATA"))
	orDefault(&c.Store.URL, URL(environ.get("REDIS_URL")))
	if c.Owners == nil {
		c.Owners = identities(environ.get("GATEWAY_OWNERS"))
	}
	orDefault(&c.Access.DM, DMAccess(environ.get("GATEWAY_ACCESS_DM")))
	orDefault(&c.Access.Groups, GroupAccess(environ.get("GATEWAY_ACCESS_GROUPS")))
	orDefault(&c.HTTP.Listen, environ.get("GATEWAY_LISTEN"))
	orSecret(&c.HTTP.Token, environ.get("GATEWAY_TOKEN"))
	for _, platform := range c.platforms() {
		platform.fromEnvironment(environ)
	}
	c.Models, warnings = modelsFromEnvironment(c.Models, environ)
	return c, warnings
}

func orSecret(field *secret.String, value string) {
	if field.IsZero() && value != "" {
		*field = secret.New(value)
	}
}

func identities(list string) []adapters.Identity {
	var out []adapters.Identity
	for item := range strings.SplitSeq(list, ",") {
		if item = strings.TrimSpace(item); item != "" {
			out = append(out, adapters.Identity(item))
		}
	}
	return out
}
