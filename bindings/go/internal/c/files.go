package c

/*
#include "sealane.h"

// Functions of callback.go. Their context is a number in Go and a pointer in C, so it is converted
// here.
extern int32_t sealaneGoProgress(uintptr_t context, uint64_t done, uint64_t total);
extern int64_t sealaneGoReadAt(uintptr_t context, uint64_t offset, uint8_t *into, size_t len);

static int32_t progress(void *context, uint64_t done, uint64_t total) {
	return sealaneGoProgress((uintptr_t)context, done, total);
}

static int64_t read_at(void *context, uint64_t offset, uint8_t *into, size_t len) {
	return sealaneGoReadAt((uintptr_t)context, offset, into, len);
}

static sealane_options options(uint32_t threads, uint32_t flags, uintptr_t context) {
	sealane_options options = {
		.size = sizeof options, .threads = threads, .flags = flags, .progress = context ? progress : NULL,
		.context = (void *)context,
	};
	return options;
}

static int64_t encrypt_file(const char *from, const char *to, const sealane_encrypt_with *with, uint32_t threads,
	uint32_t flags, uintptr_t context, sealane_error *error) {
	sealane_options all = options(threads, flags, context);
	return sealane_encrypt_file(from, to, with, &all, error);
}

static int64_t decrypt_file(const char *from, const char *to, const sealane_decrypt_with *with, uint32_t threads,
	uint32_t flags, uintptr_t context, sealane_error *error) {
	sealane_options all = options(threads, flags, context);
	return sealane_decrypt_file(from, to, with, &all, error);
}

static int64_t verify_file(const char *from, const sealane_decrypt_with *with, uint32_t threads, uint32_t flags,
	uintptr_t context, sealane_error *error) {
	sealane_options all = options(threads, flags, context);
	return sealane_verify_file(from, with, &all, error);
}

static sealane_reader *reader_over(uint64_t length, uintptr_t context, const sealane_decrypt_with *with,
	sealane_error *error) {
	sealane_source source = {.size = sizeof source, .length = length, .read_at = read_at, .context = (void *)context};
	return sealane_reader_over(&source, with, error);
}
*/
import "C"

import (
	"fmt"
	"io"
	"io/fs"
	"math"
	"runtime"
	"runtime/cgo"
	"sync"
	"sync/atomic"
)

// Options are options for an operation on whole files.
type Options struct {
	Threads  int
	Synced   bool
	Progress func(done, total int64) error
}

// optionsCall calls a function of the library with the converted paths and options.
type optionsCall func(names []*C.char, threads, flags C.uint32_t, context C.uintptr_t, e *C.sealane_error) C.int64_t

func (o Options) run(call optionsCall, operation string, paths ...string) error {
	names := make([]*C.char, len(paths))
	for i, path := range paths {
		name, err := pathText(operation, path)
		if err != nil {
			return err
		}
		names[i] = chars(name)
	}
	if o.Threads < 0 || o.Threads > math.MaxInt32 {
		return &Error{ErrMisuse, fmt.Sprintf("the number of threads is %d, expected 0 for the default or a small number", o.Threads)}
	}
	var flags C.uint32_t
	if o.Synced {
		flags = C.SEALANE_SYNCED
	}
	var context cgo.Handle
	state := &progress{report: o.Progress}
	if o.Progress != nil {
		context = cgo.NewHandle(state)
		defer context.Delete()
	}
	var e C.sealane_error
	n := call(names, C.uint32_t(o.Threads), flags, C.uintptr_t(context), &e)
	state.panic.resume()
	if n >= 0 {
		return nil
	}
	err := fileFailure(e, operation, paths...)
	if state.err != nil {
		return fmt.Errorf("%w: %w", err, state.err)
	}
	return err
}

// EncryptFile encrypts a file.
func EncryptFile(from, to string, with *EncryptWith, options Options) error {
	defer runtime.KeepAlive(with)
	return options.run(func(names []*C.char, threads, flags C.uint32_t, context C.uintptr_t, e *C.sealane_error) C.int64_t {
		return C.encrypt_file(names[0], names[1], with.handle, threads, flags, context, e)
	}, "encrypt", from, to)
}

// DecryptFile decrypts a file.
func DecryptFile(from, to string, with *DecryptWith, options Options) error {
	defer runtime.KeepAlive(with)
	return options.run(func(names []*C.char, threads, flags C.uint32_t, context C.uintptr_t, e *C.sealane_error) C.int64_t {
		return C.decrypt_file(names[0], names[1], with.handle, threads, flags, context, e)
	}, "decrypt", from, to)
}

// VerifyFile verifies every byte of a file.
func VerifyFile(from string, with *DecryptWith, options Options) error {
	defer runtime.KeepAlive(with)
	return options.run(func(names []*C.char, threads, flags C.uint32_t, context C.uintptr_t, e *C.sealane_error) C.int64_t {
		return C.verify_file(names[0], with.handle, threads, flags, context, e)
	}, "verify", from)
}

// Encrypt returns the bytes of an encrypted file.
func Encrypt(data []byte, with *EncryptWith) ([]byte, error) {
	var e C.sealane_error
	var out *C.uint8_t
	n := C.sealane_encrypt(with.handle, ptr(data), size(data), &out, &e)
	runtime.KeepAlive(with)
	return given(out, n, &e)
}

// Decrypt returns the plaintext of an encrypted file's bytes.
func Decrypt(file []byte, with *DecryptWith) ([]byte, error) {
	var e C.sealane_error
	var out *C.uint8_t
	n := C.sealane_decrypt(with.handle, ptr(file), size(file), &out, &e)
	runtime.KeepAlive(with)
	return given(out, n, &e)
}

// Reader is an encrypted file with random access. Goroutines can share it. Close waits for reads,
// or lets the last one free the file if there is a source, which may be what calls Close.
type Reader struct {
	mu      sync.RWMutex
	closed  atomic.Bool
	parts   readerParts // zero after Close
	cleanup runtime.Cleanup
	path    string
	source  *source // or nil
	size    int64
}

// readerParts is everything a reader must free.
type readerParts struct {
	handle *C.sealane_reader
	source cgo.Handle // or 0
}

func (p readerParts) free() {
	C.sealane_reader_free(p.handle)
	if p.source != 0 {
		p.source.Delete()
	}
}

// OpenReader opens a file.
func OpenReader(path string, with *DecryptWith) (*Reader, error) {
	return withText(pathText, "open", path, func(name *C.char, e *C.sealane_error) (*Reader, error) {
		handle := C.sealane_reader_open(name, with.handle, e)
		runtime.KeepAlive(with)
		if handle == nil {
			return nil, fileFailure(*e, "open", path)
		}
		return newReader(readerParts{handle: handle}, path, nil)
	})
}

// NewReader opens an encrypted file of this length in the caller's reader.
func NewReader(from io.ReaderAt, length int64, with *DecryptWith) (*Reader, error) {
	if length < 0 {
		return nil, &Error{ErrMisuse, fmt.Sprintf("the size of the encrypted file is %d, expected 0 or more", length)}
	}
	source := &source{from: from}
	context := cgo.NewHandle(source)
	var e C.sealane_error
	handle := C.reader_over(C.uint64_t(length), C.uintptr_t(context), with.handle, &e)
	runtime.KeepAlive(with)
	if handle == nil {
		context.Delete()
		return nil, source.failure(int(e.os_code), failure(e))
	}
	return newReader(readerParts{handle, context}, "", source)
}

func newReader(parts readerParts, path string, source *source) (*Reader, error) {
	var e C.sealane_error
	size := C.sealane_reader_size(parts.handle, &e)
	if size < 0 {
		parts.free()
		return nil, failure(e)
	}
	r := &Reader{parts: parts, path: path, source: source, size: int64(size)}
	r.cleanup = runtime.AddCleanup(r, readerParts.free, parts)
	return r, nil
}

// Size returns the plaintext length in bytes.
func (r *Reader) Size() int64 { return r.size }

// ReadAt reads plaintext.
func (r *Reader) ReadAt(p []byte, offset int64) (int, error) {
	if offset < 0 {
		return 0, &Error{ErrMisuse, fmt.Sprintf("the offset is %d, expected 0 or more", offset)}
	}
	// Before the lock: a source that reads its own reader must not wait for a Close that waits for
	// it.
	if r.closed.Load() {
		return 0, fs.ErrClosed
	}
	r.mu.RLock()
	defer r.mu.RUnlock()
	if r.parts.handle == nil {
		return 0, fs.ErrClosed
	}
	// Neither noescape nor nocallback: the library calls the source, which may need a larger stack and
	// so move this one.
	var e C.sealane_error
	n := C.sealane_reader_read_at(r.parts.handle, C.uint64_t(offset), ptr(p), size(p), &e)
	switch {
	case n >= 0 && int(n) < len(p):
		return int(n), io.EOF
	case n >= 0:
		return int(n), nil
	case r.source != nil:
		return 0, r.source.failure(int(e.os_code), failure(e))
	}
	return 0, fileFailure(e, "read", r.path)
}

// Close closes the file.
func (r *Reader) Close() error {
	if r.closed.Swap(true) {
		return fs.ErrClosed
	}
	if r.source != nil && !r.mu.TryLock() {
		go func() {
			r.mu.Lock()
			r.free()
		}()
		return nil
	} else if r.source == nil {
		r.mu.Lock()
	}
	r.free()
	return nil
}

// free frees the file. The mutex must be locked; it is unlocked.
func (r *Reader) free() {
	defer r.mu.Unlock()
	r.cleanup.Stop()
	r.parts.free()
	r.parts = readerParts{}
}
