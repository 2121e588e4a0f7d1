package hazmat_test

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	mathrand "math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"example.invalid/sealane/go"
	"example.invalid/sealane/go/hazmat"
	"example.invalid/sealane/go/internal/leaktest"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

func random(n int) []byte {
	b := make([]byte, n)
	rand.Read(b)
	return b
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func panics(t testing.TB, name string, call func()) {
	t.Helper()
	defer func() {
		if recover() == nil {
			t.Errorf("%s: expected a panic", name)
		}
	}()
	call()
}

// ctr returns the keystream of the standard library.
func ctr(t testing.TB, key, iv []byte, length int) []byte {
	block, err := aes.NewCipher(key)
	check(t, err)
	stream := make([]byte, length)
	cipher.NewCTR(block, iv).XORKeyStream(stream, stream)
	return stream
}

// ivs returns counters that wrap in each of their words, and one that does not.
func ivs() [][]byte {
	last := bytes.Repeat([]byte{0xff}, 16)
	half := append(random(8), last[:8]...)
	near := bytes.Clone(last)
	near[15] = 0xfb
	low := append(random(12), 0xff, 0xff, 0xff, 0xfe)
	return [][]byte{last, half, near, low, make([]byte, 16), random(16)}
}

// TestEveryOffset compares AES-CTR with the standard library for every offset and length up to 200,
// with IVs that wrap.
func TestEveryOffset(t *testing.T) {
	for _, size := range []int{16, 24, 32} {
		key := random(size)
		shared, err := hazmat.NewAESCTR(key, random(16))
		check(t, err)
		for _, iv := range ivs() {
			stream, err := hazmat.NewAESCTR(key, iv)
			check(t, err)
			expected := ctr(t, key, iv, 400)
			found := make([]byte, 400)
			for offset := range 201 {
				for length := range 201 {
					dst := found[:length]
					clear(dst)
					check(t, stream.XORKeyStreamAt(dst, dst, uint64(offset)))
					if !bytes.Equal(dst, expected[offset:offset+length]) {
						t.Fatalf("AES-%d, IV %x, %d bytes at %d", size*8, iv, length, offset)
					}
					clear(dst)
					check(t, shared.XORKeyStreamUnder(dst, dst, iv, uint64(offset)))
					if !bytes.Equal(dst, expected[offset:offset+length]) {
						t.Fatalf("AES-%d under the IV %x, %d bytes at %d", size*8, iv, length, offset)
					}
				}
			}
		}
	}
}

// TestRandomCuts processes long data in pieces, at offsets in any order.
func TestRandomCuts(t *testing.T) {
	source := mathrand.New(mathrand.NewPCG(1, 2))
	for round := range 20 {
		key, iv, plaintext := random(16+8*(round%3)), random(16), random(300_000)
		expected := ctr(t, key, iv, len(plaintext))
		for i := range expected {
			expected[i] ^= plaintext[i]
		}
		stream, err := hazmat.NewAESCTR(key, iv)
		check(t, err)
		var cuts []int
		for at := 0; at < len(plaintext); at += 1 + source.IntN(40_000) {
			cuts = append(cuts, at)
		}
		cuts = append(cuts, len(plaintext))
		found := make([]byte, len(plaintext))
		for _, i := range source.Perm(len(cuts) - 1) {
			check(t, stream.XORKeyStreamAt(found[cuts[i]:cuts[i+1]], plaintext[cuts[i]:cuts[i+1]], uint64(cuts[i])))
		}
		if !bytes.Equal(found, expected) {
			t.Fatal("pieces differ from the whole")
		}
		moving := stream.From(uint64(cuts[1]))
		for i := 1; i < len(cuts)-1; i++ {
			moving.XORKeyStream(found[cuts[i]:cuts[i+1]], found[cuts[i]:cuts[i+1]])
		}
		if !bytes.Equal(found[cuts[1]:], plaintext[cuts[1]:]) {
			t.Fatal("the stream differs from the pieces")
		}
	}
}

// TestEnds uses the last bytes of each keystream.
func TestEnds(t *testing.T) {
	key := random(32)
	aesCTR, err := hazmat.NewAESCTR(key, random(16))
	check(t, err)
	chacha, err := hazmat.NewChaCha20(key, random(12), 0)
	check(t, err)
	for name, end := range map[string]struct {
		stream *hazmat.Stream
		last   uint64
	}{"AES-CTR": {aesCTR, 1<<64 - 10}, "ChaCha20": {chacha, 1<<38 - 10}} {
		data := make([]byte, 11)
		check(t, end.stream.XORKeyStreamAt(data[:9], data[:9], end.last))
		before := bytes.Clone(data)
		if err := end.stream.XORKeyStreamAt(data, data, end.last); !errors.Is(err, sealane.ErrLimitExceeded) || !bytes.Equal(data, before) {
			t.Errorf("%s: past the end: %v", name, err)
		}
		panics(t, name, func() { end.stream.From(end.last).XORKeyStream(data, data) })
		moving := end.stream.From(end.last)
		moving.XORKeyStream(data[:10], data[:10])
		moving.XORKeyStream(nil, nil)
		panics(t, name+", after its last byte", func() { moving.XORKeyStream(data[:1], data[:1]) })
	}
}

func TestMisuse(t *testing.T) {
	second := func(_ any, err error) error { return err }
	for name, err := range map[string]error{
		"AES key":           second(hazmat.NewAESCTR(random(15), random(16))),
		"AES IV":            second(hazmat.NewAESCTR(random(16), random(15))),
		"no AES key":        second(hazmat.NewAESCTR(nil, nil)),
		"ChaCha20 key":      second(hazmat.NewChaCha20(random(31), random(12), 0)),
		"ChaCha20 nonce":    second(hazmat.NewChaCha20(random(32), random(24), 0)),
		"XChaCha20 nonce":   second(hazmat.NewXChaCha20(random(32), random(12), 0)),
		"Speck size":        second(hazmat.NewSpeckCTR("speck127-128", random(16), random(16), "")),
		"Speck order":       second(hazmat.NewSpeckCTR("speck128-128", random(16), random(16), "middle")),
		"no Speck":          second(hazmat.NewSpeckCTR("aes-ctr", random(16), random(16), "")),
		"Speck zero byte":   second(hazmat.NewSpeckCTR("speck128-128\x00", random(16), random(16), "")),
		"Speck block size":  second(hazmat.NewSpeck("aes", random(16), "")),
		"Speck key":         second(hazmat.NewSpeck("speck128-256", random(16), "")),
		"Poly1305 key":      second(hazmat.NewPoly1305(random(16))),
		"Poly1305 nonce":    second(hazmat.NewPoly1305FromChaCha20(random(32), random(8))),
		"Speck-Poly1305":    second(hazmat.NewSpeckPoly1305("aes-256-gcm", random(32))),
		"small block":       second(hazmat.NewSpeckPoly1305("speck64-128-poly1305", random(16))),
		"large block":       second(hazmat.NewSpeckPoly1305SmallBlock("speck128-256-poly1305", random(32))),
		"pieces, algorithm": second(hazmat.NewAEADEncryptor("aegis-256", random(32), random(32))),
		"pieces, nonce":     second(hazmat.NewAEADDecryptor("aes-256-gcm", random(32), random(11))),
	} {
		if !errors.Is(err, sealane.ErrMisuse) {
			t.Errorf("%s: found %v", name, err)
		}
	}
	stream, err := hazmat.NewAESCTR(random(16), random(16))
	check(t, err)
	data := random(100)
	before := bytes.Clone(data)
	for name, err := range map[string]error{
		"a short output":  stream.XORKeyStreamAt(data[:9], data[50:60], 0),
		"an overlap":      stream.XORKeyStreamAt(data[1:50], data[:49], 0),
		"a short IV":      stream.XORKeyStreamUnder(data, data, data[:15], 0),
		"an IV inside":    stream.XORKeyStreamUnder(data, data, data[:16], 0),
		"an overlap (IV)": stream.XORKeyStreamUnder(data[:49], data[1:50], make([]byte, 16), 0),
	} {
		if !errors.Is(err, sealane.ErrMisuse) {
			t.Errorf("%s: found %v", name, err)
		}
	}
	chacha, err := hazmat.NewChaCha20(random(32), random(12), 0)
	check(t, err)
	if err := chacha.XORKeyStreamUnder(data, data, random(16), 0); !errors.Is(err, sealane.ErrMisuse) {
		t.Errorf("ChaCha20 under another IV: %v", err)
	}
	panics(t, "a short output", func() { stream.From(0).XORKeyStream(data[:9], data[50:60]) })
	panics(t, "an overlap", func() { stream.From(0).XORKeyStream(data[1:50], data[:49]) })
	if !bytes.Equal(data, before) {
		t.Error("a mistake changed the data")
	}
	// A longer output stays unchanged after the result.
	check(t, stream.XORKeyStreamAt(data, data[:50], 0))
	if bytes.Equal(data[:50], before[:50]) || !bytes.Equal(data[50:], before[50:]) {
		t.Error("the wrong bytes changed")
	}
}

// TestReaderAtAndWriterAt writes and reads a file through a keystream.
func TestReaderAtAndWriterAt(t *testing.T) {
	key, iv, plaintext := random(32), random(16), random(200_000)
	stream, err := hazmat.NewAESCTR(key, iv)
	check(t, err)
	file, err := os.Create(filepath.Join(t.TempDir(), "file"))
	check(t, err)
	defer file.Close()
	writer, reader := stream.WriterAt(file), stream.ReaderAt(file)
	copied := bytes.Clone(plaintext)
	for _, cut := range []struct{ from, to int }{{100_000, 200_000}, {0, 1}, {1, 65_537}, {65_537, 100_000}, {5, 5}} {
		if n, err := writer.WriteAt(plaintext[cut.from:cut.to], int64(cut.from)); n != cut.to-cut.from || err != nil {
			t.Fatalf("wrote %d bytes: %v", n, err)
		}
	}
	if !bytes.Equal(plaintext, copied) {
		t.Error("WriteAt changed its argument")
	}
	whole, err := os.ReadFile(file.Name())
	check(t, err)
	expected := ctr(t, key, iv, len(plaintext))
	for i := range expected {
		expected[i] ^= plaintext[i]
	}
	if !bytes.Equal(whole, expected) {
		t.Error("the file differs from the standard library")
	}
	found := make([]byte, 1000)
	if n, err := reader.ReadAt(found, 123_456); n != 1000 || err != nil || !bytes.Equal(found, plaintext[123_456:124_456]) {
		t.Errorf("read %d bytes: %v", n, err)
	}
	if n, err := reader.ReadAt(found, 199_999); n != 1 || err != io.EOF || found[0] != plaintext[199_999] {
		t.Errorf("read %d bytes at the end: %v", n, err)
	}
	if all, err := io.ReadAll(io.NewSectionReader(reader, 0, 1<<40)); err != nil || !bytes.Equal(all, plaintext) {
		t.Errorf("read %d bytes: %v", len(all), err)
	}
	for name, err := range map[string]error{
		"ReadAt before the file":   second(reader.ReadAt(found, -1)),
		"WriteAt before the file":  second(writer.WriteAt(found, -1)),
		"WriteAt behind the file":  second(writer.WriteAt(found, 1<<63-10)),
		"a reader of a closed":     closedReader(stream),
		"a reader that lies":       second(stream.ReaderAt(lie{1001}).ReadAt(found, 0)),
		"a reader below zero":      second(stream.ReaderAt(lie{-1}).ReadAt(found, 0)),
		"a writer that lies":       second(stream.WriterAt(lie{1001}).WriteAt(found, 0)),
		"a writer below zero":      second(stream.WriterAt(lie{-1}).WriteAt(found, 0)),
		"a writer of fewer":        second(stream.WriterAt(lie{10}).WriteAt(found, 0)),
		"a reader past the stream": pastTheStream(),
	} {
		if err == nil {
			t.Errorf("%s: expected an error", name)
		}
	}
}

func second(_ int, err error) error { return err }

func closedReader(stream *hazmat.Stream) error {
	file, err := os.Open(os.DevNull)
	if err != nil {
		return nil
	}
	file.Close()
	return second(stream.ReaderAt(file).ReadAt(make([]byte, 10), 0))
}

// pastTheStream reads past ChaCha20's last byte. Those bytes must not be returned as they are.
func pastTheStream() error {
	stream, err := hazmat.NewChaCha20(make([]byte, 32), make([]byte, 12), 0)
	if err != nil {
		return nil
	}
	n, err := stream.ReaderAt(lie{10}).ReadAt(make([]byte, 10), 1<<38)
	if n != 0 {
		return nil
	}
	return err
}

// lie is a reader and writer that returns a count.
type lie struct{ count int }

func (l lie) ReadAt(p []byte, off int64) (int, error)  { return l.count, nil }
func (l lie) WriteAt(p []byte, off int64) (int, error) { return l.count, nil }

func TestPoly1305(t *testing.T) {
	key, message := random(32), random(1000)
	mac, err := hazmat.NewPoly1305(key)
	check(t, err)
	if mac.Size() != 16 {
		t.Error("the size of a tag is", mac.Size())
	}
	mac.Write(message)
	tag := mac.Sum([]byte("dst"))[3:]
	if !bytes.Equal(mac.Sum(nil), tag) {
		t.Error("Sum changed")
	}
	check(t, mac.Verify(tag))
	for _, wrong := range [][]byte{nil, tag[:15], append(bytes.Clone(tag), 0), random(16)} {
		if err := mac.Verify(wrong); !errors.Is(err, sealane.ErrAuthentication) {
			t.Errorf("a wrong tag: %v", err)
		}
	}
	if _, err := mac.Write(message); !errors.Is(err, sealane.ErrMisuse) {
		t.Errorf("Write after Sum: %v", err)
	}
	// The one-time key is the first half of block 0.
	nonce := random(12)
	stream, err := hazmat.NewChaCha20(key, nonce, 0)
	check(t, err)
	oneTime := make([]byte, 32)
	stream.From(0).XORKeyStream(oneTime, oneTime)
	first, err := hazmat.NewPoly1305(oneTime)
	check(t, err)
	other, err := hazmat.NewPoly1305FromChaCha20(key, nonce)
	check(t, err)
	first.Write(message)
	other.Write(message)
	check(t, other.Verify(first.Sum(nil)))
}

// TestPoly1305IsSafeForGoroutines breaks the rule of one goroutine per message. The tag may be any,
// but memory stays intact; the race detector and the address sanitizer check this.
func TestPoly1305IsSafeForGoroutines(t *testing.T) {
	mac, err := hazmat.NewPoly1305(random(32))
	check(t, err)
	var group sync.WaitGroup
	for range 4 {
		group.Add(1)
		go func() {
			defer group.Done()
			for range 100 {
				mac.Write(make([]byte, 33))
			}
			mac.Sum(nil)
		}()
	}
	group.Wait()
}

func TestSpeckBlocks(t *testing.T) {
	for _, algorithm := range []string{"speck32-64", "speck48-96", "speck64-128", "speck96-144", "speck128-256"} {
		var blockBits, keyBits int
		fmt.Sscanf(algorithm, "speck%d-%d", &blockBits, &keyBits)
		for _, order := range []hazmat.ByteOrder{"", hazmat.BigEndian, hazmat.LittleEndian} {
			speck, err := hazmat.NewSpeck(algorithm, random(keyBits/8), order)
			check(t, err)
			size := speck.BlockSize()
			if size != blockBits/8 {
				t.Fatalf("the block of %s has %d bytes", algorithm, size)
			}
			plaintext := random(5 * size)
			dst := make([]byte, len(plaintext))
			check(t, speck.EncryptBlocks(dst, plaintext))
			for at := 0; at < len(plaintext); at += size {
				one := make([]byte, size+1)
				speck.Encrypt(one, plaintext[at:])
				if !bytes.Equal(one[:size], dst[at:at+size]) || one[size] != 0 {
					t.Errorf("%s: one block differs", algorithm)
				}
			}
			check(t, speck.DecryptBlocks(dst, dst))
			if !bytes.Equal(dst, plaintext) {
				t.Errorf("%s: the plaintext changed", algorithm)
			}
			if err := speck.EncryptBlocks(dst, plaintext[1:]); !errors.Is(err, sealane.ErrMisuse) {
				t.Errorf("%s: a part of a block: %v", algorithm, err)
			}
			if err := speck.EncryptBlocks(dst[:size], plaintext); !errors.Is(err, sealane.ErrMisuse) {
				t.Errorf("%s: a short output: %v", algorithm, err)
			}
			panics(t, "short input", func() { speck.Encrypt(dst, plaintext[:size-1]) })
			panics(t, "short output", func() { speck.Decrypt(dst[:size-1], plaintext) })
			panics(t, "overlap", func() { speck.Encrypt(dst[1:], dst) })
		}
	}
	// A standard-library mode over the block cipher is the keystream.
	key, iv := random(32), random(16)
	speck, err := hazmat.NewSpeck("speck128-256", key, hazmat.BigEndian)
	check(t, err)
	stream, err := hazmat.NewSpeckCTR("speck128-256", key, iv, hazmat.BigEndian)
	check(t, err)
	a, b := make([]byte, 1000), make([]byte, 1000)
	cipher.NewCTR(speck, iv).XORKeyStream(a, a)
	stream.From(0).XORKeyStream(b, b)
	if !bytes.Equal(a, b) {
		t.Error("the keystream differs from the mode of the standard library")
	}
}

func TestSpeckPoly1305(t *testing.T) {
	aead, err := hazmat.NewSpeckPoly1305("speck128-256-poly1305", random(32))
	check(t, err)
	message, err := aead.SealMessage(nil, []byte("plaintext"), []byte("aad"))
	check(t, err)
	opened, err := aead.OpenMessage(nil, message, []byte("aad"))
	check(t, err)
	if string(opened) != "plaintext" || aead.NonceSize() != 12 || aead.Overhead() != 16 {
		t.Errorf("opened %q", opened)
	}
	message[20] ^= 1
	if _, err := aead.OpenMessage(nil, message, []byte("aad")); !errors.Is(err, sealane.ErrAuthentication) {
		t.Errorf("a forgery: %v", err)
	}
	block, err := hazmat.NewSpeckPoly1305BlockNonce("speck128-256-poly1305", random(32))
	check(t, err)
	if _, err := block.SealMessage(nil, nil, nil); !errors.Is(err, sealane.ErrMisuse) {
		t.Errorf("a random nonce of a whole block: %v", err)
	}
}

// TestPieces makes every mistake possible with a message in pieces.
func TestPieces(t *testing.T) {
	key, nonce := random(32), random(12)
	encryptor, err := hazmat.NewAEADEncryptor("aes-256-gcm", key, nonce)
	check(t, err)
	data := random(100)
	dst := make([]byte, 100)
	check(t, encryptor.UpdateAAD([]byte("aad")))
	check(t, encryptor.Update(dst, data))
	misuse := func(name string, err error) {
		t.Helper()
		if !errors.Is(err, sealane.ErrMisuse) {
			t.Errorf("%s: %v", name, err)
		}
	}
	misuse("associated data after data", encryptor.UpdateAAD([]byte("aad")))
	tag, err := encryptor.Finalize()
	check(t, err)
	misuse("data after the tag", encryptor.Update(dst, data))
	_, err = encryptor.Finalize()
	misuse("a second tag", err)
	for _, wrong := range []bool{false, true} {
		decryptor, err := hazmat.NewAEADDecryptor("aes-256-gcm", key, nonce)
		check(t, err)
		check(t, decryptor.UpdateAAD([]byte("aad")))
		misuse("a short output", decryptor.Update(dst[:50], dst[:60]))
		misuse("an overlap", decryptor.Update(dst[1:], dst[:99]))
		check(t, decryptor.Update(make([]byte, 100), dst))
		forgery := bytes.Clone(tag)
		if wrong {
			forgery[0] ^= 1
			if err := decryptor.Verify(forgery); !errors.Is(err, sealane.ErrAuthentication) {
				t.Errorf("a forgery: %v", err)
			}
		} else {
			check(t, decryptor.Verify(forgery))
		}
	}
}

// TestKeystreamsDoNotAllocate counts the allocations of the hot calls.
func TestKeystreamsDoNotAllocate(t *testing.T) {
	stream, err := hazmat.NewAESCTR(random(16), random(16))
	check(t, err)
	data, iv := random(64), random(16)
	allocations := testing.AllocsPerRun(100, func() {
		stream.XORKeyStreamAt(data, data, 5)
		stream.XORKeyStreamUnder(data, data, iv, 5)
	})
	if allocations != 0 {
		t.Errorf("the calls allocate %v times", allocations)
	}
}
