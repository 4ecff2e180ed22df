package config

import "strings"

// suggestionMax is how many edits apart a key may be from the one it is
// taken for.
const suggestionMax = 2

// closest finds the known word nearest to word, if one is near enough to be
// what was meant.
func closest(word string, known []string) (string, bool) {
	best, distance := "", suggestionMax+1
	for _, candidate := range known {
		if d := editDistance(strings.ToLower(word), candidate); d < distance && d < len(candidate) {
			best, distance = candidate, d
		}
	}
	return best, best != ""
}

// editDistance counts insertions, deletions, substitutions and swaps of
// neighbours that turn a into b.
func editDistance(a, b string) int {
	rows := make([][]int, len(a)+1)
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
		rows[i][0] = i
	}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			rows[i][j] = min(rows[i-1][j]+1, rows[i][j-1]+1, rows[i-1][j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				rows[i][j] = min(rows[i][j], rows[i-2][j-2]+1)
			}
		}
	}
	return rows[len(a)][len(b)]
}
