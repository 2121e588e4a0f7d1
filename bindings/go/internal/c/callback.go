package c

/*
#include <stdint.h>
#include <stddef.h>
*/
import "C"

import (
	"fmt"
	"io"
	"runtime/cgo"
	"sync"
	"unsafe"
)

// progress is the caller's progress function.
type progress struct {
	report func(done, total int64) error
	err    error // the error that cancelled the operation
	panic  *panicked
}

// panicked is a panic in the caller's function. It must not unwind the library's stack, so it
// continues after the call.
type panicked struct{ value any }

func (p *panicked) Error() string {
	return fmt.Sprintf("sealane: a function of the caller panicked: %v", p.value)
}

func (p *panicked) resume() {
	if p != nil {
		panic(p.value)
	}
}

//export sealaneGoProgress
func sealaneGoProgress(context C.uintptr_t, done, total C.uint64_t) (cancel C.int32_t) {
	p := cgo.Handle(context).Value().(*progress)
	defer func() {
		if value := recover(); value != nil {
			p.panic, cancel = &panicked{value}, 1
		}
	}()
	// SEALANE_UNKNOWN becomes -1.
	if p.err = p.report(int64(done), int64(total)); p.err != nil {
		return 1
	}
	return 0
}

// source is the caller's [io.ReaderAt]. Library threads read it.
type source struct {
	from io.ReaderAt

	mu       sync.Mutex
	failures [64]error // the last errors of the reader, at their numbers
	next     int
}

// firstFailure is the number passed to the library for failures[0] instead of an errno. No system
// has such an errno.
const firstFailure = 1 << 24

//export sealaneGoReadAt
func sealaneGoReadAt(context C.uintptr_t, offset C.uint64_t, into *C.uint8_t, size C.size_t) C.int64_t {
	s := cgo.Handle(context).Value().(*source)
	n, err := s.read(unsafe.Slice((*byte)(into), int(size)), int64(offset))
	if err != nil {
		return -C.int64_t(s.number(err))
	}
	return C.int64_t(n)
}

// read returns 0 only at the end. An error after some bytes is returned by the next read.
func (s *source) read(into []byte, offset int64) (n int, err error) {
	defer func() {
		if value := recover(); value != nil {
			n, err = 0, &panicked{value}
		}
	}()
	n, err = s.from.ReadAt(into, offset)
	switch {
	case n < 0 || n > len(into):
		return 0, fmt.Errorf("sealane: ReadAt of %T returned the count %d, expected 0 to %d", s.from, n, len(into))
	case n > 0 || err == io.EOF || len(into) == 0:
		return n, nil
	case err == nil:
		return 0, io.ErrNoProgress
	}
	return 0, err
}

func (s *source) number(err error) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := s.next % len(s.failures)
	s.failures[at] = err
	s.next = at + 1
	return firstFailure + at
}

// failure returns the reader's error if it made the library fail. A panic of the reader continues.
func (s *source) failure(osCode int, err error) error {
	at := osCode - firstFailure
	if s == nil || at < 0 || at >= len(s.failures) {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if failed := s.failures[at]; failed != nil {
		err = failed
	}
	if p, ok := err.(*panicked); ok {
		p.resume()
	}
	return err
}
