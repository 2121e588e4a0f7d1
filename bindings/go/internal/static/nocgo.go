//go:build !cgo

package static

// Without a file here, the go command would stop before it compiles the package c, where the
// error is in words.
