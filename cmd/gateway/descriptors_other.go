//go:build !unix

package main

import "parley/api"

// connectionsMax is api's own where open files have no limit.
func connectionsMax() int { return api.ConnectionsDefault }
