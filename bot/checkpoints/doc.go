// Package checkpoints brings a conversation's description and working memory
// up to date with what was said in it: one request to the model, one write.
//
// It promises that a checkpoint that fails changes nothing and is tried again,
// that nobody's message waits for one, and that those planned survive the
// process, as timers in the store.
//
// It must not know turns, commands or platforms.
package checkpoints
