package sealane_test

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// unused lists the header's functions that this module does not need.
var unused = map[string]string{
	"sealane_random":          "crypto/rand has random bytes",
	"sealane_wipe":            "clear overwrites memory of Go",
	"sealane_poly1305_verify": "Sum and Verify can both be called, so the tag is computed once",
}

// TestEveryFunctionIsUsed compares the calls with the header.
func TestEveryFunctionIsUsed(t *testing.T) {
	calls := map[string]bool{}
	for _, path := range must(filepath.Glob("internal/c/*.go"))(t) {
		// In the code of C, a call has no package.
		for _, call := range regexp.MustCompile(`(?:C\.|return )(sealane_[a-z0-9_]+)\(`).FindAllSubmatch(must(os.ReadFile(path))(t), -1) {
			calls[string(call[1])] = true
		}
	}
	header := must(os.ReadFile("internal/c/sealane.h"))(t)
	functions := regexp.MustCompile(`(?m)^[a-z].*[ *](sealane_[a-z0-9_]+)\(`).FindAllSubmatch(header, -1)
	if len(functions) < 80 {
		t.Errorf("%d functions in the header", len(functions))
	}
	for _, function := range functions {
		name := string(function[1])
		if _, known := unused[name]; known == calls[name] {
			t.Errorf("%s: called %t, listed as unused %t", name, calls[name], known)
		}
	}
	t.Logf("%d functions in the header, %d called", len(functions), len(calls))
}
