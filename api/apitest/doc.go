// Package apitest is a small gateway for the tests of package api and of its
// page: Operations over any store, with a model that the test plays itself.
//
// It promises the order of things the real gateway has (message, drafts,
// answer, status), one turn at a time. It is for tests only, and must not know
// HTTP.
package apitest
