package hazmat

import (
	"crypto/cipher"
	"fmt"
	"io"
	"math"

	"example.invalid/sealane/go/internal/c"
)

// ByteOrder is the byte order in a word of Speck. The zero value means BigEndian.
type ByteOrder string

// The byte orders of Speck.
const (
	BigEndian    ByteOrder = "big"    // of the paper
	LittleEndian ByteOrder = "little" // of the implementation guide of the NSA
)

// Stream is a keystream with random access. Goroutines can share it.
//
// A keystream does not detect changes: flipping a bit of the ciphertext flips the same bit of the
// plaintext. Two plaintexts under the same part of a keystream reveal each other.
type Stream struct{ core *c.Stream }

var wrapStream = c.Wrapping(func(core *c.Stream) *Stream { return &Stream{core} })

// NewAESCTR returns the keystream of AES in counter mode (NIST SP 800-38A), the same as
// [cipher.NewCTR]. The key has 16, 24 or 32 bytes. The 16-byte IV is the first counter block.
func NewAESCTR(key, iv []byte) (*Stream, error) { return newStream("aes-ctr", key, iv, 0, "") }

// NewChaCha20 returns the ChaCha20 keystream (RFC 8439) from block counter on. The key has 32 bytes
// and the nonce 12.
func NewChaCha20(key, nonce []byte, counter uint32) (*Stream, error) {
	return newStream("chacha20", key, nonce, counter, "")
}

// NewXChaCha20 returns the XChaCha20 keystream from block counter on. The key has 32 bytes and the
// nonce 24.
func NewXChaCha20(key, nonce []byte, counter uint32) (*Stream, error) {
	return newStream("xchacha20", key, nonce, counter, "")
}

// NewSpeckCTR returns the keystream of Speck in counter mode. The algorithm is, for example,
// "speck128-256" with a 32-byte key and an IV of a block.
func NewSpeckCTR(algorithm string, key, iv []byte, order ByteOrder) (*Stream, error) {
	if err := checkSpeck(algorithm); err != nil {
		return nil, err
	}
	return newStream(algorithm, key, iv, 0, order)
}

func newStream(cipher string, key, iv []byte, counter uint32, order ByteOrder) (*Stream, error) {
	return wrapStream(c.NewStream(cipher, key, iv, counter, string(order)))
}

// XORKeyStreamAt writes src XOR the keystream from byte offset on to dst; this encrypts and
// decrypts. The slices must be the same or apart, and dst may be longer. Past the end of the
// keystream (at most 2^64 bytes), the error is a sealane.ErrLimitExceeded, and nothing is written.
func (s *Stream) XORKeyStreamAt(dst, src []byte, offset uint64) error {
	return s.core.XORKeyStreamAt(dst, src, offset)
}

// XORKeyStreamUnder is XORKeyStreamAt with another IV, for streams of [NewAESCTR]: one value serves
// many keystreams of a key. Nearby IVs have overlapping keystreams, so number the keystreams in the
// first 8 bytes.
func (s *Stream) XORKeyStreamUnder(dst, src, iv []byte, offset uint64) error {
	return s.core.XORKeyStreamUnder(dst, src, iv, offset)
}

// From returns a [cipher.Stream] that begins at byte offset of the keystream. It is for one
// goroutine at a time. Its XORKeyStream panics if dst is shorter than src, if they overlap
// otherwise than exactly, and past the end of the keystream.
func (s *Stream) From(offset uint64) cipher.Stream { return &position{stream: s, offset: offset} }

// position is a keystream that moves on.
type position struct {
	stream *Stream
	offset uint64
	ended  bool // the offset would be 2^64
}

func (p *position) XORKeyStream(dst, src []byte) {
	if len(dst) < len(src) {
		panic("sealane/hazmat: output smaller than input")
	}
	if len(src) == 0 {
		return
	}
	// A wrapped offset would reuse the beginning of the keystream.
	if p.ended {
		panic("sealane/hazmat: the keystream ended")
	}
	if err := p.stream.XORKeyStreamAt(dst, src, p.offset); err != nil {
		panic(err)
	}
	p.offset += uint64(len(src))
	p.ended = p.offset == 0
}

// ReaderAt returns a reader that XORs the bytes of r with the keystream at the same offsets.
func (s *Stream) ReaderAt(r io.ReaderAt) io.ReaderAt { return readerAt{s, r} }

type readerAt struct {
	stream *Stream
	from   io.ReaderAt
}

func (r readerAt) ReadAt(p []byte, off int64) (int, error) {
	if off < 0 {
		return 0, negative(off)
	}
	n, err := r.from.ReadAt(p, off)
	if n < 0 || n > len(p) {
		clear(p)
		return 0, fmt.Errorf("sealane/hazmat: ReadAt of %T returned the count %d, expected 0 to %d", r.from, n, len(p))
	}
	if xorErr := r.stream.XORKeyStreamAt(p[:n], p[:n], uint64(off)); xorErr != nil {
		return 0, xorErr
	}
	return n, err
}

// WriterAt returns a writer that XORs the bytes with the keystream at their offsets and writes them
// to w. A second write at an offset uses the same keystream, so anyone with both ciphertexts learns
// the XOR of the plaintexts.
func (s *Stream) WriterAt(w io.WriterAt) io.WriterAt { return writerAt{s, w} }

type writerAt struct {
	stream *Stream
	to     io.WriterAt
}

func (w writerAt) WriteAt(p []byte, off int64) (written int, err error) {
	if off < 0 {
		return 0, negative(off)
	}
	if int64(len(p)) > math.MaxInt64-off {
		return 0, fmt.Errorf("sealane/hazmat: %d bytes at offset %d end after the last offset", len(p), off)
	}
	// WriteAt must not change p, not even temporarily.
	buffer := make([]byte, min(len(p), 64<<10))
	for first := true; first || len(p) > 0; first = false {
		piece := buffer[:min(len(buffer), len(p))]
		if err := w.stream.XORKeyStreamAt(piece, p[:len(piece)], uint64(off)); err != nil {
			return written, err
		}
		n, err := w.to.WriteAt(piece, off)
		if n < 0 || n > len(piece) {
			return written, fmt.Errorf("sealane/hazmat: WriteAt of %T returned the count %d, expected 0 to %d", w.to, n, len(piece))
		}
		written += n
		if err == nil && n < len(piece) {
			err = io.ErrShortWrite
		}
		if err != nil {
			return written, err
		}
		p, off = p[n:], off+int64(n)
	}
	return written, nil
}

func negative(off int64) error {
	return fmt.Errorf("sealane/hazmat: the offset is %d, expected 0 or more", off)
}
