package sealane_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"example.invalid/sealane/go"
)

// program runs a program. Without it, the test is not run.
func program(t *testing.T, stdin []byte, name string, arguments ...string) ([]byte, error) {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		t.Skipf("NOT RUN: needs %s", name)
	}
	command := exec.Command(path, arguments...)
	command.Stdin = bytes.NewReader(stdin)
	return command.Output()
}

func TestSignaturesOfSSH(t *testing.T) {
	folder := t.TempDir()
	at := func(name string) string { return filepath.Join(folder, name) }
	must(program(t, nil, "ssh-keygen", "-q", "-t", "ed25519", "-N", "right", "-f", at("key")))(t)
	key, public := must(os.ReadFile(at("key")))(t), must(os.ReadFile(at("key.pub")))(t)
	message := bytes.Repeat([]byte("message"), 100_000)
	options := &sealane.SignOptions{Passphrase: "right"}
	signature := must(sealane.Sign(iotest.HalfReader(bytes.NewReader(message)), key, options))(t)
	allowed := append([]byte("me@example.com "), public...)
	check(t, os.WriteFile(at("allowed"), allowed, 0o600))
	check(t, os.WriteFile(at("sig"), signature, 0o600))
	must(program(t, message, "ssh-keygen", "-Y", "verify", "-f", at("allowed"), "-I", "me@example.com", "-n", "file", "-s", at("sig")))(t)
	found := must(sealane.VerifySignature(bytes.NewReader(message), signature, allowed, nil))(t)
	if found.Signer != "me@example.com" || found.Comment != "" {
		t.Errorf("the signature is %v", found)
	}

	verify := func(message string, signature, signers []byte, options *sealane.VerifySignatureOptions) error {
		_, err := sealane.VerifySignature(strings.NewReader(message), signature, signers, options)
		return err
	}
	git := must(sealane.Sign(strings.NewReader("a"), key, &sealane.SignOptions{Passphrase: "right", Namespace: "git"}))(t)
	check(t, verify("a", git, public, &sealane.VerifySignatureOptions{Namespace: "git"}))
	for words, err := range map[string]error{
		"another namespace": verify("a", git, public, nil),
		"does not match":    verify("b", git, public, &sealane.VerifySignatureOptions{Namespace: "git"}),
		"revoked":           verify("a", git, public, &sealane.VerifySignatureOptions{Namespace: "git", Revoked: public}),
		"expired":           verify(string(message), signature, append([]byte(`me valid-before="20200101" `), public...), nil),
	} {
		wants(t, err, sealane.ErrAuthentication)
		if err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("expected %q, found %v", words, err)
		}
	}
	wants(t, verify("a", []byte("none"), public, nil), sealane.ErrFormat)
	wants(t, verify("a", git, []byte("none"), nil), sealane.ErrFormat)
	for _, options := range []*sealane.SignOptions{nil, {Passphrase: "right", Comment: "text"}, {Passphrase: "right", Namespace: "a\x00"}} {
		_, err := sealane.Sign(strings.NewReader("a"), key, options)
		wants(t, err, sealane.ErrMisuse)
	}
	_, err := sealane.Sign(strings.NewReader("a"), key, &sealane.SignOptions{Passphrase: "wrong"})
	wants(t, err, sealane.ErrNoMatchingKey)
	failing := errors.New("the source failed")
	_, err = sealane.Sign(io.MultiReader(strings.NewReader("a"), iotest.ErrReader(failing)), key, options)
	wants(t, err, failing)
}

func TestSignaturesOfMinisign(t *testing.T) {
	folder := t.TempDir()
	at := func(name string) string { return filepath.Join(folder, name) }
	must(program(t, nil, "minisign", "-G", "-W", "-p", at("pub"), "-s", at("key")))(t)
	key, public := must(os.ReadFile(at("key")))(t), must(os.ReadFile(at("pub")))(t)
	check(t, os.WriteFile(at("data"), []byte("message"), 0o600))
	signature := must(sealane.Sign(strings.NewReader("message"), key, &sealane.SignOptions{Comment: "version 1"}))(t)
	check(t, os.WriteFile(at("data.minisig"), signature, 0o600))
	if shown := must(program(t, nil, "minisign", "-V", "-Q", "-p", at("pub"), "-m", at("data")))(t); string(shown) != "version 1\n" {
		t.Errorf("minisign prints %q", shown)
	}
	must(program(t, nil, "minisign", "-S", "-s", at("key"), "-t", "theirs", "-m", at("data")))(t)
	theirs := must(os.ReadFile(at("data.minisig")))(t)
	if found := must(sealane.VerifySignature(strings.NewReader("message"), theirs, public, nil))(t); found.Comment != "theirs" {
		t.Errorf("the signature is %v", found)
	}
	_, err := sealane.VerifySignature(strings.NewReader("massage"), theirs, public, nil)
	wants(t, err, sealane.ErrAuthentication)
}
