package openai_test

import (
	"context"
	"net"
	"net/http"
)

func countDials(transport *http.Transport, count *int) *http.Transport {
	transport.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		*count++
		return (&net.Dialer{}).DialContext(ctx, network, address)
	}
	return transport
}
