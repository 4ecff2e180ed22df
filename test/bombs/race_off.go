//go:build !race

package bombs

const racing = false
