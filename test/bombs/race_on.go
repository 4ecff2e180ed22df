//go:build race

package bombs

// racing: the race detector empties pools at random, so that what a text costs
// cannot be told from what is allocated.
const racing = true
