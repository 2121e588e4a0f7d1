package sealane_test

import (
	"bufio"
	"bytes"
	"crypto/cipher"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"

	"example.invalid/sealane/go"
	"example.invalid/sealane/go/hazmat"
)

// kinds has a test for each kind of line, and the number of its fields.
var kinds = map[string]struct {
	fields int
	run    func(t testing.TB, field []string)
}{
	"aead":     {7, aeadLine},
	"stream":   {7, streamLine},
	"poly1305": {3, poly1305Line},
	"block":    {5, blockLine},
	"file":     {6, fileLine},
}

// kindOf returns the kind of a line and its fields, or an error for an unknown kind.
func kindOf(line string) (string, []string, error) {
	field := strings.Fields(line)
	kind, known := kinds[field[0]]
	if !known || len(field)-1 != kind.fields {
		return "", nil, fmt.Errorf("a line of the unknown kind %q with %d fields", field[0], len(field)-1)
	}
	return field[0], field[1:], nil
}

// TestVectors runs all published vectors.
func TestVectors(t *testing.T) {
	file := must(os.Open(filepath.Join(root, "vectors/lines.txt")))(t)
	defer file.Close()
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	counts := map[string]int{}
	for number := 1; lines.Scan(); number++ {
		if strings.HasPrefix(lines.Text(), "#") {
			continue
		}
		kind, field, err := kindOf(lines.Text())
		if err != nil {
			t.Fatalf("line %d: %v", number, err)
		}
		counts[kind]++
		kinds[kind].run(t, field)
		if t.Failed() {
			t.Fatalf("line %d: %.200s", number, lines.Text())
		}
	}
	check(t, lines.Err())
	for kind := range kinds {
		t.Logf("%d vectors of the kind %s", counts[kind], kind)
		if counts[kind] == 0 {
			t.Errorf("no vector of the kind %s", kind)
		}
	}
	if _, _, err := kindOf("hash sha256 00"); err == nil {
		t.Error("a line of an unknown kind is accepted")
	}
}

// fromHex returns the bytes of a field. A hyphen means none.
func fromHex(t testing.TB, field string) []byte {
	t.Helper()
	return must(hex.DecodeString(strings.TrimPrefix(field, "-")))(t)
}

// orderOf returns the byte order of a field. A hyphen means none.
func orderOf(field string) hazmat.ByteOrder { return hazmat.ByteOrder(strings.TrimPrefix(field, "-")) }

// messages is the interface of all AEADs in this module.
type messages interface {
	cipher.AEAD
	OpenMessage(dst, message, additionalData []byte) ([]byte, error)
}

// aeadLine tests NAME KEY NONCE AAD PLAINTEXT CIPHERTEXT||TAG RESULT.
func aeadLine(t testing.TB, field []string) {
	name, key, nonce, aad := field[0], fromHex(t, field[1]), fromHex(t, field[2]), fromHex(t, field[3])
	plaintext, sealed := fromHex(t, field[4]), fromHex(t, field[5])
	var aead messages
	var err error
	switch {
	case strings.HasPrefix(name, "speck128"):
		aead, err = hazmat.NewSpeckPoly1305BlockNonce(name, key)
	case strings.HasPrefix(name, "speck"):
		aead, err = hazmat.NewSpeckPoly1305SmallBlock(name, key)
	default:
		aead, err = sealane.NewAEAD(name, key)
	}
	check(t, err)
	switch field[6] {
	case "nonce-length":
		panics(t, func() { aead.Seal(nil, nonce, plaintext, aad) })
		panics(t, func() { aead.Open(nil, nonce, sealed, aad) })
	case "invalid":
		dst := bytes.Repeat([]byte{0xee}, len(sealed))
		_, err := aead.Open(dst[:0], nonce, sealed, aad)
		wants(t, err, sealane.ErrAuthentication)
		equal(t, dst[:max(0, len(sealed)-16)], make([]byte, max(0, len(sealed)-16)))
		_, err = aead.OpenMessage(nil, append(bytes.Clone(nonce), sealed...), aad)
		wants(t, err, sealane.ErrAuthentication)
	case "valid":
		equal(t, aead.Seal(nil, nonce, plaintext, aad), sealed)
		equal(t, must(aead.Open(nil, nonce, sealed, aad))(t), plaintext)
		// In place.
		buffer := append(make([]byte, 0, len(sealed)), plaintext...)
		equal(t, aead.Seal(buffer[:0], nonce, buffer, aad), sealed)
		buffer = buffer[:len(sealed)]
		equal(t, must(aead.Open(buffer[:0], nonce, buffer, aad))(t), plaintext)
		// A whole message, also in place.
		message := append(bytes.Clone(nonce), sealed...)
		equal(t, must(aead.OpenMessage([]byte("dst"), message, aad))(t), append([]byte("dst"), plaintext...))
		opened := must(aead.OpenMessage(message[:len(nonce):len(message)][len(nonce):], message, aad))(t)
		equal(t, opened, plaintext)
		if strings.HasPrefix(name, "speck128") && bytes.Equal(nonce[12:], make([]byte, 4)) {
			short := must(hazmat.NewSpeckPoly1305(name, key))(t)
			equal(t, short.Seal(nil, nonce[:12], plaintext, aad), sealed)
		}
		aeadPieces(t, name, key, nonce, aad, plaintext, sealed)
	default:
		t.Errorf("the result is %q, expected valid, invalid or nonce-length", field[6])
	}
}

// aeadPieces tests the algorithms that process a message in pieces.
func aeadPieces(t testing.TB, name string, key, nonce, aad, plaintext, sealed []byte) {
	in := strings.HasSuffix(name, "-gcm") && !strings.HasPrefix(name, "xaes") || strings.HasSuffix(name, "chacha20-poly1305")
	encryptor, err := hazmat.NewAEADEncryptor(name, key, nonce)
	if !in {
		wants(t, err, sealane.ErrMisuse)
		return
	}
	check(t, err)
	decryptor := must(hazmat.NewAEADDecryptor(name, key, nonce))(t)
	for _, p := range [][]byte{aad[:len(aad)/2], aad[len(aad)/2:]} {
		check(t, encryptor.UpdateAAD(p))
		check(t, decryptor.UpdateAAD(p))
	}
	found := make([]byte, len(plaintext))
	for at := 0; at < len(plaintext); at += 7 {
		end := min(at+7, len(plaintext))
		check(t, encryptor.Update(found[at:end], plaintext[at:end]))
	}
	tag := must(encryptor.Finalize())(t)
	equal(t, append(bytes.Clone(found), tag...), sealed)
	check(t, decryptor.Update(found, found))
	equal(t, found, plaintext)
	check(t, decryptor.Verify(tag))
}

// streamLine tests NAME ORDER KEY IV COUNTER PLAINTEXT CIPHERTEXT.
func streamLine(t testing.TB, field []string) {
	name, key, iv := field[0], fromHex(t, field[2]), fromHex(t, field[3])
	counter := uint32(must(strconv.ParseUint(field[4], 10, 32))(t))
	plaintext, ciphertext := fromHex(t, field[5]), fromHex(t, field[6])
	var stream *hazmat.Stream
	var err error
	switch name {
	case "aes-ctr":
		stream, err = hazmat.NewAESCTR(key, iv)
	case "chacha20":
		stream, err = hazmat.NewChaCha20(key, iv, counter)
	case "xchacha20":
		stream, err = hazmat.NewXChaCha20(key, iv, counter)
	default:
		stream, err = hazmat.NewSpeckCTR(name, key, iv, orderOf(field[1]))
	}
	check(t, err)
	found := make([]byte, len(plaintext))
	for at := range plaintext {
		check(t, stream.XORKeyStreamAt(found[at:], plaintext[at:], uint64(at)))
		equal(t, found[at:], ciphertext[at:])
	}
	stream.From(0).XORKeyStream(found, found)
	equal(t, found, plaintext)
	if name == "aes-ctr" {
		other := must(hazmat.NewAESCTR(key, make([]byte, 16)))(t)
		check(t, other.XORKeyStreamUnder(found, plaintext, iv, 0))
		equal(t, found, ciphertext)
	}
}

// poly1305Line tests KEY MESSAGE TAG.
func poly1305Line(t testing.TB, field []string) {
	key, message, tag := fromHex(t, field[0]), fromHex(t, field[1]), fromHex(t, field[2])
	for cut := 1; cut < 40; cut += 6 {
		mac := must(hazmat.NewPoly1305(key))(t)
		_, err := io.CopyBuffer(struct{ io.Writer }{mac}, struct{ io.Reader }{bytes.NewReader(message)}, make([]byte, cut))
		check(t, err)
		equal(t, mac.Sum(nil), tag)
	}
	mac := must(hazmat.NewPoly1305(key))(t)
	mac.Write(message)
	check(t, mac.Verify(tag))
}

// blockLine tests NAME ORDER KEY PLAINTEXT CIPHERTEXT.
func blockLine(t testing.TB, field []string) {
	plaintext, ciphertext := fromHex(t, field[3]), fromHex(t, field[4])
	speck := must(hazmat.NewSpeck(field[0], fromHex(t, field[2]), orderOf(field[1])))(t)
	found := make([]byte, len(plaintext))
	check(t, speck.EncryptBlocks(found, plaintext))
	equal(t, found, ciphertext)
	check(t, speck.DecryptBlocks(found, found))
	equal(t, found, plaintext)
	one := make([]byte, speck.BlockSize())
	speck.Encrypt(one, plaintext)
	equal(t, one, ciphertext[:len(one)])
	speck.Decrypt(one, one)
	equal(t, one, plaintext[:len(one)])
}

// fileLine tests NAME KEY CONTEXT FILE RESULT LENGTH.
func fileLine(t testing.TB, field []string) {
	options := &sealane.KeyOptions{Format: sealane.Format(field[0]), Context: fromHex(t, field[2])}
	with, err := sealane.DecryptWithKey(fromHex(t, field[1]), options)
	valid := field[4] == "valid"
	if err != nil {
		wants(t, err, sealane.ErrMisuse)
		if valid {
			t.Errorf("a valid file has a key that is refused: %v", err)
		}
		return
	}
	file := fromHex(t, field[3])
	plaintext, err := sealane.DecryptBytes(file, with)
	if !valid {
		if err == nil {
			t.Error("an invalid file is opened")
		}
		// A stream returns the verified chunks before the error.
		stream := must(sealane.Decrypt(bytes.NewReader(file), with))(t)
		if _, err := io.ReadAll(stream); err == nil {
			t.Error("an invalid stream is opened")
		}
		return
	}
	check(t, err)
	if strconv.Itoa(len(plaintext)) != field[5] {
		t.Errorf("found %d bytes, expected %s", len(plaintext), field[5])
	}
	stream := must(sealane.Decrypt(iotest.OneByteReader(bytes.NewReader(file)), with))(t)
	equal(t, must(io.ReadAll(stream))(t), plaintext)
}

// TestGoldenFiles opens the files of other implementations.
func TestGoldenFiles(t *testing.T) {
	opened := 0
	check(t, filepath.WalkDir(filepath.Join(root, "tests/golden"), func(path string, entry os.DirEntry, err error) error {
		check(t, err)
		ending := filepath.Ext(path)
		name := strings.TrimSuffix(filepath.Base(path), ending)
		sibling := func(ending string) string {
			return string(must(os.ReadFile(filepath.Join(filepath.Dir(path), name[:strings.LastIndex(name, "-")]+ending)))(t))
		}
		// The number of bytes is after the last hyphen, before the name of the program that wrote an age
		// file.
		if ending == ".age" || ending == ".asc" {
			name = name[:strings.LastIndex(name, "-")]
		}
		length := name[strings.LastIndex(name, "-")+1:]
		var with *sealane.DecryptWith
		switch {
		case ending == ".sealed":
			key := make([]byte, 32)
			for i := range key {
				key[i] = byte(i)
			}
			if strings.HasPrefix(name, "chunked-128") {
				key = key[:16]
			}
			with, err = sealane.DecryptWithKey(key, &sealane.KeyOptions{Context: []byte("golden")})
		case ending == ".tink":
			with, err = sealane.DecryptWithKeyset(sibling(".json"), []byte("golden"))
		case strings.HasPrefix(name, "passphrase") && ending == ".age":
			with, err = sealane.DecryptWithPassphrase("golden", 0)
		case ending == ".age" || ending == ".asc":
			with, err = sealane.DecryptWithIdentities(sibling(".key"))
		default:
			return nil
		}
		check(t, err)
		opened++
		opens(t, path, must(strconv.Atoi(length))(t), with)
		return nil
	}))
	t.Logf("%d files of other implementations", opened)
	if opened != 8+19+14 {
		t.Errorf("opened %d files, expected 41", opened)
	}
}

// opens opens a file in every fast way. Byte i of its plaintext is i mod 251.
func opens(t testing.TB, path string, length int, with *sealane.DecryptWith) {
	t.Helper()
	expected := make([]byte, length)
	for i := range expected {
		expected[i] = byte(i % 251)
	}
	file := must(os.ReadFile(path))(t)
	equal(t, must(sealane.DecryptBytes(file, with))(t), expected)
	if strings.Contains(path, "passphrase") {
		return // Each further way takes a second.
	}
	check(t, sealane.VerifyFile(path, with, nil))
	reader := must(sealane.Open(path, with))(t)
	if length <= 1000 {
		check(t, iotest.TestReader(reader, expected))
	}
	found := make([]byte, length+1)
	n, err := reader.ReadAt(found, 0)
	if wants(t, err, io.EOF); n != length {
		t.Fatalf("read %d bytes, expected %d", n, length)
	}
	equal(t, found[:n], expected)
	check(t, reader.Close())
	reader = must(sealane.NewReader(bytes.NewReader(file), int64(len(file)), with))(t)
	equal(t, must(io.ReadAll(reader))(t), expected)
	check(t, reader.Close())
	stream := must(sealane.Decrypt(iotest.HalfReader(bytes.NewReader(file)), with))(t)
	equal(t, must(io.ReadAll(stream))(t), expected)
	target := filepath.Join(t.TempDir(), "plaintext")
	check(t, sealane.DecryptFile(path, target, with, nil))
	equal(t, must(os.ReadFile(target))(t), expected)
}
