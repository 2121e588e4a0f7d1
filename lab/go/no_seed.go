//go:build !aesctrat

package main

const haveSeed = false

func newSeed([]byte) func(dst, src, iv []byte, offset uint64) {
	panic("the program was built without aesctrat")
}
