package hazmat

import (
	"crypto/subtle"
	"fmt"
	"sync"

	"example.invalid/sealane/go/internal/c"
)

// Poly1305 computes the tag of one message. The key of 32 bytes is for one message: with two tags
// under one key, an attacker can forge a third.
type Poly1305 struct {
	mu   sync.Mutex
	core *c.Poly1305
	tag  []byte // after Sum and Verify
}

var newPoly1305 = c.Wrapping(func(core *c.Poly1305) *Poly1305 { return &Poly1305{core: core} })

// NewPoly1305 starts a message with a one-time key.
func NewPoly1305(key []byte) (*Poly1305, error) {
	return newPoly1305(c.NewPoly1305(key))
}

// NewPoly1305FromChaCha20 starts a message with ChaCha20's one-time key for a 32-byte key and a
// 12-byte nonce (RFC 8439, section 2.6).
func NewPoly1305FromChaCha20(key, nonce []byte) (*Poly1305, error) {
	return newPoly1305(c.NewPoly1305FromChaCha20(key, nonce))
}

// Size returns the tag length, 16 bytes.
func (p *Poly1305) Size() int { return 16 }

// Write adds data to the message. After Sum and Verify it returns an error.
func (p *Poly1305) Write(data []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.core.Update(data); err != nil {
		return 0, err
	}
	return len(data), nil
}

// Sum appends the message's tag to b. Calling it again gives the same result.
func (p *Poly1305) Sum(b []byte) []byte {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.finish(); err != nil {
		panic(err)
	}
	return append(b, p.tag...)
}

// Verify compares the message's tag with tag in constant time. If they differ, it returns a
// sealane.ErrAuthentication.
func (p *Poly1305) Verify(tag []byte) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.finish(); err != nil {
		return err
	}
	if subtle.ConstantTimeCompare(p.tag, tag) != 1 {
		return fmt.Errorf("%w: the tag differs", c.ErrAuthentication)
	}
	return nil
}

// finish computes the tag once.
func (p *Poly1305) finish() error {
	if p.tag != nil {
		return nil
	}
	tag, err := p.core.Finalize()
	if err == nil {
		p.tag = tag[:]
	}
	return err
}
