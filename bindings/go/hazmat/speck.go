package hazmat

import (
	"crypto/cipher"
	"fmt"
	"strconv"
	"strings"

	"example.invalid/sealane/go/internal/c"
)

// Speck is a key of the block cipher Speck. It implements [cipher.Block]. Goroutines can share it.
//
// Equal blocks give equal results, so do not encrypt data with a block cipher alone.
type Speck struct {
	core      *c.Speck
	blockSize int
}

var _ cipher.Block = (*Speck)(nil)

// NewSpeck expands a key. The algorithm is "speck" with block and key bits, such as "speck128-256".
func NewSpeck(algorithm string, key []byte, order ByteOrder) (*Speck, error) {
	core, err := c.NewSpeck(algorithm, key, string(order))
	if err != nil {
		return nil, err
	}
	// The library accepted the name, so it has this form.
	block, _, _ := strings.Cut(strings.TrimPrefix(algorithm, "speck"), "-")
	bits, err := strconv.Atoi(block)
	if err != nil {
		return nil, err
	}
	return &Speck{core, bits / 8}, nil
}

// BlockSize returns the block length in bytes.
func (s *Speck) BlockSize() int { return s.blockSize }

// Encrypt encrypts the first block of src to dst, as [cipher.Block] requires. It panics if one of
// them is shorter than a block, and if they overlap otherwise than exactly.
func (s *Speck) Encrypt(dst, src []byte) { s.one(s.core.EncryptBlocks, dst, src) }

// Decrypt decrypts the first block of src to dst, as [cipher.Block] requires. It panics like
// Encrypt.
func (s *Speck) Decrypt(dst, src []byte) { s.one(s.core.DecryptBlocks, dst, src) }

func (s *Speck) one(blocks func(dst, src []byte) error, dst, src []byte) {
	if len(src) < s.blockSize {
		panic("sealane/hazmat: input not full block")
	}
	if len(dst) < s.blockSize {
		panic("sealane/hazmat: output not full block")
	}
	if err := blocks(dst[:s.blockSize], src[:s.blockSize]); err != nil {
		panic(err)
	}
}

// EncryptBlocks encrypts each block of src, a whole number of blocks, to dst. The slices must be
// the same or apart.
func (s *Speck) EncryptBlocks(dst, src []byte) error { return s.core.EncryptBlocks(dst, src) }

// DecryptBlocks decrypts each block of src, a whole number of blocks, to dst. The slices must be
// the same or apart.
func (s *Speck) DecryptBlocks(dst, src []byte) error { return s.core.DecryptBlocks(dst, src) }

func checkSpeck(algorithm string) error {
	if !strings.HasPrefix(algorithm, "speck") {
		return fmt.Errorf("%w: the algorithm is %q, expected a size of Speck, for example speck128-256", c.ErrMisuse, algorithm)
	}
	return nil
}
