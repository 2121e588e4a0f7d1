// Command tink_go responds to requests with Tink in Go: one line of JSON for each line of JSON on
// standard input.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"

	"github.com/tink-crypto/tink-go/v2/aead"
	"github.com/tink-crypto/tink-go/v2/daead"
	"github.com/tink-crypto/tink-go/v2/insecurecleartextkeyset"
	"github.com/tink-crypto/tink-go/v2/keyset"
	tinkpb "github.com/tink-crypto/tink-go/v2/proto/tink_go_proto"
	"github.com/tink-crypto/tink-go/v2/streamingaead"
)

// request is a call. Keyset is cleartext JSON, or Binary is the binary format.
type request struct {
	Call     string
	Template string
	Keyset   string
	Binary   []byte
	Data     []byte
	AAD      []byte
}

type response struct {
	Data   []byte
	Binary []byte
	Keyset string
	Error  string
}

var templates = map[string]func() *tinkpb.KeyTemplate{
	"AES128_GCM":             aead.AES128GCMKeyTemplate,
	"AES256_GCM":             aead.AES256GCMKeyTemplate,
	"AES256_GCM_RAW":         aead.AES256GCMNoPrefixKeyTemplate,
	"AES128_GCM_SIV":         aead.AES128GCMSIVKeyTemplate,
	"AES256_GCM_SIV":         aead.AES256GCMSIVKeyTemplate,
	"CHACHA20_POLY1305":      aead.ChaCha20Poly1305KeyTemplate,
	"XCHACHA20_POLY1305":     aead.XChaCha20Poly1305KeyTemplate,
	"XAES_256_GCM":           aead.XAES256GCM192BitNonceKeyTemplate,
	"XAES_256_GCM_RAW":       aead.XAES256GCM192BitNonceNoPrefixKeyTemplate,
	"XAES_256_GCM_160":       aead.XAES256GCM160BitNonceKeyTemplate,
	"AES256_SIV":             daead.AESSIVKeyTemplate,
	"AES128_GCM_HKDF_4KB":    streamingaead.AES128GCMHKDF4KBKeyTemplate,
	"AES128_GCM_HKDF_1MB":    streamingaead.AES128GCMHKDF1MBKeyTemplate,
	"AES256_GCM_HKDF_4KB":    streamingaead.AES256GCMHKDF4KBKeyTemplate,
	"AES256_GCM_HKDF_1MB":    streamingaead.AES256GCMHKDF1MBKeyTemplate,
	"AES256_CTR_HMAC_SHA256": aead.AES256CTRHMACSHA256KeyTemplate,
}

func main() {
	lines := bufio.NewReader(os.Stdin)
	responses := json.NewEncoder(os.Stdout)
	for {
		line, err := lines.ReadBytes('\n')
		if err == io.EOF {
			return
		}
		var asked request
		if err == nil {
			err = json.Unmarshal(line, &asked)
		}
		var found response
		if err == nil {
			found, err = respond(asked)
		}
		if err != nil {
			found = response{Error: err.Error()}
		}
		if err := responses.Encode(found); err != nil {
			panic(err)
		}
	}
}

func respond(asked request) (response, error) {
	if asked.Call == "generate" {
		template, known := templates[asked.Template]
		if !known {
			return response{}, fmt.Errorf("no template %q", asked.Template)
		}
		handle, err := keyset.NewHandle(template())
		if err != nil {
			return response{}, err
		}
		return written(handle)
	}
	var reader keyset.Reader = keyset.NewJSONReader(bytes.NewReader([]byte(asked.Keyset)))
	if asked.Binary != nil {
		reader = keyset.NewBinaryReader(bytes.NewReader(asked.Binary))
	}
	handle, err := insecurecleartextkeyset.Read(reader)
	if err != nil {
		return response{}, err
	}
	if asked.Call == "rewrite" {
		return written(handle)
	}
	data, err := result(handle, asked)
	return response{Data: data}, err
}

func written(handle *keyset.Handle) (response, error) {
	var text, binary bytes.Buffer
	if err := insecurecleartextkeyset.Write(handle, keyset.NewJSONWriter(&text)); err != nil {
		return response{}, err
	}
	err := insecurecleartextkeyset.Write(handle, keyset.NewBinaryWriter(&binary))
	return response{Keyset: text.String(), Binary: binary.Bytes()}, err
}

func result(handle *keyset.Handle, asked request) ([]byte, error) {
	switch asked.Call {
	case "seal", "open":
		primitive, err := aead.New(handle)
		if err != nil {
			return nil, err
		}
		if asked.Call == "seal" {
			return primitive.Encrypt(asked.Data, asked.AAD)
		}
		return primitive.Decrypt(asked.Data, asked.AAD)
	case "daead-encrypt", "daead-decrypt":
		primitive, err := daead.New(handle)
		if err != nil {
			return nil, err
		}
		if asked.Call == "daead-encrypt" {
			return primitive.EncryptDeterministically(asked.Data, asked.AAD)
		}
		return primitive.DecryptDeterministically(asked.Data, asked.AAD)
	case "write", "read":
		primitive, err := streamingaead.New(handle)
		if err != nil {
			return nil, err
		}
		if asked.Call == "read" {
			reader, err := primitive.NewDecryptingReader(bytes.NewReader(asked.Data), asked.AAD)
			if err != nil {
				return nil, err
			}
			return io.ReadAll(reader)
		}
		var out bytes.Buffer
		writer, err := primitive.NewEncryptingWriter(&out, asked.AAD)
		if err != nil {
			return nil, err
		}
		if _, err := writer.Write(asked.Data); err != nil {
			return nil, err
		}
		err = writer.Close()
		return out.Bytes(), err
	}
	return nil, fmt.Errorf("no call %q", asked.Call)
}
