package localzone_test

import (
	"os"
	"path/filepath"
	"testing"

	"parley/internal/localzone"
)

func TestTheEnvironmentNamesTheZone(t *testing.T) {
	t.Parallel()
	for tz, want := range map[string]string{
		"Europe/Berlin": "Europe/Berlin", ":Asia/Tokyo": "Asia/Tokyo", "": "UTC", "UTC": "UTC",
		"/usr/share/zoneinfo/America/New_York": "America/New_York", "CET-1CEST": "", "Local": "", "nowhere": "",
	} {
		if name, ok := localzone.Name(tz, true, t.TempDir()); name != want && (want != "" || ok) {
			t.Errorf("TZ=%q: %q %v, want %q", tz, name, ok, want)
		}
	}
}

func TestTheMachineNamesTheZone(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	if name, ok := localzone.Name("", false, root); !ok || name != "UTC" {
		t.Errorf("a machine without a zone shows UTC, not %q %v", name, ok)
	}
	zone := filepath.Join(root, "usr", "share", "zoneinfo", "Europe", "Berlin")
	etc := filepath.Join(root, "etc")
	for _, folder := range []string{filepath.Dir(zone), etc} {
		if err := os.MkdirAll(folder, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(zone, []byte("TZif"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(zone, filepath.Join(etc, "localtime")); err != nil {
		t.Skip("no symbolic links here")
	}
	if name, ok := localzone.Name("", false, root); !ok || name != "Europe/Berlin" {
		t.Errorf("by the link: %q %v", name, ok)
	}
	if err := os.Remove(filepath.Join(etc, "localtime")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(etc, "localtime"), []byte("TZif"), 0o600); err != nil {
		t.Fatal(err)
	}
	if name, ok := localzone.Name("", false, root); ok {
		t.Errorf("a copy has no name, but %q was found", name)
	}
	if err := os.WriteFile(filepath.Join(etc, "timezone"), []byte("Asia/Tokyo\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if name, ok := localzone.Name("", false, root); !ok || name != "Asia/Tokyo" {
		t.Errorf("by the file: %q %v", name, ok)
	}
}
