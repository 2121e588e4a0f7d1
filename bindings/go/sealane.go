package sealane

import (
	"fmt"
	"strconv"

	"example.invalid/sealane/go/internal/c"
)

// Version returns the library's version, such as "0.1.0".
func Version() string { return c.Version() }

// Algorithm describes an algorithm of [NewAEAD]. Sizes are in bytes.
type Algorithm struct {
	Name              string // for example "aes-256-gcm"
	KeySize           int
	NonceSize         int
	TagSize           int
	MaxPlaintext      uint64
	MaxAdditionalData uint64
}

// Algorithms returns the algorithms of [NewAEAD].
func Algorithms() ([]Algorithm, error) {
	rows, err := c.Algorithms()
	if err != nil {
		return nil, err
	}
	algorithms := make([]Algorithm, len(rows))
	for i, row := range rows {
		if len(row) != 6 {
			return nil, fmt.Errorf("%w: the library describes an algorithm in %d fields, expected 6", ErrInternal, len(row))
		}
		var sizes [5]uint64
		for j := range sizes {
			if sizes[j], err = strconv.ParseUint(row[j+1], 10, 64); err != nil {
				return nil, fmt.Errorf("%w: %w", ErrInternal, err)
			}
		}
		algorithms[i] = Algorithm{row[0], int(sizes[0]), int(sizes[1]), int(sizes[2]), sizes[3], sizes[4]}
	}
	return algorithms, nil
}

// Implementation describes an implementation of an algorithm.
type Implementation struct {
	Algorithm string // for example "aes-256-gcm"
	Provider  string // for example "native"
	Variant   string // code for an instruction set, for example "vaes512"
	Available bool   // on this machine
	Default   bool   // whether NewAEAD uses it
	Reason    string // why it is not available, or empty
}

// Implementations returns all implementations of the algorithms of [NewAEAD].
func Implementations() ([]Implementation, error) {
	rows, err := c.Providers()
	if err != nil {
		return nil, err
	}
	implementations := make([]Implementation, len(rows))
	for i, row := range rows {
		if len(row) != 6 {
			return nil, fmt.Errorf("%w: the library describes an implementation in %d fields, expected 6", ErrInternal, len(row))
		}
		implementations[i] = Implementation{row[0], row[1], row[2], row[3] == "1", row[4] == "1", row[5]}
	}
	return implementations, nil
}

// SetDefaultProvider sets this process's provider for calls that name none; the empty name means
// the fastest. A program can set it once; a library should not call it.
func SetDefaultProvider(name string) error { return c.SetDefaultProvider(name) }
