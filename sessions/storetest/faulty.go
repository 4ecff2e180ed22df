package storetest

import (
	"fmt"
	"sync"

	"parley/sessions"
	"parley/sessions/storewrap"
)

// When says at which side of its effect a call fails.
type When int

// Sides. After is the valuable one: the write landed, and the caller sees an error.
const (
	Before When = iota
	After
)

// Fault fails one call.
type Fault struct {
	Op   string // the method's name; empty: any
	Call int    // the how-manieth call of Op from now on, from 1; 0 counts as 1
	When When
	Err  error // nil: sessions.ErrUnavailable
}

// Faulty is a real store whose chosen calls fail, once each. Reads can fail
// too; a call that fails After returns nothing but the error.
type Faulty struct {
	sessions.Store

	mu     sync.Mutex
	faults []Fault
	calls  map[string]int
}

var _ sessions.Store = (*Faulty)(nil)

// NewFaulty wraps a store. Nothing fails until Fail is called.
func NewFaulty(store sessions.Store) *Faulty {
	f := &Faulty{calls: map[string]int{}}
	f.Store = storewrap.New(store, storewrap.Hooks[*Fault]{Before: f.before, After: f.after})
	return f
}

// before hands a fault of the call's other side on to after.
func (f *Faulty) before(op storewrap.Op) (*Fault, error) {
	fault := f.next(op.Method())
	if fault != nil && fault.When == Before {
		return nil, fault.error()
	}
	return fault, nil
}

func (f *Faulty) after(_ storewrap.Op, fault *Fault, _ error) error {
	if fault == nil {
		return nil
	}
	return fault.error()
}

// Fail arms faults besides those that are armed.
func (f *Faulty) Fail(faults ...Fault) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, fault := range faults {
		fault.Call = max(fault.Call, 1)
		f.faults = append(f.faults, fault)
	}
}

// Armed tells how many faults have not happened yet.
func (f *Faulty) Armed() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.faults)
}

// Calls tells how often a method was called, failed calls too.
func (f *Faulty) Calls(op string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.calls[op]
}

// next counts a call of op and takes the fault that it meets, if any.
func (f *Faulty) next(op string) *Fault {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls[op]++
	var hit *Fault
	kept := f.faults[:0]
	for _, fault := range f.faults {
		if fault.Op == "" || fault.Op == op {
			fault.Call--
		}
		if fault.Call == 0 && hit == nil {
			hit = &Fault{Op: op, When: fault.When, Err: fault.Err}
			continue
		}
		fault.Call = max(fault.Call, 1)
		kept = append(kept, fault)
	}
	f.faults = kept
	return hit
}

func (t *Fault) error() error {
	if t.Err != nil {
		return t.Err
	}
	return fmt.Errorf("%w: a test failed %s", sessions.ErrUnavailable, t.Op)
}
