package localzone

import (
	"os"
	"path/filepath"
	"strings"
	"time"
	_ "time/tzdata" // names are known on machines without zones, too
)

// zoneMax bounds what is read of a file that should hold one name.
const zoneMax = 128

// Name is the zone that the environment sets (TZ, where set tells whether it
// is), else the one of the machine whose files are below root. UTC, and true,
// where TZ is set and empty.
func Name(tz string, set bool, root string) (string, bool) {
	if set {
		tz = strings.TrimPrefix(tz, ":")
		if tz == "" {
			return "UTC", true
		}
		return known(afterZoneinfo(tz))
	}
	if target, err := filepath.EvalSymlinks(filepath.Join(root, "etc", "localtime")); err == nil {
		if name, ok := known(afterZoneinfo(filepath.ToSlash(target))); ok {
			return name, true
		}
	}
	text, err := os.ReadFile(filepath.Join(root, "etc", "timezone"))
	if err == nil && len(text) <= zoneMax {
		return known(strings.TrimSpace(string(text)))
	}
	if _, err := os.Lstat(filepath.Join(root, "etc", "localtime")); os.IsNotExist(err) && filepath.Separator == '/' {
		return "UTC", true // what every program takes such a machine's clock to show
	}
	return "", false
}

// afterZoneinfo is the name in the path of a zone's file.
func afterZoneinfo(path string) string {
	if at := strings.LastIndex(path, "zoneinfo/"); at >= 0 {
		return path[at+len("zoneinfo/"):]
	}
	return path
}

func known(name string) (string, bool) {
	if name == "" || name == "Local" || len(name) > zoneMax {
		return "", false
	}
	_, err := time.LoadLocation(name)
	return name, err == nil
}
