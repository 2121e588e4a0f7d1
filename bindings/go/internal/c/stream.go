package c

/*
#cgo noescape sealane_filter_push
#cgo nocallback sealane_filter_push
#cgo noescape sealane_filter_take
#cgo nocallback sealane_filter_take
#cgo noescape sealane_writer_push
#cgo nocallback sealane_writer_push
#include "sealane.h"
*/
import "C"

import (
	"io/fs"
	"runtime"
	"sync"
)

// Filter is a stream: bytes are pushed in and taken out. Its mutex protects the handle: one thread
// at a time.
type Filter struct {
	mu     sync.Mutex
	handle *C.sealane_filter
}

// NewEncryptFilter starts encrypting a stream.
func NewEncryptFilter(with *EncryptWith) (*Filter, error) {
	var e C.sealane_error
	handle := C.sealane_encryptor_new(with.handle, &e)
	runtime.KeepAlive(with)
	return newFilter(handle, &e)
}

// NewDecryptFilter starts decrypting a stream.
func NewDecryptFilter(with *DecryptWith) (*Filter, error) {
	var e C.sealane_error
	handle := C.sealane_decryptor_new(with.handle, &e)
	runtime.KeepAlive(with)
	return newFilter(handle, &e)
}

func newFilter(handle *C.sealane_filter, e *C.sealane_error) (*Filter, error) {
	free := func(handle *C.sealane_filter) { C.sealane_filter_free(handle) }
	return owned(&Filter{handle: handle}, handle, free, e)
}

// Push processes data and returns the number of bytes ready to take.
func (f *Filter) Push(data []byte) (waiting int, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	var e C.sealane_error
	return count(C.sealane_filter_push(f.handle, ptr(data), size(data), &e), &e)
}

// Finish ends the stream and returns the number of bytes ready to take.
func (f *Filter) Finish() (waiting int, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	var e C.sealane_error
	return count(C.sealane_filter_finish(f.handle, &e), &e)
}

// Take takes output bytes of the stream.
func (f *Filter) Take(out []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	var e C.sealane_error
	return count(C.sealane_filter_take(f.handle, ptr(out), size(out), &e), &e)
}

// Writer is an encrypted file written in pieces.
type Writer struct {
	mu      sync.Mutex
	handle  *C.sealane_writer // null after Close and Abort
	cleanup runtime.Cleanup
	path    string
}

// CreateWriter starts a file.
func CreateWriter(path string, with *EncryptWith) (*Writer, error) {
	return withText(pathText, "create", path, func(name *C.char, e *C.sealane_error) (*Writer, error) {
		handle := C.sealane_writer_create(name, with.handle, e)
		runtime.KeepAlive(with)
		if handle == nil {
			return nil, fileFailure(*e, "create", path)
		}
		w := &Writer{handle: handle, path: path}
		w.cleanup = runtime.AddCleanup(w, func(handle *C.sealane_writer) { C.sealane_writer_free(handle) }, handle)
		return w, nil
	})
}

// Write encrypts a piece.
func (w *Writer) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.handle == nil {
		return 0, fs.ErrClosed
	}
	var e C.sealane_error
	if C.sealane_writer_push(w.handle, ptr(p), size(p), &e) < 0 {
		return 0, fileFailure(e, "write", w.path)
	}
	return len(p), nil
}

// Close gives the file its name. If synced, it waits for the disk.
func (w *Writer) Close(synced bool) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.handle == nil {
		return fs.ErrClosed
	}
	defer w.free()
	var flags C.uint32_t
	if synced {
		flags = C.SEALANE_SYNCED
	}
	var e C.sealane_error
	if C.sealane_writer_finish(w.handle, flags, &e) < 0 {
		return fileFailure(e, "close", w.path)
	}
	return nil
}

// Abort leaves no file behind, unless Close already named it.
func (w *Writer) Abort() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.handle != nil {
		w.free()
	}
}

// free frees the handle. The mutex must be locked.
func (w *Writer) free() {
	w.cleanup.Stop()
	C.sealane_writer_free(w.handle)
	w.handle = nil
}
