// Package anthropic asks Anthropic's models, or whatever speaks its Messages
// API, through the official library.
//
// It promises one attempt per call, a bound on every wait and every size, an
// error of a known kind for every way the API can fail, a request in the order
// the API insists on whatever the conversation looks like, and that neither
// the key nor a password in the base URL shows in any error.
//
// It must not retry, read environment variables (but for the proxy's), or know
// anything of chats.
package anthropic
