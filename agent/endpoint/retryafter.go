package endpoint

import (
	"net/http"
	"strconv"
	"time"
)

// retryAfterMax bounds what a Retry-After header can ask for.
const retryAfterMax = 24 * time.Hour

// RetryAfter reads Retry-After (seconds, or a date) and retry-after-ms, which
// some providers send beside it. 0: not said, or nothing sensible.
func RetryAfter(header http.Header, now time.Time) time.Duration {
	wait := time.Duration(0)
	if millis, err := strconv.ParseFloat(header.Get("Retry-After-Ms"), 64); err == nil {
		wait = scaled(millis, time.Millisecond)
	} else if seconds, err := strconv.ParseFloat(header.Get("Retry-After"), 64); err == nil {
		wait = scaled(seconds, time.Second)
	} else if date, err := http.ParseTime(header.Get("Retry-After")); err == nil {
		wait = date.Sub(now)
	}
	return min(max(wait, 0), retryAfterMax)
}

// scaled is n units, without overflow. Not a number gives 0.
func scaled(n float64, unit time.Duration) time.Duration {
	if !(n > 0) {
		return 0
	}
	return time.Duration(min(n*float64(unit), float64(retryAfterMax)))
}
