package sealane_test

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"example.invalid/sealane/go"
)

// TestAgainstCryptoCipher compares AES-GCM with the standard library, for all short lengths and
// around the boundaries of bulk code.
func TestAgainstCryptoCipher(t *testing.T) {
	lengths := []int{1023, 1024, 1025, 4096, 16383, 16384, 16385, 100_000, 1 << 20}
	for length := range 600 {
		lengths = append(lengths, length)
	}
	for _, keySize := range []int{16, 24, 32} {
		key := random(keySize)
		theirs := must(cipher.NewGCM(must(aes.NewCipher(key))(t)))(t)
		ours := must(sealane.NewAEAD(fmt.Sprintf("aes-%d-gcm", keySize*8), key))(t)
		if ours.NonceSize() != theirs.NonceSize() || ours.Overhead() != theirs.Overhead() {
			t.Fatalf("sizes %d and %d, expected %d and %d", ours.NonceSize(), ours.Overhead(), theirs.NonceSize(), theirs.Overhead())
		}
		for _, length := range lengths {
			nonce, plaintext, aad := random(12), random(length), random(length%67)
			expected := theirs.Seal([]byte("dst"), nonce, plaintext, aad)
			sealed := ours.Seal([]byte("dst"), nonce, plaintext, aad)
			equal(t, sealed, expected)
			equal(t, must(ours.Open([]byte("dst"), nonce, sealed[3:], aad))(t), append([]byte("dst"), plaintext...))
			// A forgery of each kind.
			for _, at := range []int{3, len(sealed) / 2, len(sealed) - 1} {
				forgery := bytes.Clone(sealed[3:])
				forgery[at-3] ^= 1
				_, err := ours.Open(nil, nonce, forgery, aad)
				wants(t, err, sealane.ErrAuthentication)
			}
			_, err := ours.Open(nil, nonce, sealed[3:], append(aad, 0))
			wants(t, err, sealane.ErrAuthentication)
		}
	}
}

// TestMessages seals and opens with every algorithm of the list.
func TestMessages(t *testing.T) {
	algorithms := must(sealane.Algorithms())(t)
	if len(algorithms) < 10 || !slices.ContainsFunc(algorithms, func(a sealane.Algorithm) bool { return a.Name == "aes-256-gcm" }) {
		t.Fatalf("the list of algorithms is %v", algorithms)
	}
	for _, algorithm := range algorithms {
		aead := must(sealane.NewAEAD(algorithm.Name, random(algorithm.KeySize)))(t)
		if aead.NonceSize() != algorithm.NonceSize || aead.Overhead() != algorithm.TagSize ||
			aead.MaxPlaintext() != algorithm.MaxPlaintext || aead.Algorithm() != algorithm.Name {
			t.Errorf("%s has other sizes than the list", algorithm.Name)
		}
		for _, length := range []int{0, 1, 64, 1000} {
			plaintext, aad := random(length), random(5)
			message := must(aead.SealMessage(nil, plaintext, aad))(t)
			if again := must(aead.SealMessage(nil, plaintext, aad))(t); bytes.Equal(again, message) {
				t.Fatalf("%s seals two messages under one nonce", algorithm.Name)
			}
			equal(t, must(aead.OpenMessage(nil, message, aad))(t), plaintext)
			nonce := message[:aead.NonceSize()]
			equal(t, must(aead.Open(nil, nonce, message[len(nonce):], aad))(t), plaintext)
			for short := range aead.NonceSize() + aead.Overhead() {
				_, err := aead.OpenMessage(nil, message[:short], aad)
				wants(t, err, sealane.ErrAuthentication)
			}
			for short := range aead.Overhead() {
				_, err := aead.Open(nil, nonce, message[:short], aad)
				wants(t, err, sealane.ErrAuthentication)
			}
			// In place.
			buffer := make([]byte, len(message))
			copy(buffer[len(nonce):], plaintext)
			message = must(aead.SealMessage(buffer[:0], buffer[len(nonce):len(nonce)+length], aad))(t)
			if &message[0] != &buffer[0] {
				t.Error("the message was not sealed in place")
			}
			equal(t, must(aead.OpenMessage(message[len(nonce):len(nonce)], message, aad))(t), plaintext)
		}
	}
}

func TestProviders(t *testing.T) {
	key := random(32)
	implementations := must(sealane.Implementations())(t)
	usable, chosen := 0, ""
	for _, i := range implementations {
		if i.Algorithm != "aes-256-gcm" {
			continue
		}
		if i.Default {
			chosen = i.Provider
		}
		if !i.Available {
			if i.Reason == "" {
				t.Errorf("%v has no reason", i)
			}
			continue
		}
		usable++
		aead := must(sealane.NewAEADWithProvider(i.Algorithm, key, i.Provider))(t)
		if aead.Provider() != i.Provider || aead.Variant() == "" {
			t.Errorf("asked for %s, found %s and %q", i.Provider, aead.Provider(), aead.Variant())
		}
	}
	if usable < 2 {
		t.Errorf("%d usable implementations of AES-256-GCM in %v", usable, implementations)
	}
	if aead := must(sealane.NewAEAD("aes-256-gcm", key))(t); aead.Provider() != chosen {
		t.Errorf("the default provider is %s, the list says %s", aead.Provider(), chosen)
	}
	_, err := sealane.NewAEADWithProvider("aegis-256", key, "rustcrypto")
	wants(t, err, sealane.ErrProviderUnavailable)
	wants(t, sealane.SetDefaultProvider("unknown"), sealane.ErrMisuse)
	wants(t, sealane.SetDefaultProvider("a\x00b"), sealane.ErrMisuse)
	if !strings.Contains(sealane.Version(), ".") {
		t.Errorf("the version is %q", sealane.Version())
	}
}

// TestMisuseOfAEADs makes every mistake possible for a caller.
func TestMisuseOfAEADs(t *testing.T) {
	for name, call := range map[string]func() (*sealane.AEAD, error){
		"algorithm":       func() (*sealane.AEAD, error) { return sealane.NewAEAD("rot13", random(32)) },
		"empty algorithm": func() (*sealane.AEAD, error) { return sealane.NewAEAD("", random(32)) },
		"zero byte":       func() (*sealane.AEAD, error) { return sealane.NewAEAD("aes-256-gcm\x00", random(32)) },
		"not UTF-8":       func() (*sealane.AEAD, error) { return sealane.NewAEAD("\xff", random(32)) },
		"short key":       func() (*sealane.AEAD, error) { return sealane.NewAEAD("aes-256-gcm", random(31)) },
		"no key":          func() (*sealane.AEAD, error) { return sealane.NewAEAD("aes-256-gcm", nil) },
		"provider": func() (*sealane.AEAD, error) {
			return sealane.NewAEADWithProvider("aes-256-gcm", random(32), "unknown")
		},
		"provider with zero byte": func() (*sealane.AEAD, error) {
			return sealane.NewAEADWithProvider("aes-256-gcm", random(32), "nati\x00ve")
		},
	} {
		if aead, err := call(); aead != nil {
			t.Errorf("%s: accepted", name)
		} else {
			wants(t, err, sealane.ErrMisuse)
		}
	}
	aead := must(sealane.NewAEAD("aes-256-gcm", random(32)))(t)
	nonce, data := random(12), random(100)
	sealed := aead.Seal(nil, nonce, data, nil)
	buffer := make([]byte, 200)
	copy(buffer, sealed)
	before := bytes.Clone(buffer)
	for name, call := range map[string]func(){
		"Seal with a short nonce":           func() { aead.Seal(nil, nonce[:11], data, nil) },
		"Seal with a long nonce":            func() { aead.Seal(nil, append(nonce, 0), data, nil) },
		"Open with a short nonce":           func() { aead.Open(nil, nonce[:11], sealed, nil) },
		"Open with no nonce":                func() { aead.Open(nil, nil, sealed, nil) },
		"Seal one byte after the plaintext": func() { aead.Seal(buffer[1:1], nonce, buffer[:100], nil) },
		"Seal before the plaintext":         func() { aead.Seal(buffer[:0], nonce, buffer[1:100], nil) },
		"Seal over the associated data":     func() { aead.Seal(buffer[:0], nonce, data, buffer[115:120]) },
		"Seal over the nonce":               func() { aead.Seal(buffer[:0], buffer[:12], data, nil) },
		"Open one byte after":               func() { aead.Open(buffer[1:1], nonce, buffer[:116], nil) },
	} {
		value := panics(t, call)
		if err, ok := value.(error); !ok || !strings.HasPrefix(err.Error(), "sealane: ") {
			t.Errorf("%s: the panic is %v", name, value)
		}
	}
	equal(t, buffer, before)
	_, err := aead.SealMessage(buffer[:0], buffer[11:111], nil)
	wants(t, err, sealane.ErrMisuse)
	_, err = aead.OpenMessage(buffer[13:13], buffer[:128], nil)
	wants(t, err, sealane.ErrMisuse)
	equal(t, buffer, before)
	// A forgery leaves no plaintext behind.
	sealed[5] ^= 1
	_, err = aead.Open(sealed[:0], nonce, sealed, nil)
	wants(t, err, sealane.ErrAuthentication)
	equal(t, sealed[:100], make([]byte, 100))
}

// TestGoroutinesShareAnAEAD seals and opens with one key in many goroutines.
func TestGoroutinesShareAnAEAD(t *testing.T) {
	aead := must(sealane.NewAEAD("aes-256-gcm", random(32)))(t)
	var group sync.WaitGroup
	for range 8 {
		group.Add(1)
		go func() {
			defer group.Done()
			for length := range 300 {
				plaintext := random(length)
				message, err := aead.SealMessage(nil, plaintext, nil)
				if err != nil {
					t.Error(err)
					return
				}
				if opened, err := aead.OpenMessage(nil, message, nil); err != nil || !bytes.Equal(opened, plaintext) {
					t.Error("a message is not opened", err)
				}
			}
		}()
	}
	group.Wait()
}

// TestCallsDoNotAllocate counts the allocations of calls whose result fits.
func TestCallsDoNotAllocate(t *testing.T) {
	aead := must(sealane.NewAEAD("aes-256-gcm", random(32)))(t)
	nonce, data, buffer := random(12), random(64), make([]byte, 0, 128)
	allocations := testing.AllocsPerRun(100, func() {
		sealed := aead.Seal(buffer, nonce, data, nil)
		aead.Open(sealed[:0], nonce, sealed, nil)
	})
	if allocations != 0 {
		t.Errorf("Seal and Open allocate %v times", allocations)
	}
}

func TestMany(t *testing.T) {
	aead := must(sealane.NewAEAD("aes-256-gcm", random(32)))(t)
	data, lens := random(100_000), []uint64{0, 64, 1, 64, 64, 99_807}
	aad, overhead := []byte("shared"), uint64(aead.NonceSize()+aead.Overhead())
	sealed := must(aead.SealMany([]byte("before"), data, lens, aad))(t)
	if string(sealed[:6]) != "before" {
		t.Fatal("dst changed")
	}
	sealed = sealed[6:]
	var sealedLens []uint64
	at, from := sealed, data
	for i, n := range lens {
		plaintext := must(aead.OpenMessage(nil, at[:n+overhead], aad))(t)
		if !bytes.Equal(plaintext, from[:n]) {
			t.Errorf("message %d differs", i)
		}
		at, from = at[n+overhead:], from[n:]
		sealedLens = append(sealedLens, n+overhead)
	}
	if !bytes.Equal(must(aead.OpenMany(nil, sealed, sealedLens, aad))(t), data) {
		t.Error("the plaintexts differ")
	}
	sealed[30] ^= 1 // in message 1
	if opened, err := aead.OpenMany(nil, sealed, sealedLens, aad); !errors.Is(err, sealane.ErrAuthentication) || opened != nil {
		t.Errorf("a forged message: %v", err)
	} else if !strings.Contains(err.Error(), "message 1") {
		t.Errorf("expected the number of the message, found %v", err)
	}
	for name, wrong := range map[string][]uint64{"too few": {1}, "too long": {100_000, 1}, "overflow": {1<<64 - 1, 100_001}} {
		if _, err := aead.SealMany(nil, data, wrong, nil); !errors.Is(err, sealane.ErrMisuse) {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := aead.OpenMany(nil, data, wrong, nil); !errors.Is(err, sealane.ErrMisuse) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if empty := must(aead.SealMany(nil, nil, nil, nil))(t); len(empty) != 0 {
		t.Errorf("no messages give %d bytes", len(empty))
	}
}
