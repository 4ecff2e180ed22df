package bombs

import (
	"runtime/metrics"
	"testing"
)

// AllocatedMax is what rendering one text of at most [Size] bytes may
// allocate, in bytes.
const AllocatedMax = 32 << 20

// Allocated is what do allocates, in bytes. Nothing else may run meanwhile: a
// test that asks must not be parallel.
func Allocated(do func()) uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(sample)
	before := sample[0].Value.Uint64()
	do()
	metrics.Read(sample)
	return sample[0].Value.Uint64() - before
}

// Defuse renders every attack, of several sizes, and fails the test where one
// costs more than [AllocatedMax] or gives more than outputMax bytes. Not in
// parallel with anything. Under the race detector only the small ones are
// tried, and what they allocate is not judged.
func Defuse(t *testing.T, outputMax int, render func(source string) (output int)) {
	t.Helper()
	sizes := []int{16 << 10, 60 << 10, Size}
	if racing {
		sizes = sizes[:1]
	}
	for _, size := range sizes {
		for name, source := range All(size) {
			output := 0
			if allocated := Allocated(func() { output = render(source) }); allocated > AllocatedMax && !racing || output > outputMax {
				t.Errorf("%s of %d bytes: %d bytes allocated, %d given out", name, len(source), allocated, output)
			}
		}
	}
}
