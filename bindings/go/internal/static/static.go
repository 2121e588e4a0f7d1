// Package static contains the C library as an object file, sealane_GOOS_GOARCH.syso, which "make -C bindings lib-go" creates.
//
// The file is in a package of its own so that the build tag sealane_dynamic leaves it out. The go command hashes it like
// source code, so a new library is never mistaken for the one in the build cache.
package static

// A package that uses cgo is linked by the linker of the C compiler, which understands the object file.

import "C"
