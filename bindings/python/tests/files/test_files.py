"""Whole files: paths, file objects and pipes, and the errors of bad input."""

from __future__ import annotations

import errno
import io
import os
import re
import stat
import threading
from collections.abc import Callable
from pathlib import Path

import fsspec
import pytest
import sealane
from hypothesis import given, settings
from hypothesis import strategies as st
from support import BORDERS, CHUNK, HEADER, SEALED_CHUNK, leftovers, pattern

KEY = pattern(32)
LENGTH = 3 * CHUNK + 100


@pytest.fixture
def plain(tmp_path: Path) -> Path:
    path = tmp_path / "plain"
    path.write_bytes(pattern(LENGTH))
    return path


@pytest.fixture
def sealed(tmp_path: Path) -> Path:
    path = tmp_path / "sealed"
    path.write_bytes(sealane.encrypt(pattern(LENGTH), key=KEY, context=b"context"))
    return path


@pytest.mark.parametrize("key", [pattern(16), pattern(32), bytearray(32), sealane.keys.generate("aes-128")])
@pytest.mark.parametrize("length", BORDERS)
def test_files_round_trip(tmp_path: Path, length: int, key: bytes | sealane.keys.Key) -> None:
    plain, sealed, again = tmp_path / "plain", tmp_path / "sealed", tmp_path / "again"
    plain.write_bytes(pattern(length))
    sealane.encrypt_file(plain, str(sealed), key=key, context=b"c", threads=2)
    assert sealed.stat().st_size == HEADER + length + 16 * (length // CHUNK + 1)
    sealane.verify_file(sealed, key=key, context=b"c")
    sealane.decrypt_file(str(sealed), again, key=key, context=bytearray(b"c"), durable=True)
    assert again.read_bytes() == pattern(length)
    assert sealane.decrypt(sealed.read_bytes(), key=key, context=b"c") == pattern(length)
    again.write_bytes(sealane.encrypt(memoryview(pattern(length)), key=key, context=b"c"))
    sealane.decrypt_file(again, again.with_suffix(".out"), key=key, context=b"c")
    assert again.with_suffix(".out").read_bytes() == pattern(length)
    info = sealane.inspect(sealed)
    assert (info.format, info.plaintext_len, info.chunks, info.chunk_len) == (
        "chunked-encryption@v1",
        length,
        length // CHUNK + 1,
        CHUNK,
    )


@pytest.mark.parametrize("length", [0, 1, CHUNK, 5_000_003])
def test_file_objects_as_source_and_destination(tmp_path: Path, length: int) -> None:
    plain, sealed, again = tmp_path / "plain", tmp_path / "sealed", tmp_path / "again"
    plain.write_bytes(pattern(length))
    memory = io.BytesIO()
    with plain.open("rb") as source:
        sealane.encrypt_file(source, memory, key=KEY)
        assert not source.closed
    assert not memory.closed
    sealane.encrypt_file(io.BytesIO(pattern(length)), sealed, key=KEY)
    memory.seek(0)
    sealane.verify_file(memory, key=KEY)
    memory.seek(0)
    sealane.decrypt_file(memory, again, key=KEY)
    assert again.read_bytes() == pattern(length)
    out = io.BytesIO()
    sealane.decrypt_file(sealed, out, key=KEY)
    assert out.getvalue() == pattern(length)
    remote = fsspec.filesystem("memory")
    with remote.open("/sealed", "wb") as target:
        sealane.encrypt_file(plain, target, key=KEY)
    with remote.open("/sealed", "rb") as source, again.open("wb") as target:
        sealane.decrypt_file(source, target, key=KEY)
    assert again.read_bytes() == pattern(length)


class Dribble(io.RawIOBase):
    """Reads and writes a few bytes at a time, as a socket may."""

    def __init__(self, data: bytes = b"") -> None:
        self.inner = io.BytesIO(data)

    def readable(self) -> bool:
        return True

    def writable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        return self.inner.read(min(size, 7919))

    def write(self, data: bytes) -> int:
        return self.inner.write(data[:4999])


def test_short_reads_and_writes() -> None:
    out, back = Dribble(), Dribble()
    sealane.encrypt_file(Dribble(pattern(300_000)), out, key=KEY)
    sealane.decrypt_file(Dribble(out.inner.getvalue()), back, key=KEY)
    assert back.inner.getvalue() == pattern(300_000)


class Silent:
    """A file object that writes everything and returns None instead of a number."""

    def __init__(self) -> None:
        self.data = b""

    def write(self, data: bytes) -> None:
        self.data += data


def test_accepts_a_write_that_returns_none() -> None:
    out = Silent()
    sealane.encrypt_file(io.BytesIO(b"data"), out, key=KEY)
    assert sealane.decrypt(out.data, key=KEY) == b"data"


@pytest.mark.parametrize("named", [False, True])
def test_pipes(tmp_path: Path, named: bool) -> None:
    """A pipe as a file object, and a named pipe."""
    data, got = pattern(2_000_001), io.BytesIO()

    def pair() -> tuple[object, object]:
        if named:
            os.mkfifo(tmp_path / "pipe")
            return tmp_path / "pipe", tmp_path / "pipe"
        reading, writing = os.pipe()
        return os.fdopen(reading, "rb", buffering=0), os.fdopen(writing, "wb", buffering=0)

    source, target = pair()

    def write() -> None:
        sealane.encrypt_file(io.BytesIO(data), target, key=KEY)
        if not named:
            target.close()

    thread = threading.Thread(target=write)
    thread.start()
    sealane.decrypt_file(source, got, key=KEY)
    thread.join()
    assert got.getvalue() == data
    if named:
        assert stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)
    else:
        source.close()


def test_rejects_wrong_sources_and_destinations(tmp_path: Path, plain: Path) -> None:
    out = tmp_path / "out"
    with plain.open() as text, pytest.raises(TypeError, match="binary"):
        sealane.encrypt_file(text, out, key=KEY)
    with pytest.raises(TypeError, match="binary"):
        sealane.encrypt_file(plain, io.StringIO(), key=KEY)
    for wrong in 3, None, b"bytes", object():
        with pytest.raises(TypeError):
            sealane.encrypt_file(wrong, out, key=KEY)
        with pytest.raises(TypeError):
            sealane.decrypt_file(plain, wrong, key=KEY)
        with pytest.raises(TypeError):
            sealane.open(wrong, key=KEY)
    with pytest.raises(ValueError, match=r"(?i)nul"):
        sealane.encrypt_file("a\0b", out, key=KEY)
    with pytest.raises(TypeError):
        sealane.encrypt_file(plain, out)
    with pytest.raises(TypeError):
        sealane.encrypt_file(plain, out, key="password" * 4)
    with pytest.raises(TypeError):
        sealane.encrypt_file(plain, out, key=KEY, context="text")
    for length in 0, 24, 31:
        with pytest.raises(ValueError, match="16 or 32 bytes"):
            sealane.encrypt_file(plain, out, key=bytes(length))
    with pytest.raises(ValueError, match="threads"):
        sealane.encrypt_file(plain, out, key=KEY, threads=0)
    assert leftovers(tmp_path, "plain") == []


Do = Callable[..., None]
DECRYPT: list[Do] = [
    sealane.decrypt_file,
    lambda src, dst, **how: sealane.decrypt_file(io.BytesIO(Path(src).read_bytes()), dst, **how),
    lambda src, dst, **how: sealane.verify_file(src, **how),
    lambda src, dst, **how: sealane.verify_file(io.BytesIO(Path(src).read_bytes()), **how),
    lambda src, dst, **how: sealane.decrypt(Path(src).read_bytes(), **how),
    lambda src, dst, **how: sealane.open(src, **how).read(),
]


@pytest.mark.parametrize("do", DECRYPT)
@pytest.mark.parametrize(
    "how", [{"key": bytes(32), "context": b"context"}, {"key": KEY}, {"key": KEY[:16], "context": b"context"}]
)
def test_rejects_another_key_or_context(tmp_path: Path, sealed: Path, do: Do, how: dict[str, bytes]) -> None:
    with pytest.raises(sealane.AuthenticationError):
        do(sealed, tmp_path / "out", **how)
    assert leftovers(tmp_path, "sealed") == []


def damaged() -> dict[str, Callable[[bytes], bytes]]:
    def flip(at: int) -> Callable[[bytes], bytes]:
        return lambda file: file[:at] + bytes([file[at] ^ 1]) + file[at + 1 :]

    def chunk(index: int) -> slice:
        return slice(HEADER + index * SEALED_CHUNK, HEADER + (index + 1) * SEALED_CHUNK)

    places = [0, 23, 24, 55, 56, HEADER + SEALED_CHUNK - 1, HEADER + SEALED_CHUNK, -1, -100]
    cuts = [0, 1, 55, 56, 71, HEADER + SEALED_CHUNK, HEADER + 3 * SEALED_CHUNK, HEADER + 100, -1, -16]
    return {
        **{f"bit flipped at {at}": flip(at % (HEADER + 3 * SEALED_CHUNK + 116)) for at in places},
        **{f"cut at {at}": lambda file, at=at: file[:at] for at in cuts},  # type: ignore[misc]
        "trailing byte": lambda file: file + b"\0",
        "trailing chunk": lambda file: file + file[chunk(0)],
        "first two chunks swapped": lambda file: (
            file[:HEADER] + file[chunk(1)] + file[chunk(0)] + file[chunk(2).start :]
        ),
        "chunk doubled": lambda file: file[: chunk(0).stop] + file[chunk(0).start :],
        "chunk dropped": lambda file: file[: chunk(1).start] + file[chunk(2).start :],
        "first chunk only": lambda file: file[: chunk(0).stop],
    }


@pytest.mark.parametrize("do", DECRYPT)
@pytest.mark.parametrize("how", damaged())
def test_detects_damage(tmp_path: Path, sealed: Path, do: Do, how: str) -> None:
    whole = sealed.read_bytes()
    sealed.write_bytes(damaged()[how](whole))
    with pytest.raises((sealane.AuthenticationError, sealane.TruncatedError)) as caught:
        do(sealed, tmp_path / "out", key=KEY, context=b"context")
    # The position of a damaged chunk is known only if the header has verified the key.
    damaged_chunk = r": chunk \d+ at byte \d+ was changed, or the file was cut off there"
    expected = rf"authentication failed({damaged_chunk})?|truncated: the data ends too early"
    assert re.fullmatch(expected, str(caught.value))
    assert leftovers(tmp_path, "sealed") == []


WHOLE = sealane.encrypt(pattern(CHUNK + 50), key=KEY)


@settings(max_examples=300)
@given(st.integers(0, len(WHOLE) * 8 - 1), st.integers(0, len(WHOLE) - 1))
def test_detects_any_change(bit: int, cut: int) -> None:
    flipped = bytearray(WHOLE)
    flipped[bit // 8] ^= 1 << bit % 8
    with pytest.raises(sealane.AuthenticationError):
        sealane.decrypt(flipped, key=KEY)
    with pytest.raises((sealane.AuthenticationError, sealane.TruncatedError)):
        sealane.decrypt(WHOLE[:cut], key=KEY)


# claim: file-stream
def test_a_file_object_receives_verified_chunks_only() -> None:
    """The chunks before the damage may be written, but no byte after them."""
    data = pattern(40 * CHUNK)
    file = bytearray(sealane.encrypt(data, key=KEY))
    file[HEADER + 33 * SEALED_CHUNK] ^= 1
    out = io.BytesIO()
    with pytest.raises(sealane.AuthenticationError):
        sealane.decrypt_file(io.BytesIO(file), out, key=KEY)
    assert data.startswith(out.getvalue())
    assert len(out.getvalue()) <= 33 * CHUNK


@pytest.mark.parametrize("do", [sealane.encrypt_file, sealane.decrypt_file])
def test_rejects_sources_that_are_not_files(tmp_path: Path, do: Do) -> None:
    out, missing = tmp_path / "out", tmp_path / "missing"
    with pytest.raises(FileNotFoundError) as caught:
        do(missing, out, key=KEY)
    assert (caught.value.errno, caught.value.filename) == (errno.ENOENT, str(missing))
    assert caught.value.strerror == os.strerror(errno.ENOENT)
    with pytest.raises(IsADirectoryError) as directory:
        do(tmp_path, out, key=KEY)
    assert (directory.value.errno, directory.value.filename) == (errno.EISDIR, str(tmp_path))
    with pytest.raises(FileNotFoundError):
        do(missing, io.BytesIO(), key=KEY)
    with pytest.raises(IsADirectoryError):
        sealane.open(tmp_path, key=KEY)
    with pytest.raises(FileNotFoundError):
        sealane.open(missing, key=KEY)
    assert leftovers(tmp_path) == []


def test_a_file_name_that_is_not_unicode(tmp_path: Path, plain: Path) -> None:
    """A file name is bytes for the system. Python represents it with surrogates."""
    name = os.fsdecode(os.fsencode(tmp_path) + b"/\xff\xfe")
    sealane.encrypt_file(plain, name, key=KEY)
    assert sealane.open(name, key=KEY).read() == pattern(LENGTH)
    os.unlink(name)
    with pytest.raises(FileNotFoundError) as caught:
        sealane.decrypt_file(name, tmp_path / "out", key=KEY)
    assert caught.value.filename == name


def test_inspect_rejects_what_is_not_a_regular_file(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(io.UnsupportedOperation):
        sealane.inspect(tmp_path / "pipe")
    with pytest.raises(IsADirectoryError):
        sealane.inspect(tmp_path)
    for wrong in b"bytes", 3, None, io.BytesIO():
        with pytest.raises(TypeError):
            sealane.inspect(wrong)


def test_an_empty_file(tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.touch()
    for do in DECRYPT:
        with pytest.raises(sealane.TruncatedError):
            do(empty, tmp_path / "out", key=KEY)
    with pytest.raises(sealane.TruncatedError):
        sealane.inspect(empty)
    assert leftovers(tmp_path, "empty") == []


@pytest.mark.parametrize("object_source", [False, True])
def test_reports_targets_that_cannot_be_written(
    tmp_path: Path, plain: Path, sealed: Path, object_source: bool
) -> None:
    def attempts(target: object) -> list[Callable[[], object]]:
        def source(path: Path) -> object:
            return io.BytesIO(path.read_bytes()) if object_source else path

        return [
            lambda: sealane.encrypt_file(source(plain), target, key=KEY),
            lambda: sealane.decrypt_file(source(sealed), target, key=KEY, context=b"context"),
        ]

    read_only = tmp_path / "read-only"
    read_only.write_bytes(b"keep me")
    read_only.chmod(0o444)
    for target, error in (
        (tmp_path, IsADirectoryError),
        (tmp_path / "no folder" / "out", FileNotFoundError),
        (plain / "out", NotADirectoryError),
    ):
        for attempt in attempts(target):
            with pytest.raises(error):
                attempt()
    for attempt in attempts("/dev/full"):
        with pytest.raises(OSError, match="No space left") as caught:
            attempt()
        assert caught.value.errno == errno.ENOSPC
    assert stat.S_ISCHR(os.stat("/dev/full").st_mode)
    for attempt in attempts(read_only):
        if not (object_source and os.geteuid() == 0):
            with pytest.raises(PermissionError):
                attempt()
            assert read_only.read_bytes() == b"keep me"
    assert leftovers(tmp_path, "plain", "sealed", "read-only") == []


# claim: disk-atomic
@pytest.mark.parametrize("link", ["same", "symlink", "hard link"])
def test_rejects_the_same_file_as_source_and_target(
    tmp_path: Path, plain: Path, sealed: Path, link: str
) -> None:
    for do, path in (sealane.encrypt_file, plain), (sealane.decrypt_file, sealed):
        before = path.read_bytes()
        target = path if link == "same" else tmp_path / "link"
        if link == "symlink":
            target.symlink_to(path)
        elif link == "hard link":
            target.hardlink_to(path)
        with pytest.raises(ValueError, match="same file"):
            do(path, target, key=KEY, context=b"context")
        assert path.read_bytes() == before
        assert leftovers(tmp_path, "plain", "sealed", "link") == []
        (tmp_path / "link").unlink(missing_ok=True)


# claim: disk-atomic
@pytest.mark.parametrize("source", ["path", "object"])
def test_replaces_an_existing_target_atomically(tmp_path: Path, plain: Path, source: str) -> None:
    real, target = tmp_path / "real", tmp_path / "target"
    real.write_bytes(b"before")
    real.chmod(0o640)
    target.symlink_to(real)
    sealed = tmp_path / "sealed"
    sealane.encrypt_file(plain, sealed, key=KEY)
    damaged = bytearray(sealed.read_bytes())
    damaged[-1] ^= 1
    bad = tmp_path / "bad"
    bad.write_bytes(damaged)

    def place(path: Path) -> object:
        return path if source == "path" else io.BytesIO(path.read_bytes())

    with pytest.raises(sealane.AuthenticationError):
        sealane.decrypt_file(place(bad), target, key=KEY)
    assert target.read_bytes() == b"before"
    sealane.decrypt_file(place(sealed), target, key=KEY)
    assert target.is_symlink()
    assert real.read_bytes() == pattern(LENGTH)
    assert stat.S_IMODE(real.stat().st_mode) == 0o640
    assert leftovers(tmp_path, "plain", "sealed", "bad", "real", "target") == []


class Refuses:
    """A file object that raises an error after a given number of bytes."""

    def __init__(self, after: int) -> None:
        self.left = after

    def read(self, n: int) -> bytes:
        self.left -= n
        if self.left < 0:
            raise RuntimeError("the link is down")
        return bytes(n)

    def write(self, data: bytes) -> int:
        self.read(len(data))
        return len(data)


def test_raises_the_exception_of_a_file_object_unchanged(tmp_path: Path) -> None:
    out = tmp_path / "out"
    big = sealane.encrypt(bytes(5_000_000), key=KEY)
    for attempt in (
        lambda: sealane.encrypt_file(Refuses(3_000_000), out, key=KEY),
        lambda: sealane.encrypt_file(io.BytesIO(bytes(5_000_000)), Refuses(3_000_000), key=KEY),
        lambda: sealane.decrypt_file(io.BytesIO(big), Refuses(3_000_000), key=KEY),
        lambda: sealane.decrypt_file(Refuses(0), out, key=KEY),
    ):
        with pytest.raises(RuntimeError, match="the link is down"):
            attempt()
    assert leftovers(tmp_path) == []


def test_durable_file_objects_are_on_the_disk(
    plain: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[int] = []
    monkeypatch.setattr(os, "fsync", lambda number: synced.append(os.fstat(number).st_size))
    for durable in True, False:
        with open(tmp_path / "sealed", "wb") as file:
            sealane.encrypt_file(plain, file, key=KEY, durable=durable)
        with open(tmp_path / "out", "wb") as file:
            sealane.decrypt_file(tmp_path / "sealed", file, key=KEY, durable=durable)
    whole = (tmp_path / "sealed").stat().st_size
    with open(tmp_path / "open", "wb") as file, sealane.open(file, "wb", key=KEY, durable=True) as out:
        out.write(pattern(10))
    sealane.encrypt_file(plain, io.BytesIO(), key=KEY, durable=True)
    with open(os.devnull, "wb") as file:
        sealane.encrypt_file(plain, file, key=KEY, durable=True)
    assert synced == [whole, LENGTH, (tmp_path / "open").stat().st_size]


@pytest.mark.parametrize(
    ("threads", "error"), [(0, ValueError), (-1, ValueError), ("2", TypeError), (1.5, TypeError)]
)
def test_threads_are_checked_for_every_kind_of_file(
    threads: int, error: type[Exception], sealed: Path
) -> None:
    how = {"key": KEY, "context": b"context", "threads": threads}
    sink = io.BytesIO()
    for call in (
        lambda: sealane.encrypt_file(io.BytesIO(b"data"), sink, key=KEY, threads=threads),
        lambda: sealane.encrypt_file(sealed, sealed.parent / "out", key=KEY, threads=threads),
        lambda: sealane.decrypt_file(io.BytesIO(sealed.read_bytes()), sink, **how),
        lambda: sealane.decrypt_file(sealed, sealed.parent / "out", **how),
        lambda: sealane.verify_file(io.BytesIO(sealed.read_bytes()), **how),
        lambda: sealane.verify_file(sealed, **how),
    ):
        with pytest.raises(error):
            call()
    assert sink.getvalue() == b""
    assert leftovers(sealed.parent, "sealed") == []
