package main

import (
	"os"
	"os/exec"
	"path/filepath"

	"example.invalid/sealane/go"
)

// program is the path of the program sealane, or empty.
var program = os.Getenv("SEALANE_PROGRAM")

// filesOnDisk compares EncryptFile and DecryptFile with whole processes of the program. Its folder
// is removed by main.
func filesOnDisk() []row {
	if program == "" {
		return nil
	}
	folder := must(os.MkdirTemp("", "sealane"))
	removeAtEnd = append(removeAtEnd, folder)
	in := func(name string) string { return filepath.Join(folder, name) }
	run := func(args ...string) {
		if out, err := exec.Command(program, args...).CombinedOutput(); err != nil {
			panic(string(out))
		}
	}
	const size = 256 << 20
	succeed(os.WriteFile(in("plaintext"), random(size), 0o600))
	run("keygen", "-o", in("key.jwk"))
	key := must(sealane.LoadSecretKey(in("key.jwk"), ""))
	encrypt, decrypt := must(sealane.EncryptWithSecretKey(key, nil)), must(sealane.DecryptWithSecretKey(key, nil))
	succeed(sealane.EncryptFile(in("plaintext"), in("sealed"), encrypt, nil))
	removed := func(name string) string {
		os.Remove(in(name))
		return in(name)
	}
	return []row{
		{name: "encrypt", bytes: size, implementations: []implementation{
			{"program", func() { run("encrypt", "-k", in("key.jwk"), "-o", removed("by-program"), in("plaintext")) }},
			{"sealane", func() { succeed(sealane.EncryptFile(in("plaintext"), removed("by-go"), encrypt, nil)) }},
		}},
		{name: "decrypt", bytes: size, implementations: []implementation{
			{"program", func() { run("decrypt", "-k", in("key.jwk"), "-o", removed("back-program"), in("sealed")) }},
			{"sealane", func() { succeed(sealane.DecryptFile(in("sealed"), removed("back-go"), decrypt, nil)) }},
		}},
	}
}

// removeAtEnd has the folders that main removes.
var removeAtEnd []string

func succeed(err error) {
	if err != nil {
		panic(err)
	}
}
