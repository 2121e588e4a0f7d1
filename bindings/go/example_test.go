package sealane_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"path/filepath"

	"example.invalid/sealane/go"
)

func ExampleAEAD_SealMessage() {
	key := make([]byte, 32) // In a program: rand.Read(key).
	aead, err := sealane.NewAEAD("aes-256-gcm", key)
	if err != nil {
		log.Fatal(err)
	}
	message, err := aead.SealMessage(nil, []byte("hello"), []byte("header"))
	if err != nil {
		log.Fatal(err)
	}
	plaintext, err := aead.OpenMessage(nil, message, []byte("header"))
	fmt.Printf("%d bytes: %s, %v\n", len(message), plaintext, err)

	_, err = aead.OpenMessage(nil, message, []byte("another header"))
	fmt.Println(errors.Is(err, sealane.ErrAuthentication))
	// Output:
	// 33 bytes: hello, <nil>
	// true
}

// A key is a cipher.AEAD, so it works wherever the standard library's do.
func ExampleAEAD_Seal() {
	aead, err := sealane.NewAEAD("chacha20-poly1305", make([]byte, 32))
	if err != nil {
		log.Fatal(err)
	}
	nonce := make([]byte, aead.NonceSize()) // Never use a nonce twice with one key.
	buffer := []byte("in place")
	buffer = aead.Seal(buffer[:0], nonce, buffer, nil)
	fmt.Printf("%x\n", buffer)
	buffer, err = aead.Open(buffer[:0], nonce, buffer, nil)
	fmt.Printf("%s, %v\n", buffer, err)
	// Output:
	// f669c7ce39305b1f7cc253ca617ac026ddd39cfca6e522c5
	// in place, <nil>
}

func ExampleOpen() {
	folder, err := os.MkdirTemp("", "example")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(folder)
	path := filepath.Join(folder, "log.sealed")

	key := make([]byte, 32) // In a program: rand.Read(key).
	encrypt, err := sealane.EncryptWithKey(key, nil)
	if err != nil {
		log.Fatal(err)
	}
	file, err := sealane.Create(path, encrypt)
	if err != nil {
		log.Fatal(err)
	}
	defer file.Abort()
	for i := range 100_000 {
		fmt.Fprintf(file, "line %5d\n", i)
	}
	if err := file.Close(); err != nil {
		log.Fatal(err)
	}

	decrypt, err := sealane.DecryptWithKey(key, nil)
	if err != nil {
		log.Fatal(err)
	}
	reader, err := sealane.Open(path, decrypt)
	if err != nil {
		log.Fatal(err)
	}
	defer reader.Close()
	line := make([]byte, 10)
	_, err = reader.ReadAt(line, 77_777*11)
	fmt.Printf("%s of %d bytes, %v\n", line, reader.Size(), err)
	// Output: line 77777 of 1100000 bytes, <nil>
}

func ExampleEncrypt() {
	identity, err := sealane.GenerateKey("age")
	if err != nil {
		log.Fatal(err)
	}
	recipient, err := identity.PublicKey()
	if err != nil {
		log.Fatal(err)
	}
	encrypt, err := sealane.EncryptWithRecipients([]string{recipient}, &sealane.AgeOptions{Armor: true})
	if err != nil {
		log.Fatal(err)
	}
	var mail bytes.Buffer
	writer, err := sealane.Encrypt(&mail, encrypt)
	if err != nil {
		log.Fatal(err)
	}
	io.WriteString(writer, "attack at dawn")
	if err := writer.Close(); err != nil {
		log.Fatal(err)
	}
	line, _, _ := bytes.Cut(mail.Bytes(), []byte("\n"))
	fmt.Printf("%s\n", line)

	decrypt, err := sealane.DecryptWithSecretKey(identity, nil)
	if err != nil {
		log.Fatal(err)
	}
	reader, err := sealane.Decrypt(&mail, decrypt)
	if err != nil {
		log.Fatal(err)
	}
	plaintext, err := io.ReadAll(reader)
	fmt.Printf("%s, %v\n", plaintext, err)
	// Output:
	// -----BEGIN AGE ENCRYPTED FILE-----
	// attack at dawn, <nil>
}

func ExampleNewReader() {
	key := make([]byte, 32)
	encrypt, err := sealane.EncryptWithKey(key, nil)
	if err != nil {
		log.Fatal(err)
	}
	decrypt, err := sealane.DecryptWithKey(key, nil)
	if err != nil {
		log.Fatal(err)
	}
	object, err := sealane.EncryptBytes(bytes.Repeat([]byte("0123456789"), 100_000), encrypt)
	if err != nil {
		log.Fatal(err)
	}
	// In a program: an io.ReaderAt that asks an object store for ranges.
	reader, err := sealane.NewReader(bytes.NewReader(object), int64(len(object)), decrypt)
	if err != nil {
		log.Fatal(err)
	}
	defer reader.Close()
	part, err := io.ReadAll(io.NewSectionReader(reader, 500_003, 4))
	fmt.Printf("%s, %v\n", part, err)
	// Output: 3456, <nil>
}

func ExampleHybridSeal() {
	key, err := sealane.GenerateKey("x25519")
	if err != nil {
		log.Fatal(err)
	}
	public, err := key.PublicKey()
	if err != nil {
		log.Fatal(err)
	}
	message, err := sealane.HybridSeal(public, []byte("for your eyes only"), nil, nil)
	if err != nil {
		log.Fatal(err)
	}
	plaintext, err := sealane.HybridOpen(key, message, nil, nil)
	fmt.Printf("%s, %v\n", plaintext, err)
	// Output: for your eyes only, <nil>
}
