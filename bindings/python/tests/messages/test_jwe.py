"""JSON Web Encryption: calls and errors in Python. The tokens themselves are tested in Rust."""

from __future__ import annotations

import base64
import json
import threading
import time
from pathlib import Path
from typing import Any

import pytest
import sealane
from sealane import jwe, keys

KEY = keys.Key.from_bytes(bytes(range(32)))
JWK = json.dumps({"kty": "oct", "k": base64.urlsafe_b64encode(bytes(range(32))).decode().rstrip("=")})


def header(token: str) -> dict[str, Any]:
    part = token.split(".")[0]
    found: dict[str, Any] = json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))
    return found


def with_header(token: str, **members: object) -> str:
    made = json.dumps(header(token) | members).encode()
    return ".".join([base64.urlsafe_b64encode(made).decode().rstrip("="), *token.split(".")[1:]])


@pytest.mark.parametrize(
    "key",
    [KEY, JWK, bytes(KEY), bytearray(bytes(KEY)), f'{{"keys":[{JWK}]}}'],
    ids=lambda key: type(key).__name__,
)
def test_forms_of_a_key(key: Any) -> None:
    token = jwe.encrypt(b"hello", key, alg="dir", enc="A256GCM")
    assert header(token) == {"alg": "dir", "enc": "A256GCM"}
    for other in KEY, JWK, [keys.generate("p-256"), KEY]:
        assert jwe.decrypt(token, other) == b"hello"
    assert jwe.decrypt(token.encode(), key, algorithms=("dir", "A256GCM")) == b"hello"


@pytest.mark.parametrize(
    ("kind", "alg"), [("x25519", "ECDH-ES"), ("p-256", "ECDH-ES+A256KW"), ("rsa-2048", "RSA-OAEP-256")]
)
def test_key_pairs(kind: str, alg: str) -> None:
    key = keys.generate(kind)
    assert key.public is not None
    for public in key.public, str(key.public), key:
        token = jwe.encrypt(b"hello", public, alg=alg, enc="A128CBC-HS256")
        assert jwe.decrypt(token, key) == jwe.decrypt(token, key.to_text()) == b"hello"
    with pytest.raises(sealane.NoMatchingKeyError):
        jwe.decrypt(token, key.public)


def test_references_and_keyrings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    ring = keys.Keyring.generate()
    ring.save("ring.json")
    old = jwe.encrypt(b"hello", ring, alg="dir", enc="A256GCM")
    assert header(old)["kid"] == str(ring.primary)
    ring.rotate()
    assert header(jwe.encrypt(b"", ring, alg="dir", enc="A256GCM"))["kid"] == str(ring.primary)
    for key in ring, "file:ring.json", [ring, KEY]:
        assert jwe.decrypt(old, key) == b"hello"
    with pytest.raises(ValueError, match="cannot be used with this alg and enc"):
        jwe.encrypt(b"", ring, alg="A256KW", enc="A256GCM")


def test_serializations_and_headers() -> None:
    flattened = jwe.encrypt(b"hello", KEY, alg="A256KW", enc="A256GCM", serialization="flattened")
    assert set(json.loads(flattened)) == {"protected", "encrypted_key", "iv", "ciphertext", "tag"}
    pair = keys.generate("x25519")
    general = jwe.encrypt(b"hello", [KEY], alg="A256KW", enc="A256GCM", serialization="general")
    assert jwe.decrypt(flattened, KEY) == jwe.decrypt(general, [pair, KEY]) == b"hello"
    both = [keys.generate("p-256"), pair]
    general = jwe.encrypt(b"hi", both, alg="ECDH-ES+A128KW", enc="A256GCM", serialization="general")
    assert [jwe.decrypt(general, key) for key in both] == [b"hi", b"hi"]
    token = jwe.encrypt(b"hello", KEY, alg="dir", enc="A256GCM", headers={"typ": "JWT", "kid": "é", "n": [1]})
    assert header(token) == {"alg": "dir", "enc": "A256GCM", "typ": "JWT", "kid": "é", "n": [1]}
    assert jwe.decrypt(token, KEY) == b"hello"


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"alg": "A512KW"}, "expected one of dir, "),
        ({"enc": "A256CTR"}, "expected one of dir, "),
        ({"alg": "A128KW"}, "another type or length"),
        ({"alg": "ECDH-ES"}, "another type or length"),
        ({"headers": {"alg": "dir"}}, "without alg, enc"),
        ({"headers": {"crit": []}}, "without alg, enc"),
        ({"headers": ["typ"]}, "a JSON object"),
        ({"serialization": "xml"}, "known: compact, flattened, general"),
        ({"key": [KEY, KEY]}, "expected one key"),
        ({"key": []}, "expected one key"),
        ({"key": keys.generate("age")}, "another kind of key"),
        ({"key": keys.Keyring.generate("aes-256-siv")}, "AES-GCM keys only"),
        ({"key": JWK[:-1] + ', "use": "sig"}'}, "another use"),
        ({"key": JWK[:-1] + ', "alg": "HS256"}'}, "its own alg"),
    ],
)
def test_mistakes_in_calls(options: dict[str, Any], text: str) -> None:
    arguments = {"key": KEY, "alg": "dir", "enc": "A256GCM"} | options
    with pytest.raises(ValueError, match=text):
        jwe.encrypt(b"", **arguments)


def test_wrong_types() -> None:
    calls: list[tuple[Any, ...]] = [("text", KEY), (b"", 5), (b"", {"kty": "oct"}), (b"", [5]), (b"", None)]
    for plaintext, key in calls:
        with pytest.raises(TypeError):
            jwe.encrypt(plaintext, key, alg="dir", enc="A256GCM")
    token: Any = jwe.encrypt(b"", KEY, alg="dir", enc="A256GCM")
    for wrong in 5, None, json.loads("{}"):
        with pytest.raises(TypeError):
            jwe.decrypt(wrong, KEY)
    for wrong in "dir", 5, [5]:
        with pytest.raises(TypeError):
            jwe.decrypt(token, KEY, algorithms=wrong)
    for names in [], ["none"]:
        with pytest.raises(ValueError, match="expected one of dir, "):
            jwe.decrypt(token, KEY, algorithms=names)
    with pytest.raises(TypeError):
        jwe.encrypt(b"", KEY, alg="dir", enc="A256GCM", headers={"a": object()})


def test_tokens_that_are_refused() -> None:
    token = jwe.encrypt(b"hello", KEY, alg="dir", enc="A256GCM")
    with pytest.raises(sealane.AuthenticationError, match=r"^authentication failed$"):
        jwe.decrypt(token, bytes(32))
    with pytest.raises(sealane.AuthenticationError):
        jwe.decrypt(token[:-4] + "AAAA", KEY)
    with pytest.raises(sealane.NoMatchingKeyError):
        jwe.decrypt(token, keys.generate("p-256"))
    with pytest.raises(sealane.NoMatchingKeyError):
        jwe.decrypt(token, [])
    for found, text in [
        ({"zip": "DEF"}, 'zip in the header of the token is "DEF": compressed'),
        ({"crit": ["exp"]}, "crit in the header"),
        ({"alg": "none"}, 'alg in the header of the token is "none": this algorithm is not supported'),
        ({"alg": "\x1b[31m"}, r'alg in the header of the token is "\\u001b\[31m"'),
        ({"enc": None}, "enc in the header of the token is null"),
    ]:
        with pytest.raises(sealane.FormatError, match=text):
            jwe.decrypt(with_header(token, **found), KEY)
    with pytest.raises(sealane.FormatError, match="the caller does not accept"):
        jwe.decrypt(token, KEY, algorithms=["A256KW"])
    for text in "", "a.b.c", token + "\n", "é", "\ud800":
        with pytest.raises(ValueError if text == "\ud800" else sealane.FormatError):
            jwe.decrypt(text, KEY)


# claim: jwe-limits
def test_rounds_of_a_password_are_limited_and_can_be_interrupted() -> None:
    password = b"correct horse"
    token = jwe.encrypt(b"hello", password, alg="PBES2-HS256+A128KW", enc="A256GCM")
    assert jwe.decrypt(token, password, algorithms=["PBES2-HS256+A128KW"]) == b"hello"
    with pytest.raises(sealane.NoMatchingKeyError):
        jwe.decrypt(token, password)
    start = time.monotonic()
    for rounds in 1_000_001, 2**31 - 1, 2**63:
        with pytest.raises(sealane.LimitExceededError, match="p2c"):
            jwe.decrypt(with_header(token, p2c=rounds), password, algorithms=["PBES2-HS256+A128KW"])
    assert time.monotonic() - start < 30


def test_threads_share_keys() -> None:
    token = jwe.encrypt(b"hello", KEY, alg="A256GCMKW", enc="A256CBC-HS512")
    found: list[bytes] = []

    def work() -> None:
        found.extend(jwe.decrypt(token, KEY) for _ in range(200))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [b"hello"] * 800


@pytest.mark.parametrize("length", [0, 1, 63, 8191, 8192, 100_000])
def test_lengths(length: int) -> None:
    data = bytes(length)
    for enc in "A128CBC-HS256", "A256GCM":
        assert jwe.decrypt(jwe.encrypt(data, bytes(32), alg="dir", enc=enc), bytes(32)) == data
