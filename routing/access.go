package routing

// Role is what a sender may do on this bot. It belongs to one message: it is
// resolved when the message is routed and stays with it.
type Role string

// Roles. Any other word, the empty one included, has the rights of Blocked.
const (
	Owner   Role = "owner"
	Member  Role = "member"
	Guest   Role = "guest"
	Blocked Role = "blocked"
)

// Rank orders roles by rights: a higher rank may do all that a lower one may.
// Blocked and unknown roles are 0.
func (r Role) Rank() int {
	switch r {
	case Owner:
		return 3
	case Member:
		return 2
	case Guest:
		return 1
	default:
		return 0
	}
}

// DMAccess says who may talk to the bot in a direct chat.
type DMAccess string

// Direct access. Everything but DMAnyone is read as DMKnown.
const (
	DMKnown  DMAccess = "known"  // owners and members
	DMAnyone DMAccess = "anyone" // everybody who is not blocked
)

// GroupAccess says in which groups the bot talks.
type GroupAccess string

// GroupsAnyone is every group the bot is in. Everything else is read as those
// that an owner has allowed.
const GroupsAnyone GroupAccess = "anyone"

// Access is who may talk at all. Its zero value is the strictest.
type Access struct {
	DM     DMAccess
	Groups GroupAccess
}

// Policy is the configuration that decisions depend on.
type Policy struct {
	Access Access
	// OwnerAlways: an owner's message in a group starts a turn even when it
	// does not name the bot.
	OwnerAlways bool
	// ThreadFollow: in a group, a message in a thread that the bot takes part
	// in counts as directed at it.
	ThreadFollow bool
}
