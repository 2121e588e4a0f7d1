package sealane_test

import (
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.invalid/sealane/go"
)

// TestKeys generates, saves, loads and prints a key of each kind.
func TestKeys(t *testing.T) {
	for kind, public := range map[string]string{
		"aes-128": "", "aes-256": "", "age": "age1", "age-pq": "age1pq1", "rsa-2048": "-----BEGIN PUBLIC KEY-----",
		"secp256k1": "-----BEGIN PUBLIC KEY-----", "x25519": "-----BEGIN PUBLIC KEY-----", "p-256": "-----BEGIN PUBLIC KEY-----",
		"x-wing": "",
	} {
		key := must(sealane.GenerateKey(kind))(t)
		if found := must(key.Kind())(t); found != kind {
			t.Errorf("the kind of a key %q is %q", kind, found)
		}
		text := must(key.PublicKey())(t)
		if !strings.HasPrefix(text, public) || strings.HasPrefix(kind, "aes") != (text == "") {
			t.Errorf("the public key of %s is %q", kind, text)
		}
		path := filepath.Join(t.TempDir(), "key")
		check(t, key.Save(path, nil))
		wants(t, key.Save(path, nil), fs.ErrExist)
		check(t, key.Save(path, &sealane.SaveOptions{Replace: true}))
		if mode := must(os.Stat(path))(t).Mode().Perm(); mode != 0o600 {
			t.Errorf("the mode of the key file is %v", mode)
		}
		loaded := must(sealane.LoadSecretKey(path, ""))(t)
		plain := must(key.Encode(""))(t)
		if again := must(loaded.Encode(""))(t); again != plain {
			t.Errorf("a key %s changed in its file", kind)
		}
		parsed := must(sealane.ParseSecretKey(plain, ""))(t)
		if again := must(parsed.PublicKey())(t); again != text {
			t.Errorf("a key %s changed in its text", kind)
		}
		if strings.HasPrefix(kind, "aes") {
			raw := must(key.Bytes())(t)
			copied := must(sealane.NewSecretKey(raw))(t)
			equal(t, must(copied.Bytes())(t), raw)
		} else {
			_, err := key.Bytes()
			wants(t, err, sealane.ErrMisuse)
		}
		check(t, key.Close())
		wants(t, key.Close(), fs.ErrClosed)
		_, err := key.Encode("")
		wants(t, err, fs.ErrClosed)
	}
}

// TestKnownKeys replaces an encrypted key with a plain one, as who may write to the folder can.
func TestKnownKeys(t *testing.T) {
	folder := t.TempDir()
	t.Setenv("SEALANE_KNOWN_KEYS", filepath.Join(folder, "known", "keys"))
	path, other := filepath.Join(folder, "key"), filepath.Join(folder, "other")
	key, plain := must(sealane.GenerateKey("aes-256"))(t), must(sealane.GenerateKey("aes-256"))(t)
	check(t, key.Save(path, &sealane.SaveOptions{Passphrase: "correct horse"}))
	check(t, plain.Save(other, nil))
	check(t, os.Rename(other, path))
	_, err := sealane.LoadSecretKey(path, "")
	wants(t, err, sealane.ErrAuthentication)
	_, err = sealane.LoadSecretKey(path, "correct horse")
	wants(t, err, sealane.ErrMisuse)
	// A key that this user saves takes the place of the known one.
	check(t, plain.Save(path, &sealane.SaveOptions{Replace: true}))
	loaded := must(sealane.LoadSecretKey(path, ""))(t)
	equal(t, must(loaded.Bytes())(t), must(plain.Bytes())(t))
	// The first use of an encrypted key is remembered, too.
	check(t, os.RemoveAll(filepath.Join(folder, "known")))
	check(t, key.Save(path, &sealane.SaveOptions{Passphrase: "correct horse", Replace: true}))
	check(t, os.RemoveAll(filepath.Join(folder, "known")))
	must(sealane.LoadSecretKey(path, "correct horse"))(t)
	check(t, plain.Save(other, nil))
	check(t, os.Rename(other, path))
	_, err = sealane.LoadSecretKey(path, "")
	wants(t, err, sealane.ErrAuthentication)
}

func TestKeysWithPassphrases(t *testing.T) {
	key := must(sealane.GenerateKey("p-256"))(t)
	text := must(key.Encode("correct horse"))(t)
	if !strings.Contains(text, "ENCRYPTED") {
		t.Errorf("the encrypted text is %.40q", text)
	}
	loaded := must(sealane.ParseSecretKey(text, "correct horse"))(t)
	if must(loaded.PublicKey())(t) != must(key.PublicKey())(t) {
		t.Error("the key changed")
	}
	_, err := sealane.ParseSecretKey(text, "wrong")
	wants(t, err, sealane.ErrNoMatchingKey)
	_, err = sealane.ParseSecretKey(text, "")
	wants(t, err, sealane.ErrMisuse)
	path := filepath.Join(t.TempDir(), "key")
	check(t, key.Save(path, &sealane.SaveOptions{Passphrase: "correct horse"}))
	_, err = sealane.LoadSecretKey(path, "wrong")
	wants(t, err, sealane.ErrNoMatchingKey)
	must(sealane.LoadSecretKey(path, "correct horse"))(t)
}

func TestMisuseOfKeys(t *testing.T) {
	aes, closed := must(sealane.GenerateKey("aes-256"))(t), must(sealane.GenerateKey("aes-256"))(t)
	check(t, closed.Close())
	identity := must(sealane.GenerateKey("age"))(t)
	for name, call := range map[string]struct {
		err, kind error
	}{
		"kind":                 {second(sealane.GenerateKey("des")), sealane.ErrMisuse},
		"kind with zero byte":  {second(sealane.GenerateKey("aes\x00")), sealane.ErrMisuse},
		"text":                 {second(sealane.ParseSecretKey("no key", "")), sealane.ErrFormat},
		"empty text":           {second(sealane.ParseSecretKey("", "")), sealane.ErrFormat},
		"identity as AEAD":     {second(sealane.NewAEADWithSecretKey("aes-256-gcm", identity)), sealane.ErrMisuse},
		"AEAD of a closed key": {second(sealane.NewAEADWithSecretKey("aes-256-gcm", closed)), fs.ErrClosed},
		"file of a closed key": {second(sealane.EncryptWithSecretKey(closed, nil)), fs.ErrClosed},
		"format":               {second(sealane.EncryptWithKey(random(32), &sealane.KeyOptions{Format: "zip"})), sealane.ErrMisuse},
		"key of 31 bytes":      {second(sealane.EncryptWithKey(random(31), nil)), sealane.ErrMisuse},
		"no recipients":        {second(sealane.EncryptWithRecipients(nil, nil)), sealane.ErrFormat},
		"a wrong recipient":    {second(sealane.EncryptWithRecipients([]string{"age1qqqq"}, nil)), sealane.ErrFormat},
		"a wrong identity":     {second(sealane.DecryptWithIdentities("AGE-SECRET-KEY-1")), sealane.ErrFormat},
		"a wrong keyset":       {second(sealane.DecryptWithKeyset("{}", nil)), sealane.ErrFormat},
		"identity, options":    {second(sealane.DecryptWithSecretKey(identity, &sealane.KeyOptions{Context: []byte("c")})), sealane.ErrMisuse},
		"passphrase with zero": {second(sealane.EncryptWithPassphrase("a\x00", nil)), sealane.ErrMisuse},
		"hybrid, symmetric":    {second(sealane.HybridOpen(aes, random(100), nil, nil)), sealane.ErrMisuse},
		"hybrid, public key":   {second(sealane.HybridSeal("no key", nil, nil, nil)), sealane.ErrFormat},
		"negative length":      {second(sealane.DeriveKey([]byte("p"), random(16), 1, 64, 1, -1)), sealane.ErrMisuse},
		"short salt":           {second(sealane.DeriveKey([]byte("p"), random(7), 1, 64, 1, 32)), sealane.ErrMisuse},
	} {
		if !errors.Is(call.err, call.kind) {
			t.Errorf("%s: found %v, expected %v", name, call.err, call.kind)
		}
	}
	// A wrong passphrase and too much work.
	with := must(sealane.EncryptWithPassphrase("right", &sealane.AgeOptions{WorkFactor: 10}))(t)
	file := must(sealane.EncryptBytes([]byte("text"), with))(t)
	_, err := sealane.DecryptBytes(file, must(sealane.DecryptWithPassphrase("wrong", 0))(t))
	wants(t, err, sealane.ErrNoMatchingKey)
	_, err = sealane.DecryptBytes(file, must(sealane.DecryptWithPassphrase("right", 9))(t))
	wants(t, err, sealane.ErrLimitExceeded)
	equal(t, must(sealane.DecryptBytes(file, must(sealane.DecryptWithPassphrase("right", 10))(t)))(t), []byte("text"))
}

func TestHybrid(t *testing.T) {
	for _, kind := range []string{"x25519", "p-256", "x-wing", "rsa-2048", "secp256k1"} {
		key := must(sealane.GenerateKey(kind))(t)
		public := must(key.PublicKey())(t)
		var aad []byte
		var options *sealane.HybridOptions
		if kind == "x25519" || kind == "p-256" || kind == "x-wing" {
			aad, options = []byte("aad"), &sealane.HybridOptions{Info: []byte("orders"), Suite: "chacha20-poly1305"}
		}
		message := must(sealane.HybridSeal(public, []byte("plaintext"), aad, options))(t)
		equal(t, must(sealane.HybridOpen(key, message, aad, options))(t), []byte("plaintext"))
		message[len(message)-1] ^= 1
		_, err := sealane.HybridOpen(key, message, aad, options)
		wants(t, err, sealane.ErrAuthentication)
	}
}

// TestDeriveKey compares with a key of the reference implementation of Argon2: Argon2id, t = 2, m =
// 2^16 KiB, p = 1.
func TestDeriveKey(t *testing.T) {
	key := must(sealane.DeriveKey([]byte("password"), []byte("somesalt"), 2, 65536, 1, 32))(t)
	equal(t, key, must(hex.DecodeString("09316115d5cf24ed5a15a31a3ba326e5cf32edc24702987c02b6566f61913cf7"))(t))
}
