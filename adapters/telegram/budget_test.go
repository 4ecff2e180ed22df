package telegram_test

import (
	"fmt"
	"strings"
	"testing"

	"parley/adapters"
	"parley/test/faketelegram"
)

// deliver splits and sends an answer, and gives the URLs and the count of
// entities that arrived.
func deliver(t *testing.T, answer string) (urls []string, entities int, parts int) {
	t.Helper()
	r := newRig(t)
	chat := r.server.User(5, "Alice", "").DM()
	texts := r.adapter.Split(answer, adapters.Markdown)
	for i, part := range texts {
		if _, err := r.adapter.Send(r.ctx, adapters.Outgoing{Surface: to(5), Text: part, DeliveryID: fmt.Sprint(i)}); err != nil {
			t.Fatalf("part %d of %d: %v", i+1, len(texts), err)
		}
	}
	for _, sent := range r.server.Sent(chat) {
		entities += len(sent.Entities)
		for _, entity := range sent.Entities {
			if entity.Type == "text_link" {
				urls = append(urls, entity.URL)
			}
		}
	}
	return urls, entities, len(texts)
}

// Telegram drops what is beyond a hundred entities without a word.
func TestNoLinkOfALongListVanishes(t *testing.T) {
	t.Parallel()
	var list strings.Builder
	for i := range 130 {
		fmt.Fprintf(&list, "- [item %d](https://e.com/%d)\n", i, i)
	}
	if urls, _, parts := deliver(t, list.String()); len(urls) != 130 || parts > 3 {
		t.Errorf("%d of 130 links arrive in %d parts", len(urls), parts)
	}
}

func TestNoStressOfALongListVanishes(t *testing.T) {
	t.Parallel()
	urls, entities, _ := deliver(t, strings.Repeat("- **bold** [link](https://e.com/x) `code`\n", 300))
	if len(urls) != 300 || entities != 900 {
		t.Errorf("%d of 300 links and %d of 900 entities arrive", len(urls), entities)
	}
}

// The addresses of one message have a budget of their own.
func TestLongAddressesAreDelivered(t *testing.T) {
	t.Parallel()
	list := strings.Repeat("- [report](https://example.com/"+strings.Repeat("p", 150)+")\n", 60)
	if urls, _, parts := deliver(t, list); len(urls) != 60 || parts < 2 {
		t.Errorf("%d of 60 links arrive in %d parts", len(urls), parts)
	}
}

func TestOneEnormousAddressIsDelivered(t *testing.T) {
	t.Parallel()
	if _, _, parts := deliver(t, "see [here](https://example.com/"+strings.Repeat("p", 9000)+") for more"); parts < 3 {
		t.Errorf("an address of 9,000 bytes takes %d parts", parts)
	}
}

// A refusal of formatted text that is about nothing else sends it once more,
// plain.
func TestWhateverIsWrongWithFormattingItGoesAsPlainText(t *testing.T) {
	t.Parallel()
	for _, words := range []string{"Bad Request: ENTITIES_TOO_LONG", "Bad Request: can't parse entities: x", "Bad Request: something new about entities"} {
		r := newRig(t)
		chat := r.server.User(5, "Alice", "").DM()
		r.server.Fail("sendMessage", faketelegram.Fault{Kind: faketelegram.Refused, Code: 400, Text: words})
		if _, err := r.adapter.Send(r.ctx, adapters.Outgoing{Surface: to(5), Text: "**hello** [x](http://x.org)"}); err != nil {
			t.Errorf("%s: %v", words, err)
		}
		if sent := r.server.Sent(chat); len(sent) != 1 || len(sent[0].Entities) != 0 {
			t.Errorf("%s: sent %+v", words, sent)
		}
	}
}
