package hazmat_test

import (
	"fmt"
	"io"
	"log"
	"strings"

	"example.invalid/sealane/go/hazmat"
)

func ExampleStream_ReaderAt() {
	stream, err := hazmat.NewAESCTR(make([]byte, 16), make([]byte, 16))
	if err != nil {
		log.Fatal(err)
	}
	ciphertext := []byte("a disk image of many bytes")
	if err := stream.XORKeyStreamAt(ciphertext, ciphertext, 0); err != nil {
		log.Fatal(err)
	}
	disk := stream.ReaderAt(strings.NewReader(string(ciphertext)))
	sector := make([]byte, 5)
	_, err = disk.ReadAt(sector, 7)
	fmt.Printf("%s, %v\n", sector, err)
	// Output: image, <nil>
}

func ExampleStream_From() {
	stream, err := hazmat.NewChaCha20(make([]byte, 32), make([]byte, 12), 0)
	if err != nil {
		log.Fatal(err)
	}
	keystream := make([]byte, 8)
	stream.From(64).XORKeyStream(keystream, keystream)
	fmt.Printf("%x\n", keystream) // the second block
	// Output: 9f07e7be5551387a
}

func ExamplePoly1305() {
	mac, err := hazmat.NewPoly1305(make([]byte, 32))
	if err != nil {
		log.Fatal(err)
	}
	io.WriteString(mac, "one message for one key")
	fmt.Println(mac.Verify(mac.Sum(nil)))
	// Output: <nil>
}
