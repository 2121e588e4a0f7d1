"""Tests of the formats of Tink's AES-GCM-HKDF streaming: keysets, keys and files."""

from __future__ import annotations

import base64
import io
import json
import pickle
from pathlib import Path
from typing import Any

import pytest
import sealane
from sealane.keys import Keyring
from support import VECTORS, leftovers, pattern

TYPE = "type.googleapis.com/google.crypto.tink.AesGcmHkdfStreamingKey"
HASHES = {"SHA1": 1, "SHA256": 3, "SHA512": 4}
KEY = pattern(32)
SEGMENTS = {"tink-4kb": 4096, "tink-1mb": 1 << 20}


def varint(number: int) -> bytes:
    out = b""
    while number >= 0x80:
        out, number = out + bytes([number & 0x7F | 0x80]), number >> 7
    return out + bytes([number])


def keyset(*tests: dict[str, Any], primary: int = 1) -> str:
    """Returns the JSON of a Tink keyset with these keys, numbered from 1."""
    listed = []
    for number, test in enumerate(tests, 1):
        parts = (test["segmentSize"], test["derivedKeySize"], HASHES[test["hkdfHash"]])
        params = b"".join(bytes([field << 3]) + varint(part) for field, part in enumerate(parts, 1))
        secret = bytes.fromhex(test["ikm"])
        value = b"\x12" + varint(len(params)) + params + b"\x1a" + varint(len(secret)) + secret
        data = {"typeUrl": TYPE, "value": base64.b64encode(value).decode(), "keyMaterialType": "SYMMETRIC"}
        listed.append({"keyData": data, "status": "ENABLED", "keyId": number, "outputPrefixType": "RAW"})
    return json.dumps({"primaryKeyId": primary, "key": listed}, indent=2)


TESTS = json.loads((VECTORS / "streaming/tink/aes_gcm_hkdf.json").read_text())["tests"]


@pytest.mark.parametrize("test", TESTS, ids=lambda test: str(test["tcId"]))
def test_published_vectors(tmp_path: Path, test: dict[str, Any]) -> None:
    file, plain, aad = (bytes.fromhex(test[name]) for name in ("ct", "pt", "aad"))
    (tmp_path / "sealed").write_bytes(file)
    everyone = Keyring.from_json(keyset(*TESTS))
    for key in Keyring.from_json(keyset(test)), Keyring.from_json(keyset(test).encode()), everyone:
        assert sealane.decrypt(file, key=key, context=aad) == plain
        sealane.decrypt_file(tmp_path / "sealed", tmp_path / "out", key=key, context=aad)
        assert (tmp_path / "out").read_bytes() == plain
        memory = io.BytesIO()
        sealane.decrypt_file(io.BytesIO(file), memory, key=key, context=aad)
        assert memory.getvalue() == plain
        with sealane.open(tmp_path / "sealed", key=key, context=aad) as f:
            assert f.seek(30) == 30
            assert f.read() == plain[30:]
        sealane.verify_file(tmp_path / "sealed", key=key, context=aad)
    with pytest.raises(sealane.AuthenticationError):
        sealane.decrypt(file, key=Keyring.from_json(keyset(test)), context=aad + b"x")
    with pytest.raises(sealane.NoMatchingKeyError):
        sealane.decrypt(file, key=everyone, context=aad + b"x")


@pytest.mark.parametrize("form", SEGMENTS)
@pytest.mark.parametrize("length", [16, 32])
@pytest.mark.parametrize("size", [0, 1, 4096 - 24 - 16, 5000, (1 << 20) + 5, 3_000_000])
def test_files_round_trip(tmp_path: Path, form: str, length: int, size: int) -> None:
    data, key = pattern(size), KEY[:length]
    (tmp_path / "plain").write_bytes(data)
    keyset = Keyring.from_key(key, form)
    assert Keyring.from_json(keyset.to_json()).to_json() == keyset.to_json()
    arguments: list[dict[str, Any]] = [{"key": key, "format": form}, {"key": keyset}]
    for writes, reads in [(arguments[0], arguments[1]), (arguments[1], arguments[0])]:
        sealane.encrypt_file(tmp_path / "plain", tmp_path / "sealed", context=b"c", **writes)
        assert sealane.decrypt((tmp_path / "sealed").read_bytes(), context=b"c", **reads) == data
        memory = io.BytesIO()
        with sealane.open(memory, "wb", context=b"c", **writes) as f:
            f.write(data)
        memory.seek(0)
        sealane.decrypt_file(memory, tmp_path / "again", context=b"c", **reads)
        assert (tmp_path / "again").read_bytes() == data
        with sealane.open(tmp_path / "sealed", context=b"c", **reads) as f:
            assert f.size == size
            f.seek(size // 2)
            assert f.read() == data[size // 2 :]
    info = sealane.inspect(tmp_path / "sealed", form)
    assert info.plaintext_len == size
    assert info.chunk_len == SEGMENTS[form] - 16


def test_detects_damage(tmp_path: Path) -> None:
    path = tmp_path / "sealed"
    file = sealane.encrypt(pattern(10_000), key=KEY, format="tink-4kb")
    how: dict[str, Any] = {"key": KEY, "format": "tink-4kb"}
    for wrong, error in [
        (file[:-1], sealane.AuthenticationError),
        (file[:8192], sealane.AuthenticationError),
        (file[:100] + bytes([file[100] ^ 1]) + file[101:], sealane.AuthenticationError),
        (file[:10], sealane.TruncatedError),
        (bytes(1) + file[1:], sealane.FormatError),
    ]:
        path.write_bytes(wrong)
        with pytest.raises(error):
            sealane.decrypt_file(path, tmp_path / "out", **how)
        with pytest.raises(error):
            sealane.decrypt(wrong, **how)
    for other in [{"key": KEY, "format": "tink-1mb"}, {"key": KEY[::-1], "format": "tink-4kb"}]:
        with pytest.raises(sealane.AuthenticationError):
            sealane.decrypt(file, **other)
    assert leftovers(tmp_path, "sealed") == []


def test_rejects_wrong_arguments() -> None:
    for length in 0, 15, 24, 33:
        with pytest.raises(ValueError, match="16 or 32 bytes"):
            sealane.encrypt(b"", key=bytes(length), format="tink-1mb")
        with pytest.raises(ValueError, match="16 or 32 bytes"):
            Keyring.from_key(bytes(length), "tink-1mb")
    made = Keyring.from_key(sealane.keys.generate("aes-256"), "tink-1mb")
    with pytest.raises(ValueError, match="omit format"):
        sealane.encrypt(b"", key=made, format="tink-1mb")
    for form, says in [("chunked", "tink-1mb"), ("age", "tink-1mb"), ("rot13", "tink-1mb")]:
        with pytest.raises(ValueError, match=says):
            Keyring.from_key(KEY, form)
    with pytest.raises(TypeError):
        Keyring.from_key("password" * 4, "tink-1mb")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="not int"):
        Keyring.from_json(7)  # type: ignore[arg-type]
    whole = keyset(TESTS[0])
    encrypted = '{"encryptedKeyset":"AAAA","keysetInfo":{}}'
    for text in ["", "{}", "[]", whole.replace("RAW", "TINK"), whole.replace(TYPE, "x"), encrypted, "\0"]:
        with pytest.raises(sealane.FormatError):
            Keyring.from_json(text)
    with pytest.raises(sealane.FormatError, match="encrypted"):
        Keyring.from_json(encrypted)
    with pytest.raises(TypeError, match="never pickled"):
        pickle.dumps(made)
    assert repr(made) == f"<sealane.keys.Keyring of 1, primary key {made.primary}, tink-1mb>"
