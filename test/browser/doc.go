// Package browser drives the chat page with a real Chromium: keyboard, screen
// sizes, streams, and lost connections.
//
// Its tests need the build tag external (make test-external). Without Chromium
// they are skipped by name on a developer's machine and fail where CI=true.
// They take a [starter], so that the same tests run against the HTTP server
// alone and against the whole gateway.
package browser
