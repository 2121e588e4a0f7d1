"""Signatures of files and messages, without other programs."""

from __future__ import annotations

import io
import mmap
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest
import sealane
from sealane.signing import Verified, sign, verify

SEALANE = str(Path(sys.executable).parent / "sealane")


@pytest.fixture
def key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    done = subprocess.run(
        [SEALANE, "keygen", "-t", "ed25519", "-o", "key"], capture_output=True, check=True, text=True
    )
    Path("pub").write_text(done.stdout)
    return "key"


def test_every_kind_of_message(key: str) -> None:
    message = os.urandom(3_000_000)
    Path("file").write_bytes(message)
    with open("file", "rb") as file, open("file", "rb") as again:
        mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        messages = [
            *(message, bytearray(message), memoryview(message), mapped, "file", Path("file"), again),
            io.BytesIO(message),
        ]
        signatures = {sign(one, key) for one in messages}
    # Ed25519 has one signature for a key and a message.
    assert len(signatures) == 1
    signature = signatures.pop()
    Path("file.sig").write_bytes(signature)
    for given in (signature, bytearray(signature), "file.sig", Path("file.sig")):
        for signer in ("pub", Path("pub"), Path("pub").read_bytes()):
            found = verify(message, given, signer)
            assert (found.signer[:7], found.comment) == ("SHA256:", "")
    # The rest of a file object is the message.
    with open("file", "rb") as file:
        file.seek(1)
        assert verify(file, sign(message[1:], key), "pub")
    private = Path("key").read_bytes()
    for given in (private, bytearray(private), Path("key"), "file:key"):
        assert sign(message, given) == signature


def test_a_pipe_is_signed_in_one_pass(key: str) -> None:
    reading, writing = os.pipe()

    def write() -> None:
        with os.fdopen(writing, "wb") as pipe:
            pipe.write(b"x" * 300_000)

    writer = threading.Thread(target=write)
    writer.start()
    with os.fdopen(reading, "rb") as pipe:
        signature = sign(pipe, key)
    writer.join()
    assert verify(b"x" * 300_000, signature, "pub")


def test_references_and_passphrases(key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SIGNING_KEY", Path("key").read_text())
    assert sign(b"message", "env:SIGNING_KEY") == sign(b"message", key)
    Path("pass").write_text("correct horse")
    with open("pass") as given:
        subprocess.run(
            [SEALANE, "keygen", "-q", "-t", "ed25519", "-o", "locked", "--passphrase-fd", "0"],
            stdin=given,
            check=True,
        )
    for passphrase in ("correct horse", b"correct horse"):
        assert sign(b"message", "locked", passphrase=passphrase)
    with pytest.raises(ValueError, match="locked: the key is encrypted with a passphrase"):
        sign(b"message", "locked")
    with pytest.raises(sealane.NoMatchingKeyError, match="locked: wrong passphrase"):
        sign(b"message", "locked", passphrase="other")
    with pytest.raises(ValueError, match="not encrypted"):
        sign(b"message", key, passphrase="any")


# claim: signature-error, signature-signer
def test_one_error_for_a_bad_signature_and_others_for_none(key: str) -> None:
    signature = sign(b"message", key, namespace="release")
    pub = Path("pub").read_text()
    check = {"namespace": "release"}
    other = subprocess.run([SEALANE, "keygen", "-t", "ed25519"], capture_output=True, check=True).stdout
    for data, signer, options, words in [
        (b"massage", pub, {}, "does not match"),
        (b"message", pub, {"namespace": "file"}, "another namespace"),
        (b"message", pub, {"revoked": pub.encode()}, "revoked"),
        (b"message", f'me namespaces="file" {pub}', {}, "may not sign in this namespace"),
        (b"message", f'me valid-before="20200101Z" {pub}', {}, "expired"),
        (b"message", f'me valid-after="20990101Z" {pub}', {}, "not valid yet"),
    ]:
        with pytest.raises(sealane.AuthenticationError, match=words):
            verify(data, signature, signer.encode(), **{**check, **options})
    with pytest.raises(sealane.AuthenticationError, match="another key"):
        verify(b"message", sign(b"message", other), "pub")
    for none in (b"", b"\xff", b"message", bytes(1 << 20), signature[:60]):
        with pytest.raises(sealane.FormatError, match="expected a signature"):
            verify(b"message", none, "pub")
    Path("large").write_bytes(signature + b"\n" * (1 << 20))
    with pytest.raises((sealane.FormatError, sealane.LimitExceededError), match="large"):
        verify(b"message", "large", "pub")
    for arguments in (("missing", key), (b"message", "missing")):
        with pytest.raises(FileNotFoundError, match="missing"):
            sign(*arguments)
    with pytest.raises(FileNotFoundError, match="missing"):
        verify(b"message", signature, "missing")


def test_allowed_signers(key: str) -> None:
    signature = sign(b"message", key)
    allowed = f'me@example.com valid-after="20260101Z",valid-before="20270101Z" {Path("pub").read_text()}'
    assert verify(b"message", signature, allowed.encode(), at=1_790_000_000) == ("me@example.com", "")
    assert isinstance(verify(b"message", signature, "pub"), Verified)
    for at, words in [(1_760_000_000, "not valid yet"), (1_900_000_000.5, "expired")]:
        with pytest.raises(sealane.AuthenticationError, match=words):
            verify(b"message", signature, allowed.encode(), at=at)
    for at in (float("nan"), -1.0, float("inf"), 1e300):
        with pytest.raises(ValueError, match="at must be a time"):
            verify(b"message", signature, allowed.encode(), at=at)


def test_arguments_that_do_not_go_together(key: str) -> None:
    for options, words in [
        ({"format": "minisign"}, "the key determines the format"),
        ({"format": "pgp"}, "must be 'ssh' or 'minisign'"),
        ({"namespace": ""}, "expected a namespace"),
        ({"comment": "text"}, "SSH signatures have no comment"),
    ]:
        with pytest.raises(ValueError, match=words):
            sign(b"message", key, **options)  # type: ignore[arg-type]
    assert sign(b"message", key, format="ssh")
    for data in (5, None, ["file"], io.StringIO("text")):
        with pytest.raises(TypeError):
            sign(data, key)  # type: ignore[arg-type]
    for wrong in (5, None, ["key"]):
        with pytest.raises(TypeError):
            sign(b"message", wrong)  # type: ignore[arg-type]
        with pytest.raises(TypeError):
            verify(b"message", b"", wrong)  # type: ignore[arg-type]
    # A key instead of a path is not shown.
    with pytest.raises(ValueError, match="expected a path, found a secret key"):
        sign(b"message", Path("key").read_text())


def test_a_failing_file_object(key: str) -> None:
    class Failing(io.RawIOBase):
        def read(self, size: int = -1) -> bytes:
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        sign(Failing(), key)
