package sealane

import (
	"fmt"
	"io"
	"io/fs"
	"sync"

	"example.invalid/sealane/go/internal/c"
)

const (
	// pieceSize is the number of bytes passed to the library at once. The library spreads a read of a
	// mebibyte over threads, and waiting for them takes longer than the read if the machine is busy.
	pieceSize = 256 << 10
	// maxEmptyReads is the number of consecutive reads without a byte or an error before we give up.
	maxEmptyReads = 100
)

// errInUse refuses a call during another one. Waiting would be a deadlock if the destination or the
// source made the call.
var errInUse = fmt.Errorf("%w: a stream is for one goroutine at a time, and another call is in progress", ErrMisuse)

// Encrypt returns a writer that encrypts to dst. Its Close writes the rest; it does not close dst.
// Without Close the result is truncated, and decryption detects this. The writer is for one
// goroutine at a time.
func Encrypt(dst io.Writer, with *EncryptWith) (io.WriteCloser, error) {
	filter, err := c.NewEncryptFilter(with.core)
	if err != nil {
		return nil, err
	}
	return &encryptor{filter: filter, dst: dst}, nil
}

type encryptor struct {
	mu     sync.Mutex
	filter *c.Filter
	dst    io.Writer
	buffer []byte
	err    error // of an earlier call
}

func (e *encryptor) Write(p []byte) (n int, err error) {
	if !e.mu.TryLock() {
		return 0, errInUse
	}
	defer e.mu.Unlock()
	if e.err != nil {
		return 0, e.err
	}
	for len(p) > 0 {
		piece := p[:min(len(p), pieceSize)]
		waiting, err := e.filter.Push(piece)
		if err == nil {
			err = e.flush(waiting)
		}
		if err != nil {
			e.err = err
			return n, err
		}
		n += len(piece)
		p = p[len(piece):]
	}
	return n, nil
}

// flush writes the bytes that wait in the filter.
func (e *encryptor) flush(waiting int) error {
	if len(e.buffer) < waiting {
		e.buffer = make([]byte, waiting)
	}
	n, err := e.filter.Take(e.buffer[:waiting])
	if err != nil || n == 0 {
		return err
	}
	written, err := e.dst.Write(e.buffer[:n])
	if err == nil && written != n {
		err = io.ErrShortWrite
	}
	return err
}

func (e *encryptor) Close() error {
	if !e.mu.TryLock() {
		return errInUse
	}
	defer e.mu.Unlock()
	if e.err != nil {
		return e.err
	}
	waiting, err := e.filter.Finish()
	if err == nil {
		err = e.flush(waiting)
	}
	e.err = err
	if err == nil {
		e.err = fs.ErrClosed
	}
	return err
}

// Decrypt returns a reader that decrypts src. Every byte returned is verified, but only [io.EOF]
// says that none are missing at the end. The reader is for one goroutine at a time.
func Decrypt(src io.Reader, with *DecryptWith) (io.Reader, error) {
	filter, err := c.NewDecryptFilter(with.core)
	if err != nil {
		return nil, err
	}
	return &decryptor{filter: filter, src: src}, nil
}

type decryptor struct {
	mu     sync.Mutex
	filter *c.Filter
	src    io.Reader
	buffer []byte
	ended  bool  // whether the source has no more bytes
	err    error // to return when the filter is empty
}

func (d *decryptor) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	if !d.mu.TryLock() {
		return 0, errInUse
	}
	defer d.mu.Unlock()
	for {
		// The filter also holds the chunks before a damaged one.
		n, err := d.filter.Take(p)
		if n > 0 || err != nil {
			return n, err
		}
		if d.err != nil {
			return 0, d.err
		}
		if d.ended {
			d.err = d.finish()
		} else {
			d.err = d.fill()
		}
	}
}

// finish ends the filter, which must be empty: after a failure nothing can be taken.
func (d *decryptor) finish() error {
	if _, err := d.filter.Finish(); err != nil {
		return err
	}
	return io.EOF
}

// fill passes the source's next bytes to the filter. It returns the error that follows them.
func (d *decryptor) fill() error {
	if d.buffer == nil {
		d.buffer = make([]byte, 64<<10)
	}
	var n int
	var readErr error
	for tries := 0; n == 0 && readErr == nil; tries++ {
		if tries == maxEmptyReads {
			return io.ErrNoProgress
		}
		n, readErr = d.src.Read(d.buffer)
		if n < 0 || n > len(d.buffer) {
			return fmt.Errorf("sealane: Read of %T returned the count %d, expected 0 to %d", d.src, n, len(d.buffer))
		}
	}
	if _, err := d.filter.Push(d.buffer[:n]); err != nil {
		return err
	}
	if readErr == io.EOF {
		d.ended = true
		return nil
	}
	return readErr
}
