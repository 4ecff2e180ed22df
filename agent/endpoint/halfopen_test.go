package endpoint_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"parley/agent/endpoint"
	"parley/test/halfopen"
)

// Every model's client is made by NewClient.
func TestAHalfOpenConnectionIsGivenUp(t *testing.T) {
	t.Parallel()
	client := endpoint.NewClient(nil, time.Minute)
	own, _ := client.Transport.(*http.Transport)
	halfopen.GivenUp(t, own, http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}), func(ctx context.Context, base string) error {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, base, nil)
		if err != nil {
			return err
		}
		response, err := client.Do(request)
		if err != nil {
			return err
		}
		return response.Body.Close()
	})
}
