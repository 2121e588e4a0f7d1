"""`sealane.keys`: files that others read, written once, for one's own eyes."""

from __future__ import annotations

import base64
import json
import stat
from pathlib import Path

import pytest
import sealane
from support import leftovers


@pytest.mark.parametrize(("kind", "length"), [("aes-128", 16), ("aes-256", 32)])
def test_there_and_back(tmp_path: Path, kind: str, length: int) -> None:
    key = sealane.keys.generate(kind)
    assert len(bytes(key)) == length
    assert bytes(key) != bytes(sealane.keys.generate(kind))
    path = tmp_path / "key"
    key.save(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert bytes(sealane.keys.load(str(path))) == bytes(key)
    # RFC 7517: what any other software reads.
    jwk = json.loads(path.read_text())
    assert jwk["kty"] == "oct"
    assert base64.urlsafe_b64decode(jwk["k"] + "==") == bytes(key)
    with pytest.raises(FileExistsError) as caught:
        sealane.keys.generate(kind).save(path)
    assert caught.value.filename == str(path)
    assert bytes(sealane.keys.load(path)) == bytes(key)
    assert leftovers(tmp_path, "key") == []


def test_a_key_object_is_as_good_as_its_bytes() -> None:
    key = sealane.keys.generate("aes-256")
    assert sealane.Aead("aes-256-gcm", key).open(sealane.Aead("aes-256-gcm", bytes(key)).seal(b"x")) == b"x"
    assert sealane.decrypt(sealane.encrypt(b"x", key=key), key=bytes(key)) == b"x"


@pytest.mark.parametrize("text", ["", "{}", "[]", "key", '{"kty":"oct"', '{"kty":"RSA","k":"AAAA"}', "\0\0"])
def test_what_is_no_key_file(tmp_path: Path, text: str) -> None:
    path = tmp_path / "key"
    path.write_text(text)
    with pytest.raises(sealane.FormatError):
        sealane.keys.load(path)


def test_errors(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="there are aes-128, aes-192, aes-256, age"):
        sealane.keys.generate("rot13")
    with pytest.raises(FileNotFoundError):
        sealane.keys.load(tmp_path / "missing")
    with pytest.raises(IsADirectoryError):
        sealane.keys.load(tmp_path)
    with pytest.raises(FileNotFoundError):
        sealane.keys.generate("aes-128").save(tmp_path / "no folder" / "key")
    with pytest.raises(TypeError):
        sealane.keys.Key()
