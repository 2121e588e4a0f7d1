// Package aesctrat has the functions of github.com/starius/aesctrat: AES in counter mode at any
// offset. Programs that import that package can change the import, or replace the module with the
// folder compat/aesctrat.
//
// The bytes are the same as from [crypto/cipher.NewCTR]. A keystream does not detect modified data;
// package sealane reads encrypted files at any offset and verifies what it reads.
package aesctrat

import (
	"errors"
	"fmt"

	"example.invalid/sealane/go/hazmat"
	"example.invalid/sealane/go/internal/c"
)

// BlockSize is the length of an AES block or IV in bytes.
const BlockSize = 16

// AesCtr is an AES key. Goroutines can share it.
type AesCtr struct{ stream *hazmat.Stream }

// NewAesCtr expands a key of 16, 24 or 32 bytes. It panics on any other length.
func NewAesCtr(key []byte) *AesCtr {
	stream, err := hazmat.NewAESCTR(key, make([]byte, BlockSize))
	if errors.Is(err, c.ErrMisuse) {
		panic(fmt.Sprintf("bad key length: %d", len(key)))
	}
	if err != nil {
		panic(err)
	}
	return &AesCtr{stream}
}

// XORKeyStreamAt writes src XOR the keystream from byte offset on to dst; this encrypts and
// decrypts. The IV is the first counter block; nearby IVs have overlapping keystreams.
//
// It panics if the IV does not have [BlockSize] bytes, if dst and src have different lengths, if
// they overlap otherwise than exactly, and past the end of the keystream at 2^64 bytes; there, the
// original module restarts the keystream.
func (a *AesCtr) XORKeyStreamAt(dst, src, iv []byte, offset uint64) {
	if len(iv) != BlockSize {
		panic(fmt.Sprintf("bad IV length: %d", len(iv)))
	}
	if len(dst) != len(src) {
		panic("len(dst) != len(src)")
	}
	if err := a.stream.XORKeyStreamUnder(dst, src, iv, offset); err != nil {
		panic(err)
	}
}
