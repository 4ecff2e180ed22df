package texts

import (
	"fmt"

	"parley/sessions"
)

// What is said about linking identities.
const (
	LinkAlone    = "Write that to me alone, not in a group. A code that was shown here is no secret any more: /link gives another."
	LinkStranger = "I don't know you yet, so the code has to come from an account that I know: write /link to me there, and here `/link` and the code."
	LinkSlow     = "Those were too many wrong codes. Please wait ten minutes, then ask for a new one with /link on your other account."
	LinkWrong    = "That code is unknown, used or too old. Ask for a new one with /link on your other account."
	LinkSame     = "These accounts are one already."
	LinkProgram  = "Accounts are linked where people write themselves, not through a program that speaks for them."
	LinkNotSaid  = "A code is not kept as a message. Send it as one that asks for an answer."
)

// LinkCode gives a code and says what to do with it.
func LinkCode(code string) string {
	return fmt.Sprintf("Within %d minutes, write this to me from your other account, in a direct chat:\n\n`/link %s`\n\n"+
		"Then both accounts are you. Show the code to nobody: whoever uses it becomes you.", int(sessions.LinkFor.Minutes()), code)
}

// LinkOwner asks an owner whether they mean it; word is the answer.
func LinkOwner(code, word string) string {
	return fmt.Sprintf("You are an owner: whoever gave you this code will be one too. Did you ask for it yourself, on another account of yours? "+
		"Then write this to me, within %d minutes:\n\n`/link %s %s`\n\nIf somebody else sent it to you, do nothing.", int(sessions.LinkFor.Minutes()), code, word)
}

// Linked says that accounts are one person now.
func Linked(user sessions.User) string {
	return "Done: you are one person to me now, " + identities(user) + ", with the same conversations and rights everywhere."
}

// identities lists the accounts of a user.
func identities(user sessions.User) string {
	var out []string
	for _, identity := range user.Identities {
		out = append(out, Code(identity))
	}
	return Join(out)
}
