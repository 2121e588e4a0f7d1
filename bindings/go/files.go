package sealane

import (
	"io"

	"example.invalid/sealane/go/internal/c"
)

// FileOptions are options for operations on whole files.
type FileOptions struct {
	// Threads is the number of threads, or 0 for one per core, at most 8.
	Threads int
	// Synced makes the operation wait until the bytes are on disk.
	Synced bool
	// Progress is called from time to time with the bytes done and the total, -1 if unknown. An error
	// cancels the operation: its error wraps ErrCancelled and that error. Progress must not call
	// runtime.Goexit, as testing.T.FailNow does.
	Progress func(done, total int64) error
}

func (o *FileOptions) core() c.Options { return c.Options(*orDefault(o)) }

// orDefault returns the default options instead of nil.
func orDefault[T any](options *T) *T {
	if options == nil {
		return new(T)
	}
	return options
}

// EncryptFile encrypts the file src to the file dst, which appears complete or not at all. The
// options may be nil.
func EncryptFile(src, dst string, with *EncryptWith, options *FileOptions) error {
	return c.EncryptFile(src, dst, with.core, options.core())
}

// DecryptFile decrypts the file src to the file dst, which appears complete and verified or not at
// all. The options may be nil.
func DecryptFile(src, dst string, with *DecryptWith, options *FileOptions) error {
	return c.DecryptFile(src, dst, with.core, options.core())
}

// VerifyFile verifies every byte of an encrypted file. The options may be nil.
func VerifyFile(src string, with *DecryptWith, options *FileOptions) error {
	return c.VerifyFile(src, with.core, options.core())
}

// EncryptBytes encrypts plaintext to the bytes of a file.
func EncryptBytes(plaintext []byte, with *EncryptWith) ([]byte, error) {
	return c.Encrypt(plaintext, with.core)
}

// DecryptBytes decrypts the bytes of a file.
func DecryptBytes(file []byte, with *DecryptWith) ([]byte, error) {
	return c.Decrypt(file, with.core)
}

// Reader gives random access to an encrypted file's plaintext. Every byte returned is verified.
//
// Goroutines can share ReadAt. Close waits for it, or lets it finish if NewReader made the reader.
// Read and Seek share a position, so they are for one goroutine at a time. A read decrypts whole
// chunks, for example of 16 KiB; for small sequential reads use a [bufio.Reader].
type Reader struct {
	core    *c.Reader
	section *io.SectionReader
}

var (
	_ io.ReaderAt   = (*Reader)(nil)
	_ io.ReadSeeker = (*Reader)(nil)
	_ io.WriterTo   = (*Reader)(nil)
	_ io.Closer     = (*Reader)(nil)
)

// Open opens an encrypted file. It verifies the header and the last chunk, so the size is
// authentic.
func Open(path string, with *DecryptWith) (*Reader, error) {
	return newReader(c.OpenReader(path, with.core))
}

// NewReader opens the encrypted file of size bytes in r, such as an object in a store. Several
// threads call r.ReadAt at once, even for one read. Errors of r are returned as they are. ReadAt
// must neither retain its slice nor call runtime.Goexit.
func NewReader(r io.ReaderAt, size int64, with *DecryptWith) (*Reader, error) {
	return newReader(c.NewReader(r, size, with.core))
}

var newReader = c.Wrapping(func(core *c.Reader) *Reader {
	return &Reader{core, io.NewSectionReader(core, 0, core.Size())}
})

// Size returns the plaintext length in bytes.
func (r *Reader) Size() int64 { return r.core.Size() }

// ReadAt reads len(p) bytes of plaintext from offset off on, as [io.ReaderAt] requires.
func (r *Reader) ReadAt(p []byte, off int64) (int, error) { return r.core.ReadAt(p, off) }

// Read reads the next bytes of plaintext.
func (r *Reader) Read(p []byte) (int, error) { return r.section.Read(p) }

// Seek sets the position of the next Read.
func (r *Reader) Seek(offset int64, whence int) (int64, error) {
	return r.section.Seek(offset, whence)
}

// WriteTo writes the rest of the plaintext to w, in large pieces. [io.Copy] calls it.
func (r *Reader) WriteTo(w io.Writer) (int64, error) {
	position, err := r.section.Seek(0, io.SeekCurrent)
	if err != nil {
		return 0, err
	}
	buffer := make([]byte, max(1, min(pieceSize, r.Size()-position)))
	// Hides the method WriteTo, which would call itself.
	return io.CopyBuffer(struct{ io.Writer }{w}, struct{ io.Reader }{r.section}, buffer)
}

// Close closes the file and wipes its keys. It does not close the reader of [NewReader].
func (r *Reader) Close() error { return r.core.Close() }

// Writer is an encrypted file written in pieces. It is for one goroutine at a time.
type Writer struct{ core *c.Writer }

var _ io.WriteCloser = (*Writer)(nil)

var newWriter = c.Wrapping(func(core *c.Writer) *Writer { return &Writer{core} })

// Create starts an encrypted file. It gets its name on Close; until then an existing file stays
// unchanged.
func Create(path string, with *EncryptWith) (*Writer, error) {
	return newWriter(c.CreateWriter(path, with.core))
}

// Write encrypts a piece of the plaintext.
func (w *Writer) Write(p []byte) (int, error) { return w.core.Write(p) }

// Close writes the rest and gives the file its name.
func (w *Writer) Close() error { return w.core.Close(false) }

// CloseSynced is Close, and waits until the bytes and the name are on disk.
func (w *Writer) CloseSynced() error { return w.core.Close(true) }

// Abort before Close leaves nothing on disk; after Close it does nothing. So you can defer it.
func (w *Writer) Abort() { w.core.Abort() }
