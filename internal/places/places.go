package places

// The gateway's own places, as they stand before the colon of a surface and of
// a session id. Schedule is the gateway talking to itself on time.
const (
	Web      = "web"
	CLI      = "cli"
	API      = "api"
	Schedule = "schedule"
)

// Own reports whether a platform is one of the gateway's own.
func Own(platform string) bool {
	switch platform {
	case Web, CLI, API, Schedule:
		return true
	}
	return false
}
