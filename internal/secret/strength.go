package secret

import (
	"math"
	"strings"
)

// distinctMin: a text of fewer different characters was not drawn at random.
const distinctMin = 8

// Bits is at most how many bits a text has if it was drawn at random from the
// kinds of characters that are in it; 0: it was not drawn at random. What
// people made up has fewer.
func Bits(text string) float64 {
	different := map[rune]bool{}
	for _, r := range text {
		different[r] = true
	}
	if len(different) < distinctMin {
		return 0
	}
	alphabet := 62.0
	switch {
	case strings.Trim(text, "0123456789") == "":
		alphabet = 10
	case strings.Trim(text, "0123456789abcdef") == "", strings.Trim(text, "0123456789ABCDEF") == "":
		alphabet = 16
	case text == strings.ToLower(text), text == strings.ToUpper(text):
		alphabet = 32
	}
	return float64(len(text)) * math.Log2(alphabet)
}
