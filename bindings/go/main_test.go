package sealane_test

import (
	"bytes"
	"crypto/rand"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"example.invalid/sealane/go/internal/leaktest"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

// root is the folder of the project.
const root = "../.."

// random returns n random bytes.
func random(n int) []byte {
	b := make([]byte, n)
	rand.Read(b)
	return b
}

// must returns the value of a call that should not fail.
func must[T any](value T, err error) func(t testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return value
	}
}

// check fails the test if a call failed.
func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// wants fails the test unless err is of this kind.
func wants(t testing.TB, err, kind error) {
	t.Helper()
	if !errors.Is(err, kind) {
		t.Fatalf("found the error %v, expected %v", err, kind)
	}
}

// equal fails the test unless the bytes are the same.
func equal(t testing.TB, found, expected []byte) {
	t.Helper()
	if !bytes.Equal(found, expected) {
		t.Fatalf("found %d bytes %.32x…, expected %d bytes %.32x…", len(found), found, len(expected), expected)
	}
}

// panics fails the test unless the call panics, and returns the panic's value.
func panics(t testing.TB, call func()) (value any) {
	t.Helper()
	defer func() {
		if value = recover(); value == nil {
			t.Helper()
			t.Fatal("expected a panic")
		}
	}()
	call()
	return nil
}

// write writes a file and returns its path.
func write(t testing.TB, name string, data []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	check(t, os.WriteFile(path, data, 0o600))
	return path
}
