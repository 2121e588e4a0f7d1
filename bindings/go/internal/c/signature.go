package c

/*
#cgo noescape sealane_signature_update
#cgo nocallback sealane_signature_update
#include "sealane.h"
*/
import "C"

import "sync"

// Signature is a message that is signed or verified in pieces. Its mutex protects the handle: one
// thread at a time.
type Signature struct {
	mu     sync.Mutex
	handle *C.sealane_signature
}

// NewSigning starts a signature.
func NewSigning(key []byte, passphrase, namespace, comment string) (*Signature, error) {
	return withText(cText, "passphrase", passphrase, func(phrase *C.char, _ *C.sealane_error) (*Signature, error) {
		return withTexts(cText, "namespace", namespace, "comment", comment, func(name, text *C.char, e *C.sealane_error) (*Signature, error) {
			return newSignature(C.sealane_sign_new(ptr(key), size(key), phrase, name, text, e), e)
		})
	})
}

// NewVerification starts the verification of a signature.
func NewVerification(signature, signers []byte, namespace string, revoked []byte) (*Signature, error) {
	return withText(cText, "namespace", namespace, func(name *C.char, e *C.sealane_error) (*Signature, error) {
		return newSignature(C.sealane_verify_new(ptr(signature), size(signature), ptr(signers), size(signers), name,
			ptr(revoked), size(revoked), e), e)
	})
}

func newSignature(handle *C.sealane_signature, e *C.sealane_error) (*Signature, error) {
	free := func(handle *C.sealane_signature) { C.sealane_signature_free(handle) }
	return owned(&Signature{handle: handle}, handle, free, e)
}

// Write takes the next piece of the message.
func (s *Signature) Write(data []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var e C.sealane_error
	if C.sealane_signature_update(s.handle, ptr(data), size(data), &e) < 0 {
		return 0, failure(e)
	}
	return len(data), nil
}

// Finish returns the signature; or the signer, a line end and the trusted comment.
func (s *Signature) Finish() ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var e C.sealane_error
	var out *C.uint8_t
	n := C.sealane_signature_finish(s.handle, &out, &e)
	return given(out, n, &e)
}
