//go:build !linux

package main

import "os/exec"

// bindToParent does nothing here: a killed driver leaves its gateways.
func bindToParent(*exec.Cmd) {}

// peakMemory is not known here.
func peakMemory(int) (peak int, known bool) { return 0, false }
