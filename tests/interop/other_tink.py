"""Keyrings exchanged with Tink in Go and Java, in both directions.

No package of Debian 12 has them: `make -C tests tink` builds `tink_go` and `tink_java`, and runs this. The
environment variable TINK names those that were built.
"""

from __future__ import annotations

import base64
import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import sealane
from sealane.keys import Keyring
from support import pattern

TOOLS = Path(__file__).parent.parent.parent / "target" / "tools"
JAVA = TOOLS / "tink_java"
PROGRAMS = {
    "go": [str(TOOLS / "bin" / "tink_go")],
    "java": ["java", "-Xshare:auto", "-cp", f"{JAVA / 'classes'}:{JAVA / 'lib'}/*", "TinkJava"],
}
LANGUAGES = os.environ.get("TINK", "go").split()
MESSAGES = {
    "AES128_GCM": "aes-128-gcm",
    "AES256_GCM": "aes-256-gcm",
    "AES256_GCM_RAW": "aes-256-gcm",
    "AES128_GCM_SIV": "aes-128-gcm-siv",
    "AES256_GCM_SIV": "aes-256-gcm-siv",
    "CHACHA20_POLY1305": "chacha20-poly1305",
    "XCHACHA20_POLY1305": "xchacha20-poly1305",
    "XAES_256_GCM": "xaes-256-gcm",
    "XAES_256_GCM_RAW": "xaes-256-gcm",
    "XAES_256_GCM_160": "xaes-256-gcm",
}
FILES = {
    "AES128_GCM_HKDF_4KB": "tink-4kb",
    "AES128_GCM_HKDF_1MB": "tink-1mb",
    "AES256_GCM_HKDF_4KB": "tink-4kb",
    "AES256_GCM_HKDF_1MB": "tink-1mb",
}


class Tink:
    """Tink in another language, which responds to one request after the other."""

    def __init__(self, language: str) -> None:
        self.language = language
        self.process = subprocess.Popen(
            PROGRAMS[language], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def ask(self, call: str, **request: Any) -> dict[str, Any]:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        encoded = {
            name: base64.b64encode(value).decode() if isinstance(value, bytes) else value
            for name, value in request.items()
        }
        self.process.stdin.write(json.dumps({"Call": call, **encoded}) + "\n")
        self.process.stdin.flush()
        response: dict[str, Any] = json.loads(self.process.stdout.readline())
        return response

    def call(self, call: str, **request: Any) -> bytes:
        response = self.ask(call, **request)
        assert response["Error"] == "", response["Error"]
        return base64.b64decode(response["Data"] or "")

    def generate(self, template: str) -> tuple[str, bytes]:
        """Returns a new keyset in JSON and in the binary format."""
        response = self.ask("generate", Template=template)
        assert response["Error"] == "", response["Error"]
        return response["Keyset"], base64.b64decode(response["Binary"])


@pytest.fixture(scope="module", params=LANGUAGES)
def tink(request: pytest.FixtureRequest) -> Iterator[Tink]:
    found = Tink(request.param)
    with found.process:
        yield found
    assert found.process.returncode == 0


@pytest.mark.parametrize(("template", "algorithm"), MESSAGES.items())
def test_messages(tink: Tink, template: str, algorithm: str) -> None:
    text, binary = tink.generate(template)
    for ring in Keyring.from_json(text), Keyring.from_bytes(binary):
        assert [key.algorithm for key in ring.keys] == [algorithm]
        aead = sealane.Aead(keyring=ring)
        for length in 0, 1, 1000, 100_000:
            data = pattern(length)
            assert aead.open(tink.call("seal", Keyset=text, Data=data, AAD=b"aad"), b"aad") == data
            sealed = aead.seal(data, b"aad")
            assert tink.call("open", Keyset=ring.to_json(), Data=sealed, AAD=b"aad") == data
            assert tink.call("open", Binary=ring.to_bytes(), Data=sealed, AAD=b"aad") == data
            assert tink.ask("open", Keyset=text, Data=sealed, AAD=b"other")["Error"]


@pytest.mark.parametrize("prefix", ["tink", "raw", "crunchy", "legacy"])
@pytest.mark.parametrize("algorithm", sorted(set(MESSAGES.values())))
def test_our_keys_after_rotations(tink: Tink, algorithm: str, prefix: str) -> None:
    if algorithm == "xaes-256-gcm" and prefix in ("crunchy", "legacy"):
        pytest.skip("Tink has no such keys")
    ring = Keyring.generate(algorithm, prefix=prefix)
    sealed = []
    for number in range(5):
        sealed.append(sealane.Aead(keyring=ring).seal(b"%d" % number, b"aad"))
        ring.rotate()
    for number, message in enumerate(sealed):
        assert tink.call("open", Keyset=ring.to_json(), Data=message, AAD=b"aad") == b"%d" % number
    newest = tink.call("seal", Keyset=ring.to_json(), Data=b"theirs", AAD=b"aad")
    assert sealane.Aead(keyring=ring).open(newest, b"aad") == b"theirs"
    ring.disable(ring.keys[0].id)
    refused = tink.ask("open", Keyset=ring.to_json(), Data=sealed[0], AAD=b"aad")["Error"]
    assert "decryption failed" in refused
    rewritten = tink.ask("rewrite", Keyset=ring.to_json())
    assert rewritten["Error"] == ""
    assert [(key.id, key.state, key.primary) for key in Keyring.from_json(rewritten["Keyset"]).keys] == [
        (key.id, key.state, key.primary) for key in ring.keys
    ]


def test_destroyed_keys_are_refused_and_deleted_ones_are_not(tink: Tink) -> None:
    """Tink in Go and Java wants the data of every key. Tink in Python does not, see `test_tink.py`."""
    ring = Keyring.generate("aes-256-gcm")
    ring.rotate()
    ring.destroy(ring.keys[0].id)
    expected = {"go": "has no key data", "java": "Parse keyset failed"}[tink.language]
    assert expected in tink.ask("rewrite", Keyset=ring.to_json())["Error"]
    ring.delete(ring.keys[0].id)
    sealed = sealane.Aead(keyring=ring).seal(b"message", b"aad")
    assert tink.call("open", Keyset=ring.to_json(), Data=sealed, AAD=b"aad") == b"message"


@pytest.mark.parametrize(("template", "algorithm"), FILES.items())
def test_files(tink: Tink, template: str, algorithm: str) -> None:
    text, _ = tink.generate(template)
    ring = Keyring.from_json(text)
    assert [(key.algorithm, key.prefix) for key in ring.keys] == [(algorithm, "raw")]
    old = tink.call("write", Keyset=text, Data=pattern(5000), AAD=b"context")
    ring.rotate()
    for length in 0, 1, 4000, 70_000, 2_200_000:
        data = pattern(length)
        theirs = tink.call("write", Keyset=ring.to_json(), Data=data, AAD=b"context")
        assert sealane.decrypt(theirs, key=ring, context=b"context") == data
        ours = sealane.encrypt(data, key=ring, context=b"context")
        assert tink.call("read", Keyset=ring.to_json(), Data=ours, AAD=b"context") == data
    assert sealane.decrypt(old, key=ring, context=b"context") == pattern(5000)


@pytest.mark.parametrize("prefix", ["tink", "raw", "crunchy", "legacy"])
def test_deterministic_encryption(tink: Tink, prefix: str) -> None:
    text, binary = tink.generate("AES256_SIV")
    for theirs in Keyring.from_json(text), Keyring.from_bytes(binary):
        assert [(key.algorithm, key.prefix) for key in theirs.keys] == [("aes-256-siv", "tink")]
    ring, stored = Keyring.generate("aes-256-siv", prefix=prefix), []
    for made in theirs, ring:
        for length in 0, 1, 1000:
            data = pattern(length)
            encrypted = sealane.DeterministicAead(keyring=made).encrypt(data, b"aad")
            assert tink.call("daead-encrypt", Keyset=made.to_json(), Data=data, AAD=b"aad") == encrypted
            stored.append((data, encrypted))
            made.rotate()
        daead = sealane.DeterministicAead(keyring=made)
        for data, encrypted in stored[-3:]:
            assert daead.decrypt(encrypted, b"aad") == data
            assert tink.call("daead-decrypt", Keyset=made.to_json(), Data=encrypted, AAD=b"aad") == data
            assert tink.ask("daead-decrypt", Keyset=made.to_json(), Data=encrypted, AAD=b"b")["Error"]


def test_types_that_are_refused(tink: Tink) -> None:
    text, binary = tink.generate("AES256_CTR_HMAC_SHA256")
    for read, keyset in (Keyring.from_json, text), (Keyring.from_bytes, binary):
        with pytest.raises(sealane.FormatError, match="AesCtrHmacAeadKey"):
            read(keyset)  # type: ignore[operator]
