package c

/*
#cgo noescape sealane_stream_xor_at
#cgo nocallback sealane_stream_xor_at
#cgo noescape sealane_stream_xor_under
#cgo nocallback sealane_stream_xor_under
#cgo noescape sealane_poly1305_update
#cgo nocallback sealane_poly1305_update
#cgo noescape sealane_pieces_update
#cgo nocallback sealane_pieces_update
#cgo noescape sealane_speck_encrypt_blocks
#cgo nocallback sealane_speck_encrypt_blocks
#cgo noescape sealane_speck_decrypt_blocks
#cgo nocallback sealane_speck_decrypt_blocks
#include "sealane.h"
*/
import "C"

import (
	"runtime"
	"sync"
)

// Stream is a keystream. Goroutines can share it.
type Stream struct{ handle *C.sealane_stream }

// NewStream makes a keystream. An empty byte order is the default.
func NewStream(cipher string, key, iv []byte, counter uint32, byteOrder string) (*Stream, error) {
	return withTexts(required, "cipher", cipher, "byte order", byteOrder, func(name, order *C.char, e *C.sealane_error) (*Stream, error) {
		handle := C.sealane_hazmat_stream_new(name, ptr(key), size(key), ptr(iv), size(iv), C.uint32_t(counter), order, e)
		free := func(handle *C.sealane_stream) { C.sealane_stream_free(handle) }
		return owned(&Stream{handle}, handle, free, e)
	})
}

// XORKeyStreamAt writes src XOR the keystream from offset on.
func (s *Stream) XORKeyStreamAt(dst, src []byte, offset uint64) error {
	dst = dst[:min(len(dst), len(src))]
	var e C.sealane_error
	err := check(C.sealane_stream_xor_at(s.handle, C.uint64_t(offset), ptr(src), size(src), ptr(dst), size(dst), &e), &e)
	runtime.KeepAlive(s)
	return err
}

// XORKeyStreamUnder does the same with another IV.
func (s *Stream) XORKeyStreamUnder(dst, src, iv []byte, offset uint64) error {
	dst = dst[:min(len(dst), len(src))]
	var e C.sealane_error
	err := check(C.sealane_stream_xor_under(s.handle, ptr(iv), size(iv), C.uint64_t(offset), ptr(src), size(src), ptr(dst),
		size(dst), &e), &e)
	runtime.KeepAlive(s)
	return err
}

// Poly1305 is a tag being computed. Its mutex protects the handle: one thread at a time.
type Poly1305 struct {
	mu     sync.Mutex
	handle *C.sealane_poly1305
}

// NewPoly1305 starts a tag with a one-time key.
func NewPoly1305(key []byte) (*Poly1305, error) {
	var e C.sealane_error
	return newPoly1305(C.sealane_hazmat_poly1305_new(ptr(key), size(key), &e), &e)
}

// NewPoly1305FromChaCha20 starts a tag with the one-time key of a nonce.
func NewPoly1305FromChaCha20(key, nonce []byte) (*Poly1305, error) {
	var e C.sealane_error
	return newPoly1305(C.sealane_hazmat_poly1305_new_from_chacha20(ptr(key), size(key), ptr(nonce), size(nonce), &e), &e)
}

func newPoly1305(handle *C.sealane_poly1305, e *C.sealane_error) (*Poly1305, error) {
	free := func(handle *C.sealane_poly1305) { C.sealane_poly1305_free(handle) }
	return owned(&Poly1305{handle: handle}, handle, free, e)
}

// Update adds data.
func (p *Poly1305) Update(data []byte) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	var e C.sealane_error
	return check(C.sealane_poly1305_update(p.handle, ptr(data), size(data), &e), &e)
}

// Finalize returns the tag.
func (p *Poly1305) Finalize() (tag [16]byte, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	var e C.sealane_error
	err = check(C.sealane_poly1305_finalize(p.handle, ptr(tag[:]), 16, &e), &e)
	return tag, err
}

// Speck is a key of the block cipher. Goroutines can share it.
type Speck struct{ handle *C.sealane_speck }

// NewSpeck expands a key. An empty byte order is the default.
func NewSpeck(algorithm string, key []byte, byteOrder string) (*Speck, error) {
	return withTexts(required, "algorithm", algorithm, "byte order", byteOrder, func(name, order *C.char, e *C.sealane_error) (*Speck, error) {
		handle := C.sealane_hazmat_speck_new(name, ptr(key), size(key), order, e)
		free := func(handle *C.sealane_speck) { C.sealane_speck_free(handle) }
		return owned(&Speck{handle}, handle, free, e)
	})
}

// EncryptBlocks encrypts each block.
func (s *Speck) EncryptBlocks(dst, src []byte) error {
	dst = dst[:min(len(dst), len(src))]
	var e C.sealane_error
	err := check(C.sealane_speck_encrypt_blocks(s.handle, ptr(src), size(src), ptr(dst), size(dst), &e), &e)
	runtime.KeepAlive(s)
	return err
}

// DecryptBlocks decrypts each block.
func (s *Speck) DecryptBlocks(dst, src []byte) error {
	dst = dst[:min(len(dst), len(src))]
	var e C.sealane_error
	err := check(C.sealane_speck_decrypt_blocks(s.handle, ptr(src), size(src), ptr(dst), size(dst), &e), &e)
	runtime.KeepAlive(s)
	return err
}

// Pieces is a message processed in pieces. Its mutex protects the handle: one thread at a time.
type Pieces struct {
	mu     sync.Mutex
	handle *C.sealane_pieces
}

// NewEncryptor starts encrypting a message.
func NewEncryptor(algorithm string, key, nonce []byte) (*Pieces, error) {
	return withText(required, "algorithm", algorithm, func(name *C.char, e *C.sealane_error) (*Pieces, error) {
		return newPieces(C.sealane_hazmat_encryptor_new(name, ptr(key), size(key), ptr(nonce), size(nonce), e), e)
	})
}

// NewDecryptor starts decrypting a message.
func NewDecryptor(algorithm string, key, nonce []byte) (*Pieces, error) {
	return withText(required, "algorithm", algorithm, func(name *C.char, e *C.sealane_error) (*Pieces, error) {
		return newPieces(C.sealane_hazmat_decryptor_new(name, ptr(key), size(key), ptr(nonce), size(nonce), e), e)
	})
}

func newPieces(handle *C.sealane_pieces, e *C.sealane_error) (*Pieces, error) {
	free := func(handle *C.sealane_pieces) { C.sealane_pieces_free(handle) }
	return owned(&Pieces{handle: handle}, handle, free, e)
}

// UpdateAAD adds associated data.
func (p *Pieces) UpdateAAD(aad []byte) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	var e C.sealane_error
	return check(C.sealane_pieces_aad(p.handle, ptr(aad), size(aad), &e), &e)
}

// Update encrypts or decrypts the next data.
func (p *Pieces) Update(dst, src []byte) error {
	dst = dst[:min(len(dst), len(src))]
	p.mu.Lock()
	defer p.mu.Unlock()
	var e C.sealane_error
	return check(C.sealane_pieces_update(p.handle, ptr(src), size(src), ptr(dst), size(dst), &e), &e)
}

// Finalize returns the tag of an encrypted message.
func (p *Pieces) Finalize() ([]byte, error) {
	tag := make([]byte, 16)
	p.mu.Lock()
	defer p.mu.Unlock()
	var e C.sealane_error
	return filled(tag, C.sealane_pieces_finalize(p.handle, ptr(tag), size(tag), &e), &e)
}

// Verify compares the tag of a decrypted message.
func (p *Pieces) Verify(tag []byte) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	var e C.sealane_error
	return check(C.sealane_pieces_verify(p.handle, ptr(tag), size(tag), &e), &e)
}
