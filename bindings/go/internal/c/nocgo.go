//go:build !cgo

package c

// The compiler prints this name where cgo is switched off or there is no C compiler.
var _ = sealane_needs_cgo__set_CGO_ENABLED_to_1_and_install_a_C_compiler
