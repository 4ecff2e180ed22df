// Package openai speaks to every language model behind an OpenAI-compatible
// chat completions endpoint: OpenAI itself, a hosted provider, or a server on
// this machine, told apart by nothing but the base URL.
//
// It promises one attempt per call, a bound on every wait and every size, an
// error of a known kind for every way an endpoint can fail, and that neither
// the key nor a password in the base URL shows in any error.
//
// It must not retry, read environment variables (but for the proxy's), or know
// anything of chats.
package openai
