package scheduler_test

import (
	"testing"

	"parley/scheduler"
)

func TestATimeIsSaidWithItsZone(t *testing.T) {
	t.Parallel()
	for want, d := range map[string]scheduler.Definition{
		"every weekday at 09:00 Europe/Berlin": {Cron: "0 9 * * 1-5", Timezone: "Europe/Berlin"},
		"every day at 23:05 UTC":               {Cron: "5 23 * * *", Timezone: "UTC"},
		"every Sunday at 08:30 Asia/Tokyo":     {Cron: "30 8 * * 0", Timezone: "Asia/Tokyo"},
		"0 9 1 * * (Europe/Berlin)":            {Cron: "0 9 1 * *", Timezone: "Europe/Berlin"},
		"*/5 9 * * * (UTC)":                    {Cron: "*/5 9 * * *", Timezone: "UTC"},
		"@daily (UTC)":                         {Cron: "@daily", Timezone: "UTC"},
		"at 2027-01-01 09:00 (Europe/Berlin)":  {At: "2027-01-01 09:00", Timezone: "Europe/Berlin"},
		"every 30m":                            {Every: "30m", Timezone: "Europe/Berlin"},
	} {
		if got := d.Said(); got != want {
			t.Errorf("said %q, want %q", got, want)
		}
	}
}
