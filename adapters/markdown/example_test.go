package markdown_test

import (
	"fmt"
	"unicode/utf8"

	"parley/adapters/markdown"
)

func ExampleTelegram() {
	fmt.Println(markdown.Telegram("# Hi\n\n- **a** < b\n- [y](javascript:alert(1))"))
	// Output:
	// <b>Hi</b>
	//
	// • <b>a</b> &lt; b
	// • y
}

func ExampleSplit() {
	for _, part := range markdown.Split("```go\na := 1\nb := 2\n```", 20, utf8.RuneCountInString) {
		fmt.Printf("%q\n", part)
	}
	// Output:
	// "```go\na := 1\n```"
	// "```go\nb := 2\n```"
}

func ExampleClose() {
	fmt.Printf("%q\n", markdown.Close("see **the `co"))
	// Output: "see **the `co`**"
}
