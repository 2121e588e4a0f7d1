package sealane_test

import (
	"bytes"
	"io"
	"io/fs"
	"testing"

	"example.invalid/sealane/go"
)

// calling is a reader and writer that calls a function first, as a source that fails might close
// what reads it.
type calling struct {
	bytes.Buffer
	from io.ReaderAt
	call func()
}

func (c *calling) do() {
	if call := c.call; call != nil {
		c.call = nil
		call()
	}
}

func (c *calling) ReadAt(p []byte, off int64) (int, error) { c.do(); return c.from.ReadAt(p, off) }
func (c *calling) Read(p []byte) (int, error)              { c.do(); return c.Buffer.Read(p) }
func (c *calling) Write(p []byte) (int, error)             { c.do(); return c.Buffer.Write(p) }

// TestEndsInsideCalls ends an object inside one of its calls: the call is finished, or the end is
// refused.
// claim: lifetimes
func TestEndsInsideCalls(t *testing.T) {
	encrypt, decrypt := keys(t, nil)
	plain := bytes.Repeat([]byte("0123456789"), 30_000)
	sealed, err := sealane.EncryptBytes(plain, encrypt)
	check(t, err)

	source := &calling{from: bytes.NewReader(sealed)}
	reader, err := sealane.NewReader(source, int64(len(sealed)), decrypt)
	check(t, err)
	source.call = func() {
		check(t, reader.Close())
		wants(t, reader.Close(), fs.ErrClosed)
		_, err := reader.ReadAt(make([]byte, 5), 0)
		wants(t, err, fs.ErrClosed)
	}
	p := make([]byte, 100_000)
	n, err := reader.ReadAt(p, 5)
	check(t, err)
	if !bytes.Equal(p[:n], plain[5:100_005]) {
		t.Fatal("other bytes")
	}
	_, err = reader.ReadAt(p, 5)
	wants(t, err, fs.ErrClosed)

	sink := &calling{}
	writer, err := sealane.Encrypt(sink, encrypt)
	check(t, err)
	sink.call = func() {
		wants(t, writer.Close(), sealane.ErrMisuse)
		_, err := writer.Write(plain)
		wants(t, err, sealane.ErrMisuse)
	}
	_, err = writer.Write(plain)
	check(t, err)
	check(t, writer.Close())
	opened, err := sealane.DecryptBytes(sink.Bytes(), decrypt)
	check(t, err)
	if !bytes.Equal(opened, plain) {
		t.Fatal("other bytes")
	}

	stream := &calling{}
	stream.Buffer.Write(sealed)
	var decrypted io.Reader
	stream.call = func() {
		_, err := decrypted.Read(make([]byte, 5))
		wants(t, err, sealane.ErrMisuse)
	}
	decrypted, err = sealane.Decrypt(stream, decrypt)
	check(t, err)
	opened, err = io.ReadAll(decrypted)
	check(t, err)
	if !bytes.Equal(opened, plain) {
		t.Fatal("other bytes")
	}
}
