package config

import (
	"path/filepath"
	"time"
)

// Defaults.
const (
	FileDefault          = "gateway.yaml" // read when it is there and no file is named
	DataDefault          = "data"
	StoreFileDefault     = "gateway.db" // in the data folder
	ListenDefault        = "127.0.0.1:8080"
	DMDefault            = DMKnown
	GroupsDefault        = GroupsListed
	OwnerAlwaysDefault   = true
	ThreadFollowDefault  = false
	StaleAfterDefault    = Duration(72 * time.Hour)
	QueueDefault         = QueueCollect
	OpenAIBaseDefault    = "https://api.openai.com/v1"
	AnthropicBaseDefault = "https://api.anthropic.com"
	LogLevelDefault      = LevelInfo
	LogFormatDefault     = FormatAuto
)

// WithDefaults returns a copy in which every field that was left open has its
// default. It does not touch what is set.
func (c Config) WithDefaults() Config {
	orDefault(&c.Data, DataDefault)
	orDefault(&c.Store.URL, URL("sqlite://"+filepath.ToSlash(filepath.Join(c.Data, StoreFileDefault))))
	orDefault(&c.Access.DM, DMDefault)
	orDefault(&c.Access.Groups, GroupsDefault)
	if c.Groups.OwnerAlways == nil {
		c.Groups.OwnerAlways = new(OwnerAlwaysDefault)
	}
	if c.Groups.ThreadFollow == nil {
		c.Groups.ThreadFollow = new(ThreadFollowDefault)
	}
	if c.Sessions.StaleAfter == nil {
		c.Sessions.StaleAfter = new(StaleAfterDefault)
	}
	orDefault(&c.Sessions.Queue, QueueDefault)
	c.Limits = c.Limits.withDefaults()
	c.Models = c.Models.withDefaults()
	for _, platform := range c.platforms() {
		platform.defaults()
	}
	orDefault(&c.HTTP.Listen, ListenDefault)
	orDefault(&c.Log.Level, LogLevelDefault)
	orDefault(&c.Log.Format, LogFormatDefault)
	return c
}

func (m Models) withDefaults() Models {
	m.Default = m.Default.withDefaults()
	m.Small = m.Small.inherit(m.Default).withDefaults()
	return m
}

// inherit fills what a model leaves open from another. A key goes along only
// with the address it belongs to.
func (m Model) inherit(from Model) Model {
	orDefault(&m.Provider, from.Provider)
	if m.Provider != from.Provider {
		return m
	}
	orDefault(&m.Name, from.Name)
	orDefault(&m.BaseURL, from.BaseURL)
	if m.APIKey.IsZero() && m.BaseURL == from.BaseURL {
		m.APIKey = from.APIKey
	}
	return m
}

func (m Model) withDefaults() Model {
	switch {
	case m.Provider == "" && m.IsZero():
		m.Provider = ProviderDemo
	case m.Provider == "":
		m.Provider = ProviderOpenAI
	}
	switch m.Provider {
	case ProviderDemo:
		orDefault(&m.Name, DemoNameDefault)
	case ProviderOpenAI:
		orDefault(&m.BaseURL, OpenAIBaseDefault)
		orDefault(&m.Name, OpenAINameDefault)
	case ProviderAnthropic:
		orDefault(&m.BaseURL, AnthropicBaseDefault)
		orDefault(&m.Name, AnthropicNameDefault)
	}
	return m
}

func orDefault[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}
