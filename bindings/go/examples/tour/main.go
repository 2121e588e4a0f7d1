// Command tour seals a message, encrypts a file, reads from its middle, and processes a disk image
// at any offset.
package main

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"path/filepath"

	"example.invalid/sealane/go"
	"example.invalid/sealane/go/aesctrat"
)

func main() {
	if err := run(); err != nil {
		log.Fatal(err)
	}
}

func run() error {
	folder, err := os.MkdirTemp("", "sealane")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)

	// A message, with a random nonce in front of it.
	key := make([]byte, 32)
	rand.Read(key)
	aead, err := sealane.NewAEAD("aes-256-gcm", key)
	if err != nil {
		return err
	}
	message, err := aead.SealMessage(nil, []byte("hello"), []byte("header"))
	if err != nil {
		return err
	}
	plaintext, err := aead.OpenMessage(nil, message, []byte("header"))
	if err != nil {
		return err
	}
	fmt.Printf("%q by %s, %s\n", plaintext, aead.Provider(), aead.Variant())
	message[20] ^= 1
	_, err = aead.OpenMessage(nil, message, []byte("header"))
	fmt.Println("after a change:", errors.Is(err, sealane.ErrAuthentication))

	// A file; part of it is read and verified.
	encrypt, err := sealane.EncryptWithKey(key, nil)
	if err != nil {
		return err
	}
	decrypt, err := sealane.DecryptWithKey(key, nil)
	if err != nil {
		return err
	}
	path := filepath.Join(folder, "log.sealed")
	file, err := sealane.Create(path, encrypt)
	if err != nil {
		return err
	}
	defer file.Abort()
	for i := range 100_000 {
		fmt.Fprintf(file, "line %5d\n", i)
	}
	if err := file.Close(); err != nil {
		return err
	}
	reader, err := sealane.Open(path, decrypt)
	if err != nil {
		return err
	}
	defer reader.Close()
	part, err := io.ReadAll(io.NewSectionReader(reader, 77_777*11, 10))
	if err != nil {
		return err
	}
	fmt.Printf("%q of %d bytes\n", part, reader.Size())

	// A raw keystream at an offset, with the names of aesctrat.
	sector := []byte("sector of a disk")
	aesctrat.NewAesCtr(key).XORKeyStreamAt(sector, sector, make([]byte, aesctrat.BlockSize), 1<<40)
	fmt.Printf("%x\n", sector)
	return nil
}
