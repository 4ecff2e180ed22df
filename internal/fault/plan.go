package fault

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Plan is what Variable holds: at the given pass of a point, act.
type Plan struct {
	Point  Point
	Pass   int64 // from 1
	Action string
}

// String is the plan as Variable holds it.
func (p Plan) String() string { return fmt.Sprintf("%s:%d:%s", p.Point, p.Pass, p.Action) }

// ParsePlan reads a plan.
func ParsePlan(text string) (Plan, error) {
	parts := strings.Split(text, ":")
	if len(parts) != 3 {
		return Plan{}, fmt.Errorf("%s: %q is not point:pass:action", Variable, text)
	}
	pass, err := strconv.ParseInt(parts[1], 10, 64)
	switch {
	case !slices.Contains(Points(), Point(parts[0])):
		return Plan{}, fmt.Errorf("%s: there is no point %q", Variable, parts[0])
	case err != nil || pass < 1:
		return Plan{}, fmt.Errorf("%s: the pass %q is not a number from 1 on", Variable, parts[1])
	case parts[2] != Kill && parts[2] != Stop:
		return Plan{}, fmt.Errorf("%s: the action %q is neither %s nor %s", Variable, parts[2], Kill, Stop)
	}
	return Plan{Point: Point(parts[0]), Pass: pass, Action: parts[2]}, nil
}
