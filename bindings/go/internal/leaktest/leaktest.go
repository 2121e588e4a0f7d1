// Package leaktest ends the tests of a package with a check that every handle was freed.
package leaktest

import (
	"fmt"
	"os"
	"runtime"
	"testing"
	"time"

	"example.invalid/sealane/go/internal/c"
)

// Main runs the tests and fails if handles or results survive the garbage collector.
func Main(m *testing.M) {
	code := m.Run()
	if live := Live(); code == 0 && live != 0 {
		fmt.Printf("FAIL: %d handles were not freed\n", live)
		code = 1
	}
	os.Exit(code)
}

// Live collects garbage until no handle is alive, for at most ten seconds, and returns the number
// left.
func Live() int64 {
	for end := time.Now().Add(10 * time.Second); c.LiveHandles() != 0 && time.Now().Before(end); {
		runtime.GC()
		time.Sleep(time.Millisecond)
	}
	return c.LiveHandles()
}
