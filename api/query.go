package api

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// queryOf reads a request's query. A parameter that the route does not know is
// refused: a filter that is passed over in silence would answer with too much.
// Those whose name here ends in … may come more than once.
func queryOf(r *http.Request, known ...string) (url.Values, error) {
	values, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return nil, badRequest("The query cannot be read: " + err.Error() + ". Escape what is not a letter or digit.")
	}
	for name, given := range values {
		repeatable := slices.Contains(known, name+"…")
		if !repeatable && !slices.Contains(known, name) {
			return nil, badRequest("The parameter " + strconv.Quote(shorten(name)) + " is not known here. GET /v1/openapi.json lists those that are.")
		}
		if !repeatable && len(given) > 1 {
			return nil, badRequest("Give the parameter " + name + " once.")
		}
	}
	return values, nil
}

// shorten keeps what is quoted back to a caller small.
func shorten(text string) string {
	const most = 60
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "…"
}

func instant(name, text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return at, badRequest(name + " must be a time such as 2026-03-01T12:00:00Z.")
	}
	return at, nil
}

// flag reads a parameter that is on as 1 or true, and off as 0, false or
// nothing.
func flag(values url.Values, name string) (bool, error) {
	switch values.Get(name) {
	case "", "0", "false":
		return false, nil
	case "1", "true":
		return true, nil
	}
	return false, badRequest(name + " must be 1 or 0.")
}
