// Package platforms holds the test that writes and checks docs/platforms.md,
// the table of what each adapter can do.
//
// It promises that the page says what the adapters say of themselves.
//
// It must not hold anything else.
package platforms
