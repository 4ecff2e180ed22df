package faketelegram

import "slices"

// Telegram's budgets of one message besides its text: entities beyond the
// first vanish without a word, those beyond the second refuse the message.
const (
	entitiesMax    = 100
	entityBytesMax = 9500
	entityBytes    = 12 // what each takes besides its address
)

// bounded drops what is too many as the server does: links and code stay
// first, stress has what room is left.
func bounded(entities []Entity) ([]Entity, error) {
	bytes := 0
	for _, entity := range entities {
		bytes += entityBytes + len(entity.URL) + len(entity.Language)
	}
	if bytes > entityBytesMax {
		return nil, badRequest("ENTITIES_TOO_LONG")
	}
	kept := slices.Clone(entities)
	slices.SortStableFunc(kept, func(a, b Entity) int { return rank(a) - rank(b) })
	kept = kept[:min(len(kept), entitiesMax)]
	slices.SortStableFunc(kept, func(a, b Entity) int { return a.Offset - b.Offset })
	return kept, nil
}

func rank(entity Entity) int {
	switch entity.Type {
	case "text_link", "code", "pre":
		return 0
	}
	return 1
}
