package main

import (
	"context"
	"strconv"
	"strings"
	"time"

	"parley/test/redistest"
)

// cpuMeter tells how much CPU this process and a Redis server have used: the
// figure that other work on the machine disturbs least.
type cpuMeter struct{ server *redistest.Server }

// used is the seconds so far.
func (m cpuMeter) used(ctx context.Context) (float64, error) {
	sum := ownCPU()
	if m.server == nil {
		return sum, nil
	}
	client := m.server.Client()
	defer client.Close()
	info, err := client.Info(ctx, "cpu").Result()
	if err != nil {
		return 0, err
	}
	for _, name := range []string{"used_cpu_user", "used_cpu_sys"} {
		seconds, err := infoNumber(info, name)
		if err != nil {
			return 0, err
		}
		sum += seconds
	}
	return sum, nil
}

// busyCPU is the seconds that all processors of the machine were busy since
// its start; 0 where that is not told.
func busyCPU() float64 {
	const idle, ioWait, ticksPerSecond = 4, 5, 100
	sum := 0.0
	for i, field := range strings.Fields(firstLine("/proc/stat")) {
		if ticks, err := strconv.ParseFloat(field, 64); err == nil && i < 9 && i != idle && i != ioWait {
			sum += ticks / ticksPerSecond
		}
	}
	return sum
}

// others measures what else a machine did meanwhile.
type others struct {
	began     time.Time
	busy, own float64
}

func watchOthers() others {
	return others{began: time.Now(), busy: busyCPU(), own: ownCPU() + childrenCPU()}
}

// share is the part of all the machine's CPU that neither this process nor its
// ended children used, in percent.
func (o others) share(cores int) float64 {
	now := watchOthers()
	spent := (now.busy - o.busy) - (now.own - o.own)
	return max(0, 100*spent/(time.Since(o.began).Seconds()*float64(cores)))
}
