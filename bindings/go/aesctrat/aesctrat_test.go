package aesctrat_test

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"fmt"
	"log"
	"os"
	"sync"
	"testing"

	"example.invalid/sealane/go/aesctrat"
	"example.invalid/sealane/go/internal/leaktest"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

func ExampleAesCtr_XORKeyStreamAt() {
	file, err := os.CreateTemp("", "example")
	if err != nil {
		log.Fatal(err)
	}
	defer os.Remove(file.Name())
	defer file.Close()
	if _, err := file.Write(make([]byte, 2000)); err != nil {
		log.Fatal(err)
	}

	key := make([]byte, 16) // Or 24 or 32.
	ctr := aesctrat.NewAesCtr(key)

	iv := make([]byte, 16)
	offset := int64(5) // Skip 5 bytes.

	plaintext := make([]byte, 1000)
	if _, err := file.ReadAt(plaintext, offset); err != nil {
		log.Fatal(err)
	}
	ciphertext := make([]byte, 1000) // Must have the length of plaintext.

	ctr.XORKeyStreamAt(ciphertext, plaintext, iv, uint64(offset))

	fmt.Printf("%x\n", ciphertext[:16])
	// Output: 8a2c3b884cfa59ca342b2e58e2fccefa
}

// TestAgainstCryptoCipher compares with the standard library for every offset and length up to 200,
// with IVs that wrap.
func TestAgainstCryptoCipher(t *testing.T) {
	for _, size := range []int{16, 24, 32} {
		key := make([]byte, size)
		rand.Read(key)
		block, err := aes.NewCipher(key)
		if err != nil {
			t.Fatal(err)
		}
		ctr := aesctrat.NewAesCtr(key)
		for _, last := range []byte{0, 0xfe, 0xff} {
			iv := append(bytes.Repeat([]byte{0xff}, 15), last)
			expected := make([]byte, 400)
			cipher.NewCTR(block, iv).XORKeyStream(expected, expected)
			found, zeros := make([]byte, 200), make([]byte, 200)
			for offset := range 201 {
				for length := range 201 {
					ctr.XORKeyStreamAt(found[:length], zeros[:length], iv, uint64(offset))
					if !bytes.Equal(found[:length], expected[offset:offset+length]) {
						t.Fatalf("AES-%d, %d bytes at %d", size*8, length, offset)
					}
				}
			}
		}
	}
}

func TestPanics(t *testing.T) {
	ctr := aesctrat.NewAesCtr(make([]byte, 16))
	data, iv := make([]byte, 100), make([]byte, aesctrat.BlockSize)
	for expected, call := range map[string]func(){
		"bad key length: 15":   func() { aesctrat.NewAesCtr(data[:15]) },
		"bad key length: 0":    func() { aesctrat.NewAesCtr(nil) },
		"bad IV length: 15":    func() { ctr.XORKeyStreamAt(data, data, iv[:15], 0) },
		"len(dst) != len(src)": func() { ctr.XORKeyStreamAt(data, data[:99], iv, 0) },
		"overlap":              func() { ctr.XORKeyStreamAt(data[1:50], data[:49], iv, 0) },
		"end":                  func() { ctr.XORKeyStreamAt(data, data, iv, 1<<64-50) },
	} {
		func() {
			defer func() {
				value := recover()
				if text, isText := value.(string); value == nil || isText && text != expected {
					t.Errorf("found the panic %v, expected %s", value, expected)
				}
			}()
			call()
		}()
	}
	if !bytes.Equal(data, make([]byte, 100)) {
		t.Error("a mistake changed the data")
	}
}

func TestGoroutinesShareAKey(t *testing.T) {
	ctr := aesctrat.NewAesCtr(make([]byte, 32))
	expected := make([]byte, 10_000)
	ctr.XORKeyStreamAt(expected, expected, make([]byte, 16), 0)
	var group sync.WaitGroup
	for range 4 {
		group.Add(1)
		go func() {
			defer group.Done()
			found := make([]byte, 100)
			for offset := 0; offset < 9900; offset += 17 {
				clear(found)
				ctr.XORKeyStreamAt(found, found, make([]byte, 16), uint64(offset))
				if !bytes.Equal(found, expected[offset:offset+100]) {
					t.Errorf("100 bytes at %d differ", offset)
				}
			}
		}()
	}
	group.Wait()
}
