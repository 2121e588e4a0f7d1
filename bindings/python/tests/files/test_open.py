"""Tests of `sealane.open` and of the file objects that it returns."""

from __future__ import annotations

import contextlib
import copy
import csv
import gc
import io
import os
import pickle
import tarfile
import threading
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO

import numpy as np
import pytest
import sealane
from hypothesis import given
from hypothesis import strategies as st
from support import BORDERS, CHUNK, HEADER, SEALED_CHUNK, leftovers, pattern

KEY = pattern(32)
LENGTH = 5 * CHUNK + 1234
DATA = pattern(LENGTH)
SEALED = sealane.encrypt(DATA, key=KEY)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "sealed"
    path.write_bytes(SEALED)
    return path


@pytest.mark.parametrize("length", BORDERS)
def test_every_read_method(tmp_path: Path, length: int) -> None:
    data, path = pattern(length), tmp_path / "sealed"
    with sealane.open(path, "wb", key=KEY, context=b"c") as f:
        assert f.write(data[:100]) == len(data[:100])
        assert f.write(memoryview(data)[100:]) == len(data[100:])
        assert f.tell() == length
    for source in path, io.BytesIO(path.read_bytes()):
        with sealane.open(source, "rb", key=KEY, context=b"c") as f:
            assert f.size == length
            assert f.read() == data
            assert f.read() == f.read(10) == f.peek() == b""
            assert f.seek(0) == f.tell() == 0
            assert f.readall() == data
            f.seek(0)
            assert b"".join(iter(lambda: f.read1(1000), b"")) == data
            out = bytearray(length + 10)
            f.seek(0)
            assert f.readinto(out) == length
            assert out == data + bytes(10)
            assert f.seek(-min(5, length), os.SEEK_END) == max(0, length - 5)
            assert f.read(100) == data[-5:]


@given(st.lists(st.tuples(st.integers(0, LENGTH + 50), st.integers(0, 3 * CHUNK)), max_size=20))
def test_random_access(reads: list[tuple[int, int]]) -> None:
    file = sealane.open(io.BytesIO(SEALED), key=KEY)
    for at, n in reads:
        file.seek(at)
        assert file.peek()[:1] == DATA[at : at + 1]
        assert file.read(n) == DATA[at : at + n]
        assert file.tell() == at + len(DATA[at : at + n])


def test_attributes_of_a_file_object(path: Path) -> None:
    f = sealane.open(path, key=KEY)
    assert isinstance(f, io.RawIOBase)
    assert (f.mode, f.name, f.closed) == ("rb", str(path), False)
    assert (f.readable(), f.writable(), f.seekable()) == (True, False, True)
    assert f.seek(10) == 10
    assert f.seek(5, os.SEEK_CUR) == 15
    assert f.seek(np.int64(3)) == 3
    for offset, whence in (-1, 0), (-100, 1), (-LENGTH - 1, 2), (0, 9), (1 << 63, 0):
        with pytest.raises(ValueError, match=r"position|whence"):
            f.seek(offset, whence)
    with pytest.raises(TypeError):
        f.seek(1.5)
    assert f.tell() == 3
    with pytest.raises(io.UnsupportedOperation):
        f.write(b"data")
    with pytest.raises(io.UnsupportedOperation):
        f.truncate()
    with pytest.raises(TypeError, match="read-only"):
        f.readinto(b"bytes")
    for way in pickle.dumps, copy.copy:
        with pytest.raises(TypeError, match="never pickled"):
            way(f)
    f.close()
    f.close()
    assert f.closed
    for call in f.read, f.tell, f.peek, f.readall, f.readable, lambda: f.seek(0), lambda: f.size, f.__enter__:
        with pytest.raises(ValueError, match="closed"):
            call()
    for mode in "r", "w", "ab", "r+b", "x", "":
        with pytest.raises(ValueError, match="mode"):
            sealane.open(path, mode, key=KEY)


def test_a_pipe_cannot_be_read_at_any_position(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    threading.Thread(target=lambda: (tmp_path / "pipe").write_bytes(sealane.encrypt(b"", key=KEY))).start()
    with sealane.open(tmp_path / "pipe", key=KEY) as file:
        assert file.read() == b""
        with pytest.raises(io.UnsupportedOperation):
            file.seek(0)


@pytest.fixture
def piped() -> Iterator[Callable[[bytes], IO[bytes]]]:
    """Returns a function that makes a pipe with this content, and closes the pipes at the end."""
    with contextlib.ExitStack() as stack:

        def pipe(content: bytes) -> IO[bytes]:
            reading, writing = os.pipe()
            source = stack.enter_context(os.fdopen(reading, "rb"))

            def write() -> None:
                with contextlib.suppress(BrokenPipeError), os.fdopen(writing, "wb") as sink:
                    sink.write(content)

            thread = threading.Thread(target=write)
            thread.start()
            stack.callback(thread.join)
            stack.callback(source.close)
            return source

        yield pipe


def test_a_pipe_as_a_file_object_is_read_in_order(piped: Callable[[bytes], IO[bytes]]) -> None:
    archive = io.BytesIO()
    contents = {f"{n}.bin": os.urandom(n * 40_000) for n in range(5)}
    with tarfile.open(fileobj=archive, mode="w") as tar:
        for name, content in contents.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            tar.addfile(info, io.BytesIO(content))
    sealed = sealane.encrypt(archive.getvalue(), key=KEY)
    source = piped(sealed)
    with sealane.open(source, key=KEY) as file:
        assert not file.seekable()
        with tarfile.open(fileobj=file, mode="r|") as tar:
            assert {info.name: tar.extractfile(info).read() for info in tar} == contents  # type: ignore[union-attr]
    assert not source.closed
    # What comes before a changed chunk is read; the changed chunk and a missing end are not.
    changed = bytearray(sealed)
    changed[200_000] ^= 1
    for damaged in (bytes(changed), sealed[:200_000]):
        with sealane.open(piped(damaged), key=KEY) as file:
            assert file.read(100_000) == archive.getvalue()[:100_000]
            with pytest.raises(sealane.exceptions.SealaneError):
                file.read()


def test_text(tmp_path: Path, piped: Callable[[bytes], IO[bytes]]) -> None:
    text = "naïve\n" * 20_000
    with sealane.open(tmp_path / "sealed", "wt", key=KEY) as file:
        file.write(text)
    with sealane.open(tmp_path / "sealed", "rt", key=KEY) as file:
        assert file.read() == text
    with sealane.open(piped((tmp_path / "sealed").read_bytes()), "rt", key=KEY) as file:
        assert list(file) == text.splitlines(keepends=True)
    with sealane.open(tmp_path / "other", "xt", key=KEY, encoding="latin-1", newline="\r\n") as file:
        file.write("ï\n")
    assert sealane.decrypt((tmp_path / "other").read_bytes(), key=KEY) == b"\xef\r\n"
    with pytest.raises(RuntimeError), sealane.open(tmp_path / "lost", "wt", key=KEY) as file:
        file.write(text)
        raise RuntimeError
    assert not (tmp_path / "lost").exists()
    with pytest.raises(ValueError, match="encoding"):
        sealane.open(tmp_path / "sealed", key=KEY, encoding="latin-1")


def test_reads_lines(tmp_path: Path) -> None:
    lines = [b"x" * (n * 37 % 9000) + b"\n" for n in range(200)] + [b"the last one"]
    sealed = sealane.encrypt(b"".join(lines), key=KEY)
    assert list(sealane.open(io.BytesIO(sealed), key=KEY)) == lines
    assert list(io.BufferedReader(sealane.open(io.BytesIO(sealed), key=KEY))) == lines
    text = io.TextIOWrapper(sealane.open(io.BytesIO(sealed), key=KEY), encoding="ascii")
    assert list(text) == [line.decode() for line in lines]


def test_csv_and_zip(tmp_path: Path) -> None:
    rows = [[str(n), "ä" * (n % 50)] for n in range(3000)]
    with (
        sealane.open(tmp_path / "table", "wb", key=KEY) as f,
        io.TextIOWrapper(f, encoding="utf-8", newline="") as text,
    ):
        csv.writer(text).writerows(rows)
    with sealane.open(tmp_path / "table", key=KEY) as f:
        assert list(csv.reader(io.TextIOWrapper(f, encoding="utf-8", newline=""))) == rows
    with sealane.open(tmp_path / "zip", "wb", key=KEY) as f, zipfile.ZipFile(f, "w") as archive:
        for n in range(5):
            archive.writestr(f"member {n}", pattern(n * 10_000))
    with sealane.open(tmp_path / "zip", key=KEY) as f, zipfile.ZipFile(f) as archive:
        assert archive.testzip() is None
        assert archive.read("member 3") == pattern(30_000)


# claim: file-reader
def test_detects_damage_where_it_is_read(path: Path) -> None:
    damaged = bytearray(SEALED)
    damaged[HEADER + SEALED_CHUNK] ^= 1
    path.write_bytes(damaged)
    with sealane.open(path, key=KEY) as f:
        assert f.read(CHUNK) == DATA[:CHUNK]
        for n in 1, CHUNK, LENGTH:
            with pytest.raises(sealane.AuthenticationError):
                f.read(n)
            assert f.tell() == CHUNK
        out = bytearray(b"\xaa" * CHUNK)
        with pytest.raises(sealane.AuthenticationError):
            f.readinto(out)
        assert out in (bytes(CHUNK), b"\xaa" * CHUNK)
        f.seek(2 * CHUNK)
        assert f.read() == DATA[2 * CHUNK :]


# claim: file-reader
def test_verifies_the_size_on_opening(path: Path) -> None:
    for cut in HEADER + 2 * SEALED_CHUNK + 500, HEADER + 2 * SEALED_CHUNK:
        path.write_bytes(SEALED[:cut])
        with pytest.raises((sealane.AuthenticationError, sealane.TruncatedError)):
            sealane.open(path, key=KEY)


def test_a_file_that_shrinks_while_it_is_read(path: Path) -> None:
    with sealane.open(path, key=KEY) as f:
        os.truncate(path, 1000)
        with pytest.raises(OSError, match="became shorter") as caught:
            f.read()
        assert caught.value.filename == str(path)


@pytest.mark.parametrize("kind", ["path", "object"])
def test_threads_share_a_file(path: Path, kind: str) -> None:
    """All threads share one position, so together they read every byte once."""
    data = pattern(4 << 20)
    path.write_bytes(sealane.encrypt(data, key=KEY))
    with path.open("rb") as inner, sealane.open(path if kind == "path" else inner, key=KEY) as f:
        pieces: list[bytes] = []

        def work() -> None:
            while piece := f.read(50_000):
                pieces.append(piece)

        threads = [threading.Thread(target=work) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sorted(pieces) == sorted(data[at : at + 50_000] for at in range(0, len(data), 50_000))
        # Large enough for worker threads of the core, which then call Python.
        f.seek(0)
        assert f.read() == data
    big = pattern(9 << 20)
    assert sealane.open(io.BytesIO(sealane.encrypt(big, key=KEY)), key=KEY).read() == big


def test_a_file_appears_only_after_a_clean_exit(tmp_path: Path) -> None:
    path = tmp_path / "sealed"
    with sealane.open(path, "wb", key=KEY) as f:
        assert (f.mode, f.name, f.readable(), f.writable(), f.seekable()) == (
            "wb",
            str(path),
            False,
            True,
            False,
        )
        f.write(DATA)
        f.flush()
        assert not path.exists()
        for call in f.read, lambda: f.readinto(bytearray(1)), lambda: f.seek(0), f.truncate:
            with pytest.raises(io.UnsupportedOperation):
                call()
    assert sealane.decrypt(path.read_bytes(), key=KEY) == DATA
    f.close()
    with pytest.raises(ValueError, match="closed"):
        f.write(b"more")
    path.unlink()

    with pytest.raises(RuntimeError, match="stop"), sealane.open(path, "wb", key=KEY) as f:
        f.write(bytes(5 << 20))
        raise RuntimeError("stop")
    f.close()
    assert leftovers(tmp_path) == []

    forgotten = sealane.open(path, "wb", key=KEY)
    forgotten.write(DATA)
    del forgotten
    gc.collect()
    assert leftovers(tmp_path) == []

    discarded = sealane.open(path, "wb", key=KEY)
    discarded.discard()
    assert discarded.closed
    assert leftovers(tmp_path) == []

    path.write_bytes(b"before")
    with pytest.raises(KeyboardInterrupt), sealane.open(path, "wb", key=KEY) as f:
        raise KeyboardInterrupt
    assert path.read_bytes() == b"before"
    closed = sealane.open(path, "wb", key=KEY, durable=True)
    closed.close()
    assert sealane.decrypt(path.read_bytes(), key=KEY) == b""
    with pytest.raises(IsADirectoryError):
        sealane.open(tmp_path, "wb", key=KEY)
    with pytest.raises(ValueError, match="16 or 32"):
        sealane.open(path, "wb", key=b"short")


def test_a_file_object_that_was_not_finished_is_truncated() -> None:
    out = io.BytesIO()
    with pytest.raises(RuntimeError), sealane.open(out, "wb", key=KEY) as f:
        f.write(bytes(3 << 20))
        raise RuntimeError
    assert not out.closed
    with pytest.raises(sealane.TruncatedError):
        sealane.decrypt(out.getvalue(), key=KEY)


class Full(io.RawIOBase):
    """A file object that takes one piece and then blocks in the next call."""

    taken = 0

    def writable(self) -> bool:
        return True

    def write(self, data: bytes) -> int:
        self.taken += 1
        if self.taken == 2:
            raise OSError(28, "No space left on device")
        return len(data)


def test_a_failed_write_ends_the_file() -> None:
    """Going on would seal other bytes under a used nonce."""
    f = sealane.open(Full(), "wb", key=KEY)
    with pytest.raises(OSError, match="No space left"):
        f.write(bytes(3 << 20))
    with pytest.raises(ValueError, match="lost by an earlier failure"):
        f.write(b"more")
    with pytest.raises(ValueError, match="lost by an earlier failure"):
        f.close()
    assert f.closed


def test_a_device_is_not_replaced() -> None:
    with pytest.raises(OSError, match="No space left"), sealane.open("/dev/full", "wb", key=KEY) as f:
        f.write(bytes(3 << 20))
    with sealane.open(os.devnull, "wb", key=KEY) as f:
        f.write(b"data")
    assert os.path.exists("/dev/full")
    assert not os.path.isfile(os.devnull)
