//go:build unix

package main

import (
	"syscall"
	"time"
)

// ownCPU is the seconds used by this process.
func ownCPU() float64 { return usedCPU(syscall.RUSAGE_SELF) }

// childrenCPU is the seconds used by this process's children that ended.
func childrenCPU() float64 { return usedCPU(syscall.RUSAGE_CHILDREN) }

func usedCPU(who int) float64 {
	var usage syscall.Rusage
	if syscall.Getrusage(who, &usage) != nil {
		return 0
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano()).Seconds()
}
