package main

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"fmt"
	"io"
	"slices"

	"golang.org/x/crypto/chacha20poly1305"

	"example.invalid/sealane/go"
	"example.invalid/sealane/go/aesctrat"
	"example.invalid/sealane/go/internal/c"
)

// sizes of messages in bytes.
var sizes = []int{64, 1 << 10, 16 << 10, 1 << 20}

func sizeName(bytes int) string {
	switch {
	case bytes < 1<<10:
		return fmt.Sprintf("%d B", bytes)
	case bytes < 1<<20:
		return fmt.Sprintf("%d KiB", bytes>>10)
	}
	return fmt.Sprintf("%d MiB", bytes>>20)
}

func random(n int) []byte {
	b := make([]byte, n)
	rand.Read(b)
	return b
}

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

func gcm(key []byte) cipher.AEAD { return must(cipher.NewGCM(must(aes.NewCipher(key)))) }

//go:noinline
func nothing(x uint32) uint32 { return x }

var sink uint32

func emptyCall() []row {
	return []row{{name: "a call", implementations: []implementation{
		{"Go", func() { sink = nothing(sink) }},
		{"sealane", func() { sink = c.ABI() }},
	}}}
}

// aeadRows compares Seal or Open.
func aeadRows(names []string, aeads []cipher.AEAD, open bool) (rows []row) {
	for _, size := range sizes {
		nonce, aad, plaintext := random(12), random(13), random(size)
		sealed := aeads[0].Seal(nil, nonce, plaintext, aad)
		r := row{name: sizeName(size), bytes: size}
		for i, aead := range aeads {
			dst := make([]byte, 0, size+64)
			call := func() { aead.Seal(dst, nonce, plaintext, aad) }
			if open {
				call = func() { must(aead.Open(dst, nonce, sealed, aad)) }
			}
			r.implementations = append(r.implementations, implementation{names[i], call})
		}
		rows = append(rows, r)
	}
	return rows
}

func gcmSeal() []row { return gcmRows(false) }

func gcmOpen() []row { return gcmRows(true) }

func gcmRows(open bool) []row {
	key := random(32)
	return aeadRows([]string{"crypto/cipher", "sealane"}, []cipher.AEAD{gcm(key), must(sealane.NewAEAD("aes-256-gcm", key))}, open)
}

func chachaSeal() []row {
	key := random(32)
	return aeadRows([]string{"x/crypto", "sealane"},
		[]cipher.AEAD{must(chacha20poly1305.New(key)), must(sealane.NewAEAD("chacha20-poly1305", key))}, false)
}

func newKeys() []row {
	key, nonce, plaintext, dst := random(32), random(12), random(64), make([]byte, 0, 128)
	return []row{{name: "64 B", implementations: []implementation{
		{"crypto/cipher", func() { gcm(key).Seal(dst, nonce, plaintext, nil) }},
		{"sealane", func() { must(sealane.NewAEAD("aes-256-gcm", key)).Seal(dst, nonce, plaintext, nil) }},
	}}}
}

// batches seals and opens messages of 64 bytes under random nonces.
func batches() []row {
	const count, size, sealedSize = 1000, 64, 12 + 64 + 16
	key := random(32)
	random12, ours := must(cipher.NewGCMWithRandomNonce(must(aes.NewCipher(key)))), must(sealane.NewAEAD("aes-256-gcm", key))
	data, dst := random(count*size), make([]byte, 0, count*sealedSize)
	lens, sealedLens := slices.Repeat([]uint64{size}, count), slices.Repeat([]uint64{sealedSize}, count)
	sealed := must(ours.SealMany(nil, data, lens, nil))
	each := func(call func(dst, message []byte) []byte, from []byte, size int) func() {
		return func() {
			out := dst
			for at := 0; at < len(from); at += size {
				out = call(out, from[at:at+size])
			}
		}
	}
	return []row{
		{name: "seal 64 B", messages: count, implementations: []implementation{
			{"crypto/cipher, a call each", each(func(dst, m []byte) []byte { return random12.Seal(dst, nil, m, nil) }, data, size)},
			{"sealane, a call each", each(func(dst, m []byte) []byte { return must(ours.SealMessage(dst, m, nil)) }, data, size)},
			{"sealane, one call", func() { must(ours.SealMany(dst, data, lens, nil)) }},
		}},
		{name: "open 64 B", messages: count, implementations: []implementation{
			{"crypto/cipher, a call each", each(func(dst, m []byte) []byte { return must(random12.Open(dst, nil, m, nil)) }, sealed, sealedSize)},
			{"sealane, a call each", each(func(dst, m []byte) []byte { return must(ours.OpenMessage(dst, m, nil)) }, sealed, sealedSize)},
			{"sealane, one call", func() { must(ours.OpenMany(dst, sealed, sealedLens, nil)) }},
		}},
	}
}

// atOffset has AES-CTR of the standard library at an offset, as a program has to write it: the
// counter is the IV and the number of blocks, and the first bytes are thrown away.
func atOffset(block cipher.Block, dst, src, iv []byte, offset uint64) {
	counter := [16]byte(iv)
	carry := offset / 16
	for i := 15; i >= 0 && carry > 0; i-- {
		carry += uint64(counter[i])
		counter[i] = byte(carry)
		carry >>= 8
	}
	stream := cipher.NewCTR(block, counter[:])
	var skipped [16]byte
	stream.XORKeyStream(skipped[:offset%16], skipped[:offset%16])
	stream.XORKeyStream(dst, src)
}

func counterMode() (rows []row) {
	key, iv := random(16), random(16)
	block, ours := must(aes.NewCipher(key)), aesctrat.NewAesCtr(key)
	for _, size := range append([]int{16}, sizes...) {
		src, dst := random(size), make([]byte, size)
		r := row{name: sizeName(size), bytes: size, implementations: []implementation{
			{"crypto/cipher", func() { atOffset(block, dst, src, iv, 5) }},
		}}
		if haveSeed {
			call := newSeed(key)
			r.implementations = append(r.implementations, implementation{"aesctrat", func() { call(dst, src, iv, 5) }})
		}
		r.implementations = append(r.implementations, implementation{"sealane", func() { ours.XORKeyStreamAt(dst, src, iv, 5) }})
		rows = append(rows, r)
	}
	return rows
}

// aesctratTable has the columns of aesctrat's table with its sizes: 8 KiB of the standard library's
// CTR, 1350 bytes of its GCM, 32 MiB of aesctrat. Every row has all of them with one size.
func aesctratTable() (rows []row) {
	key, iv := random(16), random(16)
	block, ours, aead := must(aes.NewCipher(key)), aesctrat.NewAesCtr(key), gcm(key)
	for _, size := range []int{1350, 8 << 10, 32 << 20} {
		src, dst, sealed := random(size), make([]byte, size), make([]byte, 0, size+16)
		stream := cipher.NewCTR(block, iv)
		r := row{name: fmt.Sprintf("%d B", size), bytes: size, implementations: []implementation{
			{"std.CTR", func() { stream.XORKeyStream(dst, src) }},
			{"std.GCM/Seal", func() { aead.Seal(sealed, iv[:12], src, nil) }},
		}}
		if haveSeed {
			call := newSeed(key)
			r.implementations = append(r.implementations, implementation{"aesctrat.fast", func() { call(dst, src, iv, 0) }})
		}
		r.implementations = append(r.implementations, implementation{"sealane", func() { ours.XORKeyStreamAt(dst, src, iv, 0) }})
		rows = append(rows, r)
	}
	return rows
}

// files compares a file in one call with streams.
func files() []row {
	key, plaintext := random(32), random(64<<20)
	encrypt, decrypt := must(sealane.EncryptWithKey(key, nil)), must(sealane.DecryptWithKey(key, nil))
	file := must(sealane.EncryptBytes(plaintext, encrypt))
	reader := must(sealane.NewReader(bytes.NewReader(file), int64(len(file)), decrypt))
	return []row{
		{name: "Encrypt", bytes: len(plaintext), implementations: []implementation{
			{"one call", func() { must(sealane.EncryptBytes(plaintext, encrypt)) }},
			{"in pieces", func() {
				writer := must(sealane.Encrypt(io.Discard, encrypt))
				must(writer.Write(plaintext))
				succeed(writer.Close())
			}},
		}},
		{name: "Decrypt", bytes: len(plaintext), implementations: []implementation{
			{"one call", func() { must(sealane.DecryptBytes(file, decrypt)) }},
			{"in pieces", func() {
				must(io.Copy(io.Discard, must(sealane.Decrypt(bytes.NewReader(file), decrypt))))
			}},
		}},
		{name: "Reader.WriteTo", bytes: len(plaintext), implementations: []implementation{
			{"one call", func() { must(sealane.DecryptBytes(file, decrypt)) }},
			{"in pieces", func() {
				must(reader.Seek(0, io.SeekStart))
				must(reader.WriteTo(io.Discard))
			}},
		}},
	}
}
