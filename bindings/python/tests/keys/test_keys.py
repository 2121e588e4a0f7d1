"""Tests of `sealane.keys`: key files of all kinds, their permissions, and errors."""

from __future__ import annotations

import base64
import contextlib
import copy
import hashlib
import json
import os
import pickle
import stat
import traceback
from pathlib import Path
from typing import Any

import pytest
import sealane
from cryptography.hazmat.primitives import serialization
from hypothesis import given
from hypothesis import strategies as st
from sealane.keys import KINDS, Key, PublicKey
from support import leftovers

KEYS = {kind: sealane.keys.generate(kind) for kind in KINDS if not kind.startswith("rsa-")}
KEYS["rsa-2048"] = sealane.keys.generate("rsa-2048")
"""A key of each kind; for RSA, the fastest to generate."""
SYMMETRIC = [kind for kind in KEYS if kind.startswith("aes-")]
PAIRS = [kind for kind in KEYS if kind not in SYMMETRIC]
PEM = ["rsa-2048", "p-256", "secp256k1", "x25519"]
"""The kinds that `cryptography` reads too."""
READER = sealane.keys.generate("age")


def public(key: Key) -> PublicKey:
    assert key.public is not None
    return key.public


def same(a: Key, b: Key) -> bool:
    assert (a == b) == ((a.kind, a.to_text()) == (b.kind, b.to_text()))
    return a == b


@pytest.mark.parametrize(("kind", "length"), [("aes-128", 16), ("aes-256", 32)])
def test_symmetric_keys_round_trip(tmp_path: Path, kind: str, length: int) -> None:
    key = sealane.keys.generate(kind)
    assert len(bytes(key)) == length
    assert bytes(key) != bytes(sealane.keys.generate(kind))
    path = tmp_path / "key"
    key.save(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert bytes(sealane.keys.load(str(path))) == bytes(key)
    # JSON Web Keys have the format of RFC 7517.
    jwk = json.loads(path.read_text())
    assert jwk["kty"] == "oct"
    assert base64.urlsafe_b64decode(jwk["k"] + "==") == bytes(key)
    with pytest.raises(FileExistsError) as caught:
        sealane.keys.generate(kind).save(path)
    assert caught.value.filename == str(path)
    assert bytes(sealane.keys.load(path)) == bytes(key)
    assert leftovers(tmp_path, "key") == []


def test_a_key_object_equals_its_bytes() -> None:
    key = sealane.keys.generate("aes-256")
    assert sealane.Aead("aes-256-gcm", key).open(sealane.Aead("aes-256-gcm", bytes(key)).seal(b"x")) == b"x"
    assert sealane.decrypt(sealane.encrypt(b"x", key=key), key=bytes(key)) == b"x"


@pytest.mark.parametrize("text", ["", "{}", "[]", "key", '{"kty":"oct"', '{"kty":"RSA","k":"AAAA"}', "\0\0"])
def test_rejects_other_files(tmp_path: Path, text: str) -> None:
    path = tmp_path / "key"
    path.write_text(text)
    with pytest.raises(sealane.FormatError):
        sealane.keys.load(path)


# claim: key-file-grammar
def test_forms_that_the_standards_allow(tmp_path: Path) -> None:
    path, pem = tmp_path / "key", sealane.keys.generate("p-256").to_text().encode()
    for before in b"\xef\xbb\xbf", "friendlyName: Jörg\n".encode("latin-1"):
        path.write_bytes(before + pem)
        assert sealane.keys.load(path) == sealane.keys.Key.from_text(pem)
    text = json.dumps({"kty": "oct", "k": "GawgguFyGrWKav7AX4VKUg", "kid": "backup \U0001f511"})
    assert sealane.keys.Key.from_text(text).kid == "backup \U0001f511"
    foreign = {"kty": "AKP", "pub": "AAAA", "use": ["sig"]}
    assert sealane.keys.Key.from_text(json.dumps({"keys": [foreign, json.loads(text)]})).kid is not None


def test_errors_name_the_file(tmp_path: Path) -> None:
    eax = "type.googleapis.com/google.crypto.tink.AesEaxKey"
    data = {"typeUrl": eax, "value": "EgIIEBoQAAAAAAAAAAAAAAAAAAAAAA==", "keyMaterialType": "SYMMETRIC"}
    key = {"keyData": data, "status": "ENABLED", "keyId": 7, "outputPrefixType": "TINK"}
    (tmp_path / "ring").write_text(json.dumps({"primaryKeyId": 7, "key": [key]}))
    sealane.keys.generate("p-256").save(tmp_path / "locked", passphrase="right")
    (tmp_path / "cut").write_text("-----BEGIN PRIVATE KEY-----\nMAA=\n")
    (tmp_path / "two.key").write_text('{"keys":[]}')
    cases: list[tuple[str, dict[str, str]]] = [
        ("ring", {}),
        ("locked", {}),
        ("locked", {"passphrase": "wrong"}),
        ("cut", {}),
        ("two.key", {"kid": "x"}),
    ]
    for name, arguments in cases:
        with pytest.raises((sealane.SealaneError, ValueError)) as caught:
            sealane.keys.load(tmp_path / name, **arguments)
        assert str(tmp_path / name) in str(caught.value)


def test_a_key_never_replaces_the_file_of_its_recipient(tmp_path: Path) -> None:
    reader, path = sealane.keys.generate("age"), tmp_path / "reader.pub"
    reader.public.save(path)
    (link := tmp_path / "link").symlink_to(path)
    recipient = sealane.keys.PublicKey.load(path)
    key, ring = sealane.keys.generate("aes-256"), sealane.keys.Keyring.generate("aes-256-gcm")
    for secret in key, ring:
        for target in path, link:
            with pytest.raises(ValueError, match=r"reader\.pub"):
                secret.save(target, recipients=[recipient], overwrite=True)
    assert sealane.keys.PublicKey.load(path) == reader.public
    reader.public.save(path, overwrite=True)
    key.save(tmp_path / "other", recipients=[recipient], overwrite=True)


def test_errors(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="known: aes-128, aes-192, aes-256, aes-256-siv, age"):
        sealane.keys.generate("rot13")
    with pytest.raises(FileNotFoundError):
        sealane.keys.load(tmp_path / "missing")
    with pytest.raises(IsADirectoryError):
        sealane.keys.load(tmp_path)
    with pytest.raises(FileNotFoundError):
        sealane.keys.generate("aes-128").save(tmp_path / "no folder" / "key")
    with pytest.raises(TypeError):
        sealane.keys.Key()


# ---- all kinds -----------------------------------------------------------------------------------


def test_kinds() -> None:
    assert (
        *(
            "aes-128",
            "aes-192",
            "aes-256",
            "aes-256-siv",
            "age",
            "age-pq",
            "rsa-2048",
            "rsa-3072",
            "rsa-4096",
        ),
        *("secp256k1", "x25519", "p-256", "x-wing"),
    ) == KINDS
    for kind, key in KEYS.items():
        assert key.kind == kind
        assert (key.public is None) == (kind in SYMMETRIC)
        assert not same(key, sealane.keys.generate(kind))


@pytest.mark.parametrize("kind", ["rsa-3072", "rsa-4096"])
def test_longer_rsa(kind: str) -> None:
    key = sealane.keys.generate(kind)
    assert (key.kind, public(key).kind) == (kind, kind)
    assert sealane.hybrid.open(key, sealane.hybrid.seal(public(key), b"x")) == b"x"


@pytest.mark.parametrize("kind", KEYS)
def test_files_and_texts(tmp_path: Path, kind: str) -> None:
    key, path = KEYS[kind], tmp_path / "key"
    key.save(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert path.read_text() == key.to_text()
    for again in [
        sealane.keys.load(path),
        sealane.keys.load(str(path)),
        Key.from_text(key.to_text()),
        Key.from_text(bytearray(key.to_text().encode())),
    ]:
        assert same(again, key)
        assert again.public == key.public
    with pytest.raises(FileExistsError) as caught:
        sealane.keys.generate("aes-128").save(path)
    assert caught.value.filename == str(path)
    # The permissions of a replaced file are not kept, so that the key stays private.
    path.chmod(0o644)
    key.save(path, overwrite=True)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert same(sealane.keys.load(path), key)
    assert leftovers(tmp_path, "key") == []


@pytest.mark.parametrize("kind", ["aes-256", "age", *PEM, "x-wing"])
def test_passphrase(tmp_path: Path, kind: str) -> None:
    key, path, words = KEYS[kind], tmp_path / "key", "Grüße"
    key.save(path, words)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    begins = "ENCRYPTED PRIVATE KEY" if kind in PEM or kind == "x-wing" else "AGE ENCRYPTED FILE"
    assert path.read_text().startswith(f"-----BEGIN {begins}-----")
    assert same(sealane.keys.load(path, words.encode()), key)
    assert same(Key.from_text(path.read_text(), passphrase=words), key)
    with pytest.raises(sealane.NoMatchingKeyError, match=r"/key: wrong passphrase$"):
        sealane.keys.load(path, "wrong")
    with pytest.raises(ValueError, match="encrypted with a passphrase"):
        sealane.keys.load(path)
    with pytest.raises(ValueError, match="not encrypted"):
        Key.from_text(key.to_text(), words)
    with pytest.raises(ValueError, match="empty"):
        key.to_text("")
    if kind in PEM:
        theirs: Any = serialization.load_pem_private_key(path.read_bytes(), words.encode())
        plain = theirs.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
        assert same(Key.from_text(plain), key)


@pytest.mark.parametrize("kind", ["aes-128", "age-pq", "p-256"])
def test_recipients(tmp_path: Path, kind: str) -> None:
    key, path = KEYS[kind], tmp_path / "key"
    key.save(path, recipients=[READER.public, str(public(sealane.keys.generate("age")))])
    assert sealane.inspect(path).recipients == ["X25519", "X25519"]
    assert same(sealane.keys.load(path, identities=[READER]), key)
    with pytest.raises(sealane.NoMatchingKeyError):
        sealane.keys.load(path, identities=[sealane.keys.generate("age")])
    with pytest.raises(ValueError, match="an identity is required"):
        sealane.keys.load(path)
    with pytest.raises(ValueError, match="an identity is required"):
        sealane.keys.load(path, "passphrase")
    with pytest.raises(TypeError, match="give passphrase or identities, not both"):
        sealane.keys.load(path, "x", identities=[READER])
    with pytest.raises(TypeError, match="give passphrase or recipients, not both"):
        key.save(tmp_path / "new", "x", recipients=[READER.public])
    with pytest.raises(TypeError, match="must be a list"):
        key.save(tmp_path / "new", recipients=str(READER.public))
    assert leftovers(tmp_path, "key") == []


@pytest.mark.parametrize("kind", PAIRS)
def test_public_keys(tmp_path: Path, kind: str) -> None:
    key, path = public(KEYS[kind]), tmp_path / "public"
    key.save(path)
    again = PublicKey.load(path)
    assert again == key == PublicKey(str(key)) == PublicKey(path.read_text()) == copy.deepcopy(key)
    assert pickle.loads(pickle.dumps(key)) == key
    assert {hash(again), hash(key)} == {hash(key)}
    assert (again.kind, str(again)) == (kind, str(key))
    assert key != public(sealane.keys.generate(kind))
    assert key != str(key)
    assert repr(key) == f"<sealane.keys.PublicKey {kind}>"
    with pytest.raises(FileExistsError):
        key.save(path)
    key.save(path, overwrite=True)
    with pytest.raises(sealane.FormatError):
        PublicKey(KEYS[kind].to_text())
    with pytest.raises(sealane.FormatError):
        Key.from_text(str(key))
    if kind in PEM:
        theirs: Any = serialization.load_pem_public_key(path.read_bytes())
        spki = theirs.public_bytes(
            serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
        )
        assert PublicKey(spki.decode()) == key


@pytest.mark.parametrize("kind", PAIRS)
def test_key_pairs_have_no_bytes(kind: str) -> None:
    with pytest.raises(TypeError, match=f"expected a symmetric key, found a {kind} key"):
        bytes(KEYS[kind])
    with pytest.raises(TypeError, match="symmetric"):
        sealane.Aead("aes-256-gcm", KEYS[kind])


@pytest.mark.parametrize("kind", KEYS)
def test_secrets_are_not_shown_or_pickled(tmp_path: Path, kind: str) -> None:
    key = KEYS[kind]
    assert repr(key) == str(key) == f"<sealane.keys.Key {kind}>"
    for attempt in pickle.dumps, copy.copy, copy.deepcopy:
        with pytest.raises(TypeError, match="never pickled"):
            attempt(key)
    text = key.to_text()
    lines = [line for line in text.split("\n") if line and "PRIVATE KEY" not in line and line[0] != "#"]
    for damaged in text[: len(text) // 2], text.replace(lines[0], lines[0][:-1] + "!"):
        with pytest.raises(sealane.FormatError) as caught:
            Key.from_text(damaged)
        said = "".join(traceback.format_exception_only(caught.value))
        assert not any(line in said for line in lines)
    with pytest.raises(TypeError):
        Key.from_text(7)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"must be str or bytes in UTF-8, not int"):
        key.to_text(7)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="surrogate") as surrogate:
        key.save(tmp_path / "key", "sesame\udc80")
    assert "sesame" not in str(surrogate.value)
    assert surrogate.value.__cause__ is surrogate.value.__context__ is None


# claim: input-no-crash
@given(
    st.one_of(
        st.text(),
        st.binary(),
        st.builds(
            lambda label, text: f"-----BEGIN {label}-----\n{text}\n-----END {label}-----",
            st.sampled_from(["PRIVATE KEY", "PUBLIC KEY", "OPENSSH PRIVATE KEY", "ENCRYPTED PRIVATE KEY"]),
            st.one_of(st.text(), st.binary().map(lambda data: base64.b64encode(data).decode())),
        ),
        st.builds(
            str.__add__, st.sampled_from(["age1", "AGE-SECRET-KEY-", "ssh-rsa ", "{", "02"]), st.text()
        ),
    )
)
def test_any_text_parses_or_raises(text: str | bytes) -> None:
    for read in Key.from_text, PublicKey, sealane.keys.Keyring.from_json:
        with contextlib.suppress(sealane.FormatError, ValueError):
            read(text)


def test_load_returns_the_kind_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "file"
    for kind, key in KEYS.items():
        key.save(path, overwrite=True)
        assert sealane.keys.load(path) == key
        if kind in PAIRS:
            with pytest.raises(sealane.FormatError, match="file: expected a public key, found a private key"):
                PublicKey.load(path)
            public(key).save(path, overwrite=True)
            found = sealane.keys.load(path)
            assert isinstance(found, PublicKey)
            assert found == public(key)
    keyset = sealane.keys.Keyring.from_key(bytes(32), "tink-1mb")
    path.write_text(keyset.to_json())
    found = sealane.keys.load(path)
    assert isinstance(found, sealane.keys.Keyring)
    assert found.to_json() == keyset.to_json()


def test_a_public_key_is_not_a_private_key() -> None:
    key = public(KEYS["x25519"])
    with pytest.raises(
        TypeError, match=r"expected a symmetric key .*, found a public key .*PublicKey x25519"
    ):
        sealane.Aead("aes-256-gcm", key)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"expected a private key .*, found a public key .*PublicKey x25519"):
        sealane.hybrid.open(key, bytes(100))  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="expected a private key as identity, found a public key"):
        sealane.decrypt(b"", identities=[public(KEYS["age"])])
    with pytest.raises(TypeError, match="expected a public key as recipient, found a private key"):
        sealane.encrypt(b"", recipients=[KEYS["age"]])


def test_jwk_members(tmp_path: Path) -> None:
    path, other = tmp_path / "file", tmp_path / "other"
    key = Key.from_bytes(bytes(32), kid="2026", alg="A256GCM", use="enc")
    key.save(path)
    assert json.loads(path.read_text()) | {"k": ""} == {
        "kty": "oct",
        "k": "",
        "kid": "2026",
        "alg": "A256GCM",
        "use": "enc",
    }
    again = sealane.keys.load(path)
    assert (again.kid, again.alg, again.use) == ("2026", "A256GCM", "enc")
    # The members are labels: the key is equal without them.
    assert again == Key.from_bytes(bytes(32))
    assert (KEYS["aes-256"].kid, KEYS["p-256"].kid, KEYS["p-256"].alg, KEYS["p-256"].use) == (None,) * 4
    both = [json.loads(text) for text in [key.to_text(), KEYS["aes-128"].to_text()]]
    path.write_text(json.dumps({"keys": both}))
    assert sealane.keys.load(path, kid="2026") == key
    with pytest.raises(ValueError, match='2 keys; select one by its kid: "2026", none'):
        sealane.keys.load(path)
    with pytest.raises(ValueError, match='no key has the kid "2027"'):
        sealane.keys.load(path, kid="2027")
    other.write_text(json.dumps({"keys": both[1:]}))
    assert sealane.keys.load(other) == KEYS["aes-128"]


def test_equal_keys() -> None:
    for key in KEYS.values():
        assert key == Key.from_text(key.to_text())
        assert key != KEYS["x25519" if key.kind != "x25519" else "p-256"]
        assert key != key.to_text()
        with pytest.raises(TypeError, match="unhashable"):
            hash(key)


# ---- secp256k1 -----------------------------------------------------------------------------------


def test_hexadecimal() -> None:
    key = Key.from_text("00" * 31 + "01")
    assert (key.kind, key.to_hex()) == ("secp256k1", "00" * 31 + "01")
    short = "0279be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798"
    long = f"04{short[2:]}483ada7726a3c4655da4fbfc0e1108a8fd17b448a68554199c47d08ffb10d4b8"
    assert (public(key).to_hex(), public(key).to_hex(compressed=True)) == (long, short)
    assert str(public(key)) == long
    assert public(key).ethereum_address == "0x7E5F4552091A69125d5DfCb7b8C2659029395Bdf"
    for text in [short, long, long[2:], "0x" + short.upper(), "0x" + long[2:]]:
        assert PublicKey(text) == public(key)
    for kind in PAIRS:
        if kind != "secp256k1":
            for attempt in [KEYS[kind].to_hex, public(KEYS[kind]).to_hex]:
                with pytest.raises(TypeError, match=f"expected a secp256k1 key, found a {kind} key"):
                    attempt()
            with pytest.raises(TypeError, match="expected a secp256k1 key"):
                _ = public(KEYS[kind]).ethereum_address
    with pytest.raises(TypeError):
        KEYS["aes-256"].to_hex()


# ---- derived -------------------------------------------------------------------------------------


def test_derive() -> None:
    """The values are those of Argon2id in `cryptography`, which is that of OpenSSL."""
    derive = sealane.keys.derive
    known = "661fefbd6f29bcbc8f4646abc32a9d7a4645bb5c059537f8a5587f31adbecccd"
    for passphrase in "password", b"password", bytearray(b"password"):
        assert derive(passphrase, b"somesalt").hex() == known
    quick = {"length": 16, "memory_kib": 8, "passes": 1, "lanes": 1}
    assert derive("password", b"somesalt", **quick).hex() == "f73a73d271859d21ef45465da12bdf86"
    # Bytes that are not text are passphrases too, for example a hash.
    assert len(derive(hashlib.sha256(b"x").digest(), os.urandom(16), **quick)) == 16
    key = derive("password", memoryview(b"somesalt"), **{**quick, "length": 32})
    assert sealane.decrypt(sealane.encrypt(b"x", key=key), key=key) == b"x"
    for how, says in [
        ({"length": 3}, "4 to 65536"),
        ({"passes": 0}, "pass"),
        ({"lanes": 0}, "lane"),
        ({"memory_kib": 7}, "8 KiB"),
        ({"memory_kib": 1 << 31}, "4 GiB"),
    ]:
        with pytest.raises(ValueError, match=says):
            derive("password", b"somesalt", **{**quick, **how})
    with pytest.raises(ValueError, match="at least 8 bytes"):
        derive("password", b"short", **quick)
    with pytest.raises(TypeError):
        derive("password", "somesalt", **quick)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="must be str or bytes"):
        derive(7, b"somesalt", **quick)  # type: ignore[arg-type]
