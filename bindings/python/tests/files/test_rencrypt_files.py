"""Files of the REncrypt interface, and files that REncrypt itself wrote."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
import sealane
from sealane.compat.rencrypt import Cipher, REncrypt
from support import leftovers, pattern

KEY, AAD = bytes(range(32)), b"AAD"
CHUNK, SEALED = 131072, 131100
ENC = REncrypt(Cipher.AES256GCM, KEY)


def old_file(plain: bytes, enc: REncrypt = ENC, aad: bytes = AAD) -> bytearray:
    """Returns the file that REncrypt wrote at 892a0f6: it set the length first, then wrote each chunk."""
    size = len(plain)
    file = bytearray(size + (size // CHUNK + 1) * 28)
    for index, at in enumerate(range(0, size, CHUNK)):
        message = enc.encrypt_from(plain[at : at + CHUNK], index, aad)
        file[index * SEALED : index * SEALED + len(message)] = message
    return file


# ---- encrypt_file and decrypt_file ---------------------------------------------------------------


@pytest.mark.parametrize("cipher", Cipher)
@pytest.mark.parametrize("length", [0, 1, CHUNK, 300_001])
def test_files_have_the_format_of_sealane(cipher: Cipher, length: int, tmp_path: Path) -> None:
    enc, plain, sealed, back = (
        REncrypt(cipher, KEY),
        *(tmp_path / name for name in ("plain", "sealed", "back")),
    )
    plain.write_bytes(pattern(length))
    enc.encrypt_file(str(plain), sealed, AAD)
    assert sealane.decrypt(sealed.read_bytes(), key=KEY, context=AAD) == pattern(length)
    enc.decrypt_file(sealed, str(back), bytearray(AAD))
    assert back.read_bytes() == pattern(length)
    for aad in (b"", b"AAE"):
        with pytest.raises(sealane.AuthenticationError):
            enc.decrypt_file(sealed, tmp_path / "other", aad)
    assert leftovers(tmp_path, "plain", "sealed", "back") == []


def test_detects_truncation_and_leaves_no_file(tmp_path: Path) -> None:
    plain, sealed = tmp_path / "plain", tmp_path / "sealed"
    plain.write_bytes(pattern(300_000))
    ENC.encrypt_file(plain, sealed, AAD)
    whole = sealed.read_bytes()
    for length in (0, 100, 16384 + 16 + 56, 2 * (16384 + 16) + 56, len(whole) - 1):
        sealed.write_bytes(whole[:length])
        with pytest.raises((sealane.TruncatedError, sealane.AuthenticationError)):
            ENC.decrypt_file(sealed, plain, AAD)
        assert plain.read_bytes() == pattern(300_000)
    assert leftovers(tmp_path, "plain", "sealed") == []


def links(path: Path) -> list[Path]:
    """The names of the file."""
    hard, soft = path.with_name("hard"), path.with_name("soft")
    os.link(path, hard)
    soft.symlink_to(path)
    return [path, hard, soft, path.parent / "." / path.name]


def test_rejects_the_same_file_as_source_and_target(tmp_path: Path) -> None:
    path, plain = tmp_path / "file", pattern(1000)
    path.write_bytes(plain)
    names = links(path)
    for call, data in (
        (ENC.encrypt_file, plain),
        (ENC.decrypt_file, sealane.encrypt(plain, key=KEY, context=AAD)),
        (ENC.decrypt_old_file, old_file(plain)),
    ):
        path.write_bytes(data)
        for name in names:
            for source, target in ((path, name), (name, path)):
                with pytest.raises(ValueError, match="same file"):
                    call(source, target, AAD)
        assert path.read_bytes() == data
        assert leftovers(tmp_path, "file", "hard", "soft") == []


# ---- files that REncrypt wrote -------------------------------------------------------------------


def read_old(tmp_path: Path, file: bytes, **options: int) -> bytes:
    """Decrypts a file. After a failure the target is unchanged and no other file exists."""
    source, target = tmp_path / "old", tmp_path / "target"
    source.write_bytes(file)
    target.write_bytes(b"as before")
    try:
        ENC.decrypt_old_file(source, target, AAD, **options)
        return target.read_bytes()
    except Exception:
        assert target.read_bytes() == b"as before"
        raise
    finally:
        assert leftovers(tmp_path, "old", "target") == []


@pytest.mark.parametrize("length", [0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 2 * CHUNK, 2 * CHUNK + 5, 5 * CHUNK])
def test_decrypts_old_files(length: int, tmp_path: Path) -> None:
    file = old_file(pattern(length))
    assert file.endswith(bytes(28)) == (length % CHUNK == 0), "those that REncrypt could not read"
    assert read_old(tmp_path, file) == pattern(length)
    assert read_old(tmp_path, file, plaintext_len=length) == pattern(length)


def test_rejects_an_old_file_of_the_other_cipher(tmp_path: Path) -> None:
    enc = REncrypt(Cipher.ChaCha20Poly1305, KEY)
    (tmp_path / "old").write_bytes(old_file(pattern(200_000), enc, b""))
    enc.decrypt_old_file(os.fsencode(tmp_path / "old"), str(tmp_path / "new"), b"")
    assert (tmp_path / "new").read_bytes() == pattern(200_000)


@pytest.mark.parametrize("length", [1, CHUNK, 2 * CHUNK + 5])
def test_detects_accidental_truncation(length: int, tmp_path: Path) -> None:
    file = old_file(pattern(length))
    cuts = {0, 1, 27, len(file) - 29, len(file) - 28, len(file) - 27, len(file) - 1}
    cuts |= {n * SEALED + more for n in range(3) for more in (-1, 0, 1, 27, 28, 29)}
    for cut in sorted(cut for cut in cuts if 0 <= cut < len(file)):
        with pytest.raises((sealane.TruncatedError, sealane.AuthenticationError)):
            read_old(tmp_path, file[:cut])


def test_documented_attacks_are_not_detected(tmp_path: Path) -> None:
    """If one of these is detected, the documentation must change."""
    file = old_file(pattern(3 * CHUNK + 5))
    cut = file[: 2 * SEALED] + bytes(28)
    assert read_old(tmp_path, cut) == pattern(2 * CHUNK)
    other = old_file(bytes(3 * CHUNK + 5))
    mixed = file[:SEALED] + other[SEALED : 2 * SEALED] + file[2 * SEALED :]
    length = 3 * CHUNK + 5
    expected = pattern(CHUNK) + bytes(CHUNK) + pattern(length)[2 * CHUNK :]
    assert read_old(tmp_path, mixed, plaintext_len=length) == expected
    # The length detects the first attack.
    with pytest.raises(
        sealane.TruncatedError, match=f"holds {2 * CHUNK} bytes of plaintext, expected {length}"
    ):
        read_old(tmp_path, cut, plaintext_len=length)
    with pytest.raises(sealane.FormatError, match="expected 10"):
        read_old(tmp_path, cut, plaintext_len=10)


def test_detects_every_other_change(tmp_path: Path) -> None:
    file = old_file(pattern(3 * CHUNK + 5))
    first, second, third, last = (bytes(file[at : at + SEALED]) for at in range(0, len(file), SEALED))
    for changed in (
        second + first + third + last,
        first + first + third + last,
        first + third + last,
        second + third + last,
        first + second + third + third + last,
        first + second + third + last + bytes(28),
        first + second + third + bytes(len(last)),  # a writer that crashed
        bytes(SEALED) + second + third + last,
    ):
        with pytest.raises(sealane.AuthenticationError, match=r"old: authentication failed$"):
            read_old(tmp_path, changed)
    # A wrong end: no zeros, too many, or some.
    for end in (b"", bytes(27), bytes(27) + b"\x01", b"\x01" + bytes(27), last[:28]):
        with pytest.raises(sealane.TruncatedError):
            read_old(tmp_path, first + second + end)
    for at in (0, CHUNK, SEALED - 12, len(file) - 1, 3 * SEALED):
        changed = bytearray(file)
        changed[at] ^= 1
        with pytest.raises(sealane.AuthenticationError):
            read_old(tmp_path, changed)


def test_distinguishes_old_and_new_files(tmp_path: Path) -> None:
    plain, new, old = (tmp_path / name for name in ("plain", "new", "old"))
    plain.write_bytes(pattern(CHUNK))
    ENC.encrypt_file(plain, new, AAD)
    old.write_bytes(old_file(pattern(CHUNK)))
    for source, call in ((new, ENC.decrypt_old_file), (old, ENC.decrypt_file)):
        with pytest.raises((sealane.AuthenticationError, sealane.TruncatedError)):
            call(source, tmp_path / "target", AAD)
    assert leftovers(tmp_path, "plain", "new", "old") == []


def test_targets_of_old_files(tmp_path: Path) -> None:
    old, real, link = tmp_path / "old", tmp_path / "real", tmp_path / "link"
    old.write_bytes(old_file(pattern(1000)))
    real.write_bytes(b"before")
    real.chmod(0o640)
    link.symlink_to("real")
    ENC.decrypt_old_file(old, link, AAD)
    assert link.is_symlink()
    assert real.read_bytes() == pattern(1000)
    assert real.stat().st_mode & 0o777 == 0o640
    assert leftovers(tmp_path, "old", "real", "link") == []
    for source, target, error in (
        (tmp_path / "none", real, FileNotFoundError),
        (tmp_path, real, ValueError),
        (old, tmp_path, ValueError),
        (old, tmp_path / "none" / "file", FileNotFoundError),
        ("/dev/null", real, ValueError),
        (old, "/dev/null", ValueError),
    ):
        with pytest.raises(error):
            ENC.decrypt_old_file(source, target, AAD)
    for wrong in (None, 7, b"\0"):
        with pytest.raises((TypeError, ValueError)):
            ENC.decrypt_old_file(wrong, real, AAD)
    for wrong in ("text", None):
        with pytest.raises(TypeError):
            ENC.decrypt_old_file(old, real, wrong)
    with pytest.raises(TypeError):
        ENC.decrypt_old_file(old, real, AAD, plaintext_len="1000")
    assert real.read_bytes() == pattern(1000)
    assert leftovers(tmp_path, "old", "real", "link") == []


def test_a_failed_write_is_reported_with_the_target(tmp_path: Path) -> None:
    """A limit on the size of files stands for a full disk."""
    old, target = tmp_path / "old", tmp_path / "target"
    old.write_bytes(old_file(pattern(200_000)))
    resource = pytest.importorskip("resource")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (150_000, before[1]))
    try:
        with pytest.raises(OSError, match="File too large") as raised:
            ENC.decrypt_old_file(old, target, AAD)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert raised.value.filename == str(target)
    assert leftovers(tmp_path, "old") == []
