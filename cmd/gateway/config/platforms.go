package config

// platform is one platform's block of the file.
type platform interface {
	fromEnvironment(environ Environ) // fills what the file left open
	defaults()                       // fills what is still open
	check(v *validator)              // complains about what is wrong
	off()                            // forgets the credentials
}

// platforms are all there are, in the order of the file.
func (c *Config) platforms() []platform { return []platform{&c.Telegram, &c.Discord, &c.Slack} }

// WithoutPlatforms is the configuration of a gateway that no platform is
// connected to.
func (c Config) WithoutPlatforms() Config {
	for _, platform := range c.platforms() {
		platform.off()
	}
	return c
}
