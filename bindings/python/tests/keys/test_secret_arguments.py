"""A key that is given where a path is expected: no exception shows it, and no file is named like it."""

import io
import os
import traceback
from collections.abc import Callable
from pathlib import Path

import pytest
import sealane
from support import pattern

AGE = "AGE-SECRET-KEY-1GFPYYSJZGFPYYSJZGFPYYSJZGFPYYSJZGFPYYSJZGFPYYSJZGFPQ4EGAEX"
JWK = '{"kty":"oct","k":"GawgguFyGrWKav7AX4VKUg"}'
HEXADECIMAL = "0123456789abcdef" * 4
KEY = pattern(32)

CALLS: dict[str, Callable[[str], object]] = {
    "encrypt_file from": lambda text: sealane.encrypt_file(text, "out", key=KEY),
    "encrypt_file to": lambda text: sealane.encrypt_file("plain", text, key=KEY),
    "encrypt_file to a file object": lambda text: sealane.encrypt_file(text, io.BytesIO(), key=KEY),
    "decrypt_file": lambda text: sealane.decrypt_file(text, "out", key=KEY),
    "encrypt_many": lambda text: sealane.encrypt_many([(text, "out")], key=KEY),
    "open": lambda text: sealane.open(text, key=KEY),
    "open to write": lambda text: sealane.open(text, "wb", key=KEY),
    "keys.load": lambda text: sealane.keys.load(text),
    "keys.PublicKey.load": lambda text: sealane.keys.PublicKey.load(text),
    "recipient": lambda text: sealane.encrypt_file("plain", "out", recipients=[text]),
    "identity": lambda text: sealane.decrypt_file("plain", "out", identities=[text + "Q"]),
    "key": lambda text: sealane.encrypt_file("plain", "out", key=text),
}


# claim: users-arguments
@pytest.mark.parametrize("secret", [AGE, AGE.lower(), JWK], ids=["age", "lower case", "jwk"])
@pytest.mark.parametrize("call", CALLS)
def test_no_exception_shows_it(
    call: str, secret: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("plain").write_bytes(b"text")
    with pytest.raises(Exception) as caught:  # noqa: PT011 - the calls raise different exceptions
        CALLS[call](secret)
    # The last entry of a traceback is a line of the caller, which has no secret here.
    text = "".join(traceback.format_exception_only(caught.value)) + repr(caught.value.args)
    assert secret not in text
    assert secret not in str(getattr(caught.value, "filename", ""))
    assert os.listdir() == ["plain"]


def test_hexadecimal_digits_are_hidden_unless_they_name_a_file(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError) as caught:
        sealane.keys.load(HEXADECIMAL)
    assert HEXADECIMAL not in str(caught.value)
    named = tmp_path / HEXADECIMAL
    named.write_bytes(b"not a key")
    with pytest.raises(sealane.exceptions.FormatError, match=HEXADECIMAL):
        sealane.keys.load(named)


def test_a_path_with_undecodable_bytes(tmp_path: Path) -> None:
    path = os.fsdecode(os.fsencode(tmp_path) + b"/\xff")
    with pytest.raises(FileNotFoundError):
        sealane.open(path, key=KEY)
