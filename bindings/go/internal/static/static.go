// Package static contains the C library as an object file, sealane_GOOS_GOARCH.syso, created by
// "make -C bindings lib-go".
//
// The file has its own package so that the build tag sealane_dynamic leaves it out. The go command
// hashes it like source code, so it never mistakes a new library for the one in the build cache.
package static

// A package with cgo is linked by the C compiler's linker, which understands the object file.

import "C"
