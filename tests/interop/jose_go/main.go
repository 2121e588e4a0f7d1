// Command jose_go responds to requests with go-jose: one line of JSON for each line of JSON on
// standard input.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"

	"github.com/go-jose/go-jose/v4"
)

// request is a call. Key is a JSON Web Key.
type request struct {
	Call    string
	Alg     jose.KeyAlgorithm
	Enc     jose.ContentEncryption
	Key     jose.JSONWebKey
	Token   string
	Data    []byte
	Compact bool
}

type response struct {
	Data  []byte
	Token string
	Error string
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
	switch asked.Call {
	case "encrypt":
		recipient := jose.Recipient{Algorithm: asked.Alg, Key: asked.Key}
		encrypter, err := jose.NewEncrypter(asked.Enc, recipient, nil)
		if err != nil {
			return response{}, err
		}
		token, err := encrypter.Encrypt(asked.Data)
		if err != nil {
			return response{}, err
		}
		if !asked.Compact {
			return response{Token: token.FullSerialize()}, nil
		}
		text, err := token.CompactSerialize()
		return response{Token: text}, err
	case "decrypt":
		algs, encs := []jose.KeyAlgorithm{asked.Alg}, []jose.ContentEncryption{asked.Enc}
		token, err := jose.ParseEncrypted(asked.Token, algs, encs)
		if err != nil {
			return response{}, err
		}
		// A token for several recipients has its own call.
		_, _, data, err := token.DecryptMulti(asked.Key)
		return response{Data: data}, err
	}
	return response{}, fmt.Errorf("no call %q", asked.Call)
}
