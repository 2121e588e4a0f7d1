//go:build aesctrat

package main

import "github.com/starius/aesctrat"

const haveSeed = true

func newSeed(key []byte) func(dst, src, iv []byte, offset uint64) {
	return aesctrat.NewAesCtr(key).XORKeyStreamAt
}
