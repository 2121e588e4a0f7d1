// Package aesctrat takes the place of the module of this name, for programs whose imports must not
// change:
//
//	replace github.com/starius/aesctrat => …/bindings/go/compat/aesctrat
//
// Package example.invalid/sealane/go/aesctrat describes its functions.
package aesctrat

import "example.invalid/sealane/go/aesctrat"

// BlockSize is the length of an AES block or IV in bytes.
const BlockSize = aesctrat.BlockSize

// AesCtr is an AES key.
type AesCtr = aesctrat.AesCtr

// NewAesCtr expands a key of 16, 24 or 32 bytes. It panics on any other length.
func NewAesCtr(key []byte) *AesCtr { return aesctrat.NewAesCtr(key) }
