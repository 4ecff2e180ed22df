//go:build race

package bot

// raceDetector makes everything here several times slower.
const raceDetector = true
