"""Key files and RSA-OAEP: the program openssl and sealane read each other."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import sealane
from programs import refused, run
from support import pattern

PASSPHRASE = "correct hörse battery staple"
GENERATE = {
    "rsa-2048": ("-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048"),
    "rsa-3072": ("-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:3072"),
    "rsa-4096": ("-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:4096"),
    "p-256": ("-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256"),
    "secp256k1": ("-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:secp256k1"),
    "x25519": ("-algorithm", "X25519"),
}
CURVES = {"p-256": "prime256v1", "secp256k1": "secp256k1"}
# Options of openssl for an encrypted PKCS#8 file; the first is its default.
ENCRYPTIONS = {
    "default": (),
    "aes-128-cbc": ("-v2", "aes-128-cbc"),
    "aes-192-cbc": ("-v2", "aes-192-cbc"),
    "hmac-sha1": ("-v2", "aes-256-cbc", "-v2prf", "hmacWithSHA1"),
    "hmac-sha512": ("-v2", "aes-256-cbc", "-v2prf", "hmacWithSHA512"),
    "many rounds": ("-v2", "aes-256-cbc", "-iter", "600000"),
    "scrypt": ("-scrypt",),
}


def text_of(public: sealane.keys.PublicKey, folder: Path) -> str:
    """Returns the key as the text of a file."""
    path = folder / "public.pem"
    public.save(path, overwrite=True)
    return path.read_text()


def public_of(path: Path, *options: str) -> str:
    return run("openssl", "pkey", "-in", path, "-pubout", *options).decode()


# claim: tested-interop
@pytest.mark.parametrize("kind", GENERATE)
def test_openssl_reads_our_keys(tmp_path: Path, kind: str) -> None:
    key = sealane.keys.generate(kind)
    assert key.public is not None
    path, public = tmp_path / "key.pem", text_of(key.public, tmp_path)
    key.save(path)
    assert public_of(path) == public
    run("openssl", "pkey", "-in", path, "-check", "-noout")
    run("openssl", "pkey", "-pubin", "-pubcheck", "-noout", stdin=public.encode())

    key.save(path, PASSPHRASE, overwrite=True)
    assert path.read_text().startswith("-----BEGIN ENCRYPTED PRIVATE KEY-----")
    assert public_of(path, "-passin", f"pass:{PASSPHRASE}") == public
    refused("openssl", "pkey", "-in", path, "-noout", "-passin", "pass:another")


# claim: tested-interop
@pytest.mark.parametrize("kind", GENERATE)
def test_reads_keys_of_openssl(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "key.pem"
    run("openssl", "genpkey", *GENERATE[kind], "-out", path)
    key, public = sealane.keys.load(path), public_of(path)
    assert key.kind == kind
    assert key.public == sealane.keys.PublicKey(public)
    assert text_of(key.public, tmp_path) == public
    # For openssl, our file has the same key as its own.
    key.save(tmp_path / "again.pem")
    again = run("openssl", "pkey", "-in", tmp_path / "again.pem", "-outform", "DER")
    assert again == run("openssl", "pkey", "-in", path, "-outform", "DER")


@pytest.mark.parametrize("encryption", ENCRYPTIONS)
@pytest.mark.parametrize("kind", ["rsa-2048", "p-256", "secp256k1", "x25519"])
def test_reads_encrypted_keys_of_openssl(tmp_path: Path, kind: str, encryption: str) -> None:
    plain, path = tmp_path / "plain.pem", tmp_path / "key.pem"
    run("openssl", "genpkey", *GENERATE[kind], "-out", plain)
    options = ("-topk8", "-passout", f"pass:{PASSPHRASE}", *ENCRYPTIONS[encryption])
    run("openssl", "pkcs8", "-in", plain, *options, "-out", path)
    key = sealane.keys.load(path, PASSPHRASE)
    assert key.public == sealane.keys.PublicKey(public_of(plain))
    with pytest.raises(sealane.NoMatchingKeyError):
        sealane.keys.load(path, "another")
    with pytest.raises((ValueError, sealane.SealaneError), match="passphrase"):
        sealane.keys.load(path)


def test_reads_pkcs1_files(tmp_path: Path) -> None:
    """PKCS#1 has the labels BEGIN RSA PRIVATE KEY and BEGIN RSA PUBLIC KEY."""
    run("openssl", "genrsa", "-traditional", "-out", tmp_path / "old.pem", "2048")
    assert (tmp_path / "old.pem").read_text().startswith("-----BEGIN RSA PRIVATE KEY-----")
    key = sealane.keys.load(tmp_path / "old.pem")
    assert key.public == sealane.keys.PublicKey(public_of(tmp_path / "old.pem"))
    run("openssl", "rsa", "-in", tmp_path / "old.pem", "-RSAPublicKey_out", "-out", tmp_path / "old.pub")
    assert sealane.keys.PublicKey.load(tmp_path / "old.pub") == key.public


@pytest.mark.parametrize("kind", CURVES)
def test_reads_sec1_files(tmp_path: Path, kind: str) -> None:
    """SEC 1 has the labels BEGIN EC PARAMETERS and BEGIN EC PRIVATE KEY. The public key is optional."""
    run("openssl", "ecparam", "-name", CURVES[kind], "-genkey", "-out", tmp_path / "old.pem")
    assert "-----BEGIN EC PRIVATE KEY-----" in (tmp_path / "old.pem").read_text()
    key = sealane.keys.load(tmp_path / "old.pem")
    assert key.kind == kind
    assert key.public == sealane.keys.PublicKey(public_of(tmp_path / "old.pem"))
    for options in (("-no_public",), ("-conv_form", "compressed")):
        run("openssl", "ec", "-in", tmp_path / "old.pem", *options, "-out", tmp_path / "other.pem")
        assert sealane.keys.load(tmp_path / "other.pem").public == key.public
    compressed = public_of(tmp_path / "old.pem", "-ec_conv_form", "compressed")
    assert sealane.keys.PublicKey(compressed) == key.public


def test_names_unsupported_encryption_and_keys(tmp_path: Path) -> None:
    """The error names the obsolete encryption or the unsupported kind of key."""
    run(
        "openssl",
        "genrsa",
        "-traditional",
        "-aes128",
        "-passout",
        "pass:x",
        "-out",
        tmp_path / "old.pem",
        "2048",
    )
    with pytest.raises(sealane.FormatError, match="openssl pkcs8"):
        sealane.keys.load(tmp_path / "old.pem", "x")
    for name, options in (
        ("p-384", ("-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-384")),
        ("ed25519", ("-algorithm", "ED25519")),
    ):
        run("openssl", "genpkey", *options, "-out", tmp_path / name)
        with pytest.raises(sealane.FormatError):
            sealane.keys.load(tmp_path / name)
        with pytest.raises(sealane.FormatError):
            sealane.keys.PublicKey(public_of(tmp_path / name))
    run("openssl", "genrsa", "-out", tmp_path / "short.pem", "1024")
    with pytest.raises((ValueError, sealane.SealaneError)):
        sealane.keys.load(tmp_path / "short.pem")


OAEP = (
    "-pkeyopt",
    "rsa_padding_mode:oaep",
    "-pkeyopt",
    "rsa_oaep_md:sha256",
    "-pkeyopt",
    "rsa_mgf1_md:sha256",
)


@pytest.mark.parametrize("kind", ["rsa-2048", "rsa-3072", "rsa-4096"])
def test_oaep(tmp_path: Path, kind: str) -> None:
    """`openssl pkeyutl` unwraps the key of a message, and sealane unwraps a key that it wrapped."""
    modulus = int(kind[4:]) // 8
    key = sealane.keys.generate(kind)
    assert key.public is not None
    path, public = tmp_path / "key.pem", tmp_path / "public.pem"
    key.save(path)
    key.public.save(public)
    data = pattern(1000)
    blob = sealane.hybrid.seal(key.public, data, b"aad")
    assert len(blob) == modulus + 12 + len(data) + 16
    secret = run("openssl", "pkeyutl", "-decrypt", "-inkey", path, *OAEP, stdin=blob[:modulus])
    assert len(secret) == 32
    nonce, ciphertext = blob[modulus : modulus + 12], blob[modulus + 12 :]
    assert sealane.Aead("aes-256-gcm", secret).decrypt(nonce, ciphertext, b"aad") == data

    secret = pattern(32)
    wrapped = run("openssl", "pkeyutl", "-encrypt", "-pubin", "-inkey", public, *OAEP, stdin=secret)
    sealed = sealane.Aead("aes-256-gcm", secret).seal(data, b"aad")
    assert sealane.hybrid.open(key, wrapped + sealed, b"aad") == data


def test_oaep_with_sha1(tmp_path: Path) -> None:
    """SHA-1 is the default of openssl."""
    run("openssl", "genpkey", *GENERATE["rsa-2048"], "-out", tmp_path / "key.pem")
    (tmp_path / "public.pem").write_text(public_of(tmp_path / "key.pem"))
    options = ("-pkeyopt", "rsa_padding_mode:oaep")
    secret = pattern(32)
    wrapped = run(
        *("openssl", "pkeyutl", "-encrypt", "-pubin", "-inkey"),
        tmp_path / "public.pem",
        *options,
        stdin=secret,
    )
    sealed = sealane.Aead("aes-256-gcm", secret).seal(b"message")
    nonce, ciphertext, tag = sealed[:12], sealed[12:-16], sealed[-16:]
    key = sealane.keys.load(tmp_path / "key.pem")
    assert sealane.hybrid.rsa_open_parts(key, wrapped, ciphertext, nonce, tag) == b"message"
    with pytest.raises(sealane.AuthenticationError):
        sealane.hybrid.rsa_open_parts(key, wrapped, ciphertext, nonce, tag, oaep="sha256")


def test_errors_contain_no_secret(tmp_path: Path) -> None:
    for kind in GENERATE:
        key = sealane.keys.generate(kind)
        body = re.sub(r"-----[^-]*-----|\s", "", key.to_text())
        for shown in (repr(key), str(key), repr(key.public)):
            assert not any(
                body[at : at + 12] in shown for at in range(40, len(body) - 12, 12) if "rsa" not in kind
            )
            assert "PRIVATE" not in shown
