package scheduler

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Said is when a schedule fires, in words where the cron expression is a
// common one, and always with its zone: "every weekday at 09:00 Europe/Berlin".
func (d Definition) Said() string {
	fields := strings.Fields(d.Cron)
	if len(fields) != cronFields || fields[2] != "*" || fields[3] != "*" {
		return d.When()
	}
	minute, err1 := strconv.Atoi(fields[0])
	hour, err2 := strconv.Atoi(fields[1])
	days := daysSaid(fields[4])
	if err1 != nil || err2 != nil || days == "" {
		return d.When()
	}
	return fmt.Sprintf("every %s at %02d:%02d %s", days, hour, minute, orElse(d.Timezone, "UTC"))
}

// daysSaid is a weekday field in words; empty: it has none.
func daysSaid(field string) string {
	switch field {
	case "*":
		return "day"
	case "1-5", "MON-FRI", "mon-fri":
		return "weekday"
	case "7":
		return time.Sunday.String()
	}
	if n, err := strconv.Atoi(field); err == nil && n >= 0 && n <= int(time.Saturday) {
		return time.Weekday(n).String()
	}
	return ""
}
