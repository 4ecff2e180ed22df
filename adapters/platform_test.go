package adapters_test

import (
	"regexp"
	"testing"

	"parley/adapters"
)

func TestTraitsAreWholeForEveryPlatform(t *testing.T) {
	t.Parallel()
	seen := map[adapters.Platform]bool{}
	for _, platform := range adapters.Platforms() {
		traits := platform.Traits()
		switch {
		case seen[platform] || traits.Platform != platform || traits.Title == "":
			t.Errorf("%s: %+v", platform, traits)
		case traits.Joined == platform.Own():
			t.Errorf("%s is joined by an adapter: %v, the gateway's own: %v", platform, traits.Joined, platform.Own())
		case traits.Joined && (traits.ChatKey == "" || traits.Secrets == "" || traits.UserForm == ""):
			t.Errorf("%s lacks a trait: %+v", platform, traits)
		}
		seen[platform] = true
		for _, form := range []string{traits.UserForm, traits.Secrets} {
			if _, err := regexp.Compile(form); err != nil {
				t.Errorf("%s: %v", platform, err)
			}
		}
		if owner := platform.Owner(); (owner != "") != platform.HasReader() {
			t.Errorf("%s has the owner %q and a reader: %v", platform, owner, platform.HasReader())
		}
	}
	if other := adapters.Platform("matrix").Traits(); other.Title != "matrix" || other.Joined || adapters.Platform("matrix").Own() {
		t.Errorf("another program's platform: %+v", other)
	}
}
