"""File objects behave as those of Python do, so that other libraries can use them."""

from __future__ import annotations

import codecs
import errno
import io
import os
import threading
import time
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import fsspec
import pytest
import sealane
from fsspec.implementations.memory import MemoryFileSystem
from sealane.fs import SealaneFileSystem
from support import CHUNK, HEADER, SEALED_CHUNK, leftovers, pattern

KEY = sealane.keys.Key.from_bytes(pattern(32))


class Index:
    """A number that is neither int nor a subclass."""

    def __init__(self, value: int) -> None:
        self.value = value

    def __index__(self) -> int:
        return self.value


@pytest.fixture(autouse=True)
def reference(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATASET_KEY", KEY.to_text())


def readers(tmp_path: Path, data: bytes) -> Iterator[Any]:
    """Yields open files with this plaintext, of every kind."""
    (tmp_path / "sealed").write_bytes(sealane.encrypt(data, key=KEY))
    yield sealane.open(tmp_path / "sealed", key=KEY)
    yield sealane.open(io.BytesIO(sealane.encrypt(data, key=KEY)), key=KEY)
    for below, path in (
        (fsspec.filesystem("file"), str(tmp_path / "sealed")),
        (MemoryFileSystem(global_store=False, skip_instance_cache=True), "/sealed"),
    ):
        below.pipe_file(path, sealane.encrypt(data, key=KEY))
        yield SealaneFileSystem(fs=below, key="env:DATASET_KEY", skip_instance_cache=True).open(path)


def writers(tmp_path: Path) -> Iterator[Any]:
    """Yields files that are being written, of every kind."""
    yield sealane.open(tmp_path / "sealed", "wb", key=KEY)
    yield sealane.open(io.BytesIO(), "wb", key=KEY)
    for below, path in (
        (fsspec.filesystem("file"), str(tmp_path / "sealed")),
        (MemoryFileSystem(global_store=False, skip_instance_cache=True), "/sealed"),
    ):
        fs = SealaneFileSystem(fs=below, key="env:DATASET_KEY", skip_instance_cache=True)
        yield fs.open(path, "wb")


def test_a_seek_before_the_start_is_an_error_of_both_kinds(tmp_path: Path) -> None:
    for file in readers(tmp_path, pattern(100)):
        with file:
            file.seek(7)
            for offset, whence in ((-1, 0), (-8, 1), (-101, 2), (1 << 63, 0)):
                with pytest.raises(OSError, match="position must be") as raised:
                    file.seek(offset, whence)
                assert isinstance(raised.value, ValueError)
                assert raised.value.errno == errno.EINVAL
            assert file.tell() == 7
            assert file.seek(Index(-3), Index(2)) == 97
            with pytest.raises(ValueError, match="whence"):
                file.seek(0, 9)


@pytest.mark.parametrize("content", [b"", b"short", bytes(21), pattern(300)])
def test_zipfile_recognises_what_is_no_archive(tmp_path: Path, content: bytes) -> None:
    for file in readers(tmp_path, content):
        with file:
            assert not zipfile.is_zipfile(file)
            with pytest.raises(zipfile.BadZipFile):
                zipfile.ZipFile(file)


def test_zipfile_reads_an_empty_archive(tmp_path: Path) -> None:
    archive = io.BytesIO()
    zipfile.ZipFile(archive, "w").close()
    for file in readers(tmp_path, archive.getvalue()):
        with file, zipfile.ZipFile(file) as opened:
            assert opened.namelist() == []


def test_closed_files(tmp_path: Path) -> None:
    for file in (*readers(tmp_path, b"data"), *writers(tmp_path)):
        file.close()
        for call in (file.readable, file.writable, file.seekable):
            with pytest.raises(ValueError, match="closed"):
                call()


def test_open_files_know_what_they_can_do(tmp_path: Path) -> None:
    for file in readers(tmp_path, b"data"):
        with file:
            assert (file.readable(), file.writable(), file.seekable()) == (True, False, True)
    for file in writers(tmp_path):
        with file:
            assert (file.readable(), file.writable(), file.seekable()) == (False, True, False)


def test_the_name_is_a_str(tmp_path: Path) -> None:
    class Bytes(os.PathLike[bytes]):
        def __fspath__(self) -> bytes:
            return os.fsencode(path)

    path = tmp_path / "sealed"
    for given in (path, str(path), Bytes()):
        for mode in ("wb", "rb"):
            with sealane.open(given, mode, key=KEY) as file:  # type: ignore[call-overload]
                assert file.name == str(path)
                assert repr(str(path)) in repr(file)
    with path.open("rb") as inner, sealane.open(inner, key=KEY) as file:
        assert file.name == str(path)
    with sealane.open(io.BytesIO(path.read_bytes()), key=KEY) as file:
        assert not hasattr(file, "name")
        assert "name=None" in repr(file)


def test_exclusive_creation(tmp_path: Path) -> None:
    path = tmp_path / "sealed"
    with sealane.open(path, "xb", key=KEY) as file:
        assert file.mode == "xb"
        file.write(b"first")
    for there in (path, tmp_path / "link", tmp_path / "pipe", tmp_path):
        if there.name == "link":
            there.symlink_to("leads nowhere")
        if there.name == "pipe":
            os.mkfifo(there)
        with pytest.raises(FileExistsError) as raised:
            sealane.open(there, "xb", key=KEY)
        assert raised.value.filename == str(there)
    late = sealane.open(tmp_path / "late", "xb", key=KEY)
    late.write(b"second")
    (tmp_path / "late").write_bytes(b"of another process")
    with pytest.raises(FileExistsError):
        late.close()
    assert (tmp_path / "late").read_bytes() == b"of another process"
    assert sealane.decrypt(path.read_bytes(), key=KEY) == b"first"
    assert leftovers(tmp_path) == ["late", "link", "pipe", "sealed"]
    with sealane.open(io.BytesIO(), "xb", key=KEY) as file:
        file.write(b"an object has no name that could exist")


class Unnamed(MemoryFileSystem):
    """A filesystem that is no object store."""

    protocol = "unnamed"
    cachable = False


@pytest.mark.parametrize("kind", [MemoryFileSystem, Unnamed])
def test_exclusive_creation_on_other_filesystems(kind: type[MemoryFileSystem]) -> None:
    below = kind(global_store=False, skip_instance_cache=True)
    fs = SealaneFileSystem(fs=below, key="env:DATASET_KEY", skip_instance_cache=True)
    late = fs.open("/d/x", "xb")
    late.write(b"late")
    with fs.open("/d/x", "xb") as file:
        file.write(b"first")
    # Now, and not after the work.
    with pytest.raises(FileExistsError, match="exists") as raised:
        fs.open("/d/x", "xb")
    assert raised.value.filename == "/d/x"
    with pytest.raises(FileExistsError, match="exists") as raised:
        late.close()
    assert raised.value.filename == "/d/x"
    assert fs.cat_file("/d/x") == b"first"
    assert below.find("/") == ["/d/x"]


def test_a_nul_in_a_path_is_refused_at_once(tmp_path: Path) -> None:
    path = f"{tmp_path}/a\0b"
    (tmp_path / "plain").write_bytes(b"data")
    fs = fsspec.filesystem("sealane", target_protocol="file", key="env:DATASET_KEY")
    calls: list[Callable[[], Any]] = [
        lambda: sealane.open(path, "wb", key=KEY),
        lambda: sealane.open(path, "xb", key=KEY),
        lambda: sealane.open(path, key=KEY),
        lambda: sealane.encrypt_file(tmp_path / "plain", path, key=KEY),
        lambda: sealane.encrypt_file(io.BytesIO(b"data"), path, key=KEY),
        lambda: sealane.decrypt_file(path, tmp_path / "out", key=KEY),
        lambda: fs.open(path, "wb"),
    ]
    for call in calls:
        with pytest.raises(ValueError, match=r"NUL|null byte"):
            call()
    assert leftovers(tmp_path) == ["plain"]


def test_sizes_are_any_integers(tmp_path: Path) -> None:
    data = pattern(100)
    for file in readers(tmp_path, data):
        with file:
            assert file.read(Index(5)) == data[:5]
            assert file.seek(Index(0)) == 0
            into = bytearray(200)
            assert file.readinto1(into) == 100
            assert into == data + bytes(100)
            file.seek(0)
            assert file.read(Index(-1)) == data
    with sealane.open(tmp_path / "sealed", key=KEY) as file:
        assert file.read1(Index(5)) == data[:5]
        for wrong in (1.5, "5"):
            with pytest.raises(TypeError):
                file.read(wrong)  # type: ignore[arg-type]
        with pytest.raises(TypeError, match="read-only"):
            file.readinto1(b"bytes")  # type: ignore[arg-type]


# The caches of fsspec leave their own files open.
@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("cache", ["blockcache", "cached", "filecache", "simplecache"])
@pytest.mark.parametrize("place", ["file", "memory"])
def test_caches_of_fsspec(tmp_path: Path, cache: str, place: str) -> None:
    data = pattern(300_000)
    path = f"{tmp_path}/file" if place == "file" else f"/{tmp_path.name}-{cache}/file"
    fsspec.filesystem(place).pipe_file(path, sealane.encrypt(data, key=KEY)) if place == "memory" else Path(
        path
    ).write_bytes(sealane.encrypt(data, key=KEY))
    options = {
        "sealane": {"key": "env:DATASET_KEY"},
        cache: {"cache_storage": str(tmp_path / "cache"), "skip_instance_cache": True},
    }
    for _ in range(2):
        with fsspec.open(f"{cache}::sealane::{place}://{path}", "rb", **options) as file:
            file.seek(100_000)
            assert file.read(70_000) == data[100_000:170_000]
            file.seek(0)
            assert file.read() == data


def test_an_explicit_auto_mkdir(tmp_path: Path) -> None:
    below = fsspec.filesystem("file", auto_mkdir=False, skip_instance_cache=True)
    fs = SealaneFileSystem(fs=below, key="env:DATASET_KEY", skip_instance_cache=True)
    (tmp_path / "plain").write_bytes(b"data")
    for work in (
        lambda: fs.pipe_file(f"{tmp_path}/new/file", b"data"),
        lambda: fs.put_file(str(tmp_path / "plain"), f"{tmp_path}/new/file"),
    ):
        with pytest.raises(FileNotFoundError):
            work()
    assert leftovers(tmp_path) == ["plain"]
    for options in ({"auto_mkdir": True}, {}):
        below = fsspec.filesystem("file", skip_instance_cache=True, **options)
        fs = SealaneFileSystem(fs=below, key="env:DATASET_KEY", skip_instance_cache=True)
        fs.pipe_file(f"{tmp_path}/new{len(options)}/file", b"data")


def test_lexists_of_a_broken_link(tmp_path: Path) -> None:
    fs = fsspec.filesystem("sealane", target_protocol="file", key="env:DATASET_KEY")
    (tmp_path / "link").symlink_to("leads nowhere")
    assert fs.lexists(f"{tmp_path}/link")
    assert not fs.exists(f"{tmp_path}/link")
    assert not fs.lexists(f"{tmp_path}/none")


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32", "utf-8-sig", "utf-16-le", "utf-8"])
@pytest.mark.parametrize("compression", [None, "gzip"])
def test_text_with_a_byte_order_mark(tmp_path: Path, encoding: str, compression: str | None) -> None:
    text = "day,sum\nmonday,42 ä\n" * 3000
    for place in ("file", "memory"):
        fs = fsspec.filesystem("sealane", target_protocol=place, key="env:DATASET_KEY")
        options = {"encoding": encoding, "newline": "", "compression": compression}
        with fs.open(f"{tmp_path}/text", "w", **options) as file:
            file.write(text)
        with fs.open(f"{tmp_path}/text", "r", **options) as file:
            assert file.read() == text
    if compression is None:
        assert fs.cat_file(f"{tmp_path}/text") == text.encode(encoding)
    # With `io.TextIOWrapper` itself, the mark is written first, as the documentation of
    # `sealane.open` says.
    with sealane.open(tmp_path / "own", "wb", key=KEY) as file:
        file.write(codecs.BOM_UTF16)
        with io.TextIOWrapper(file, encoding="utf-16") as wrapped:
            wrapped.write(text)
    with io.TextIOWrapper(sealane.open(tmp_path / "own", key=KEY), encoding="utf-16") as wrapped:
        assert wrapped.read() == text


@pytest.mark.parametrize("compression", ["gzip", "bz2", "xz"])
def test_a_compressed_file_is_complete_when_it_is_closed(tmp_path: Path, compression: str) -> None:
    """The compressing classes do not close the file that they write to, which would then be discarded."""
    data = pattern(100_000)
    for place in ("file", "memory"):
        fs = fsspec.filesystem("sealane", target_protocol=place, key="env:DATASET_KEY")
        path = f"{tmp_path}/compressed"
        with fs.open(path, "wb", compression=compression) as file:
            file.write(data)
        with fs.open(path, "rb", compression=compression) as file:
            assert file.read() == data
        with pytest.raises(ZeroDivisionError), fs.open(path, "wb", compression=compression) as file:
            file.write(b"half")
            raise ZeroDivisionError
        with fs.open(path, "rb", compression=compression) as file:
            assert file.read() == data
        fs.rm(path)


# Non-blocking and slow file objects


def test_a_non_blocking_pipe_takes_all_bytes() -> None:
    """It refuses most of them at first: by None if it is unbuffered, by BlockingIOError if it is buffered."""
    data = pattern(3_000_000)
    for buffering in (0, -1):
        reading, writing = os.pipe()
        os.set_blocking(writing, False)
        got: list[bytes] = []

        def read(reading: int = reading, got: list[bytes] = got) -> None:
            time.sleep(0.05)
            while piece := os.read(reading, 1 << 16):
                got.append(piece)

        thread = threading.Thread(target=read)
        thread.start()
        with os.fdopen(writing, "wb", buffering=buffering) as sink:
            sealane.encrypt_file(io.BytesIO(data), sink, key=KEY)
            os.set_blocking(writing, True)
        thread.join()
        os.close(reading)
        assert sealane.decrypt(b"".join(got), key=KEY) == data


class Blocking(io.RawIOBase):
    """A sink without a file descriptor that takes nothing."""

    def __init__(self, answer: Callable[[], Any]) -> None:
        self.answer = answer

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> Any:
        return self.answer()


def test_a_sink_that_takes_nothing_is_an_error() -> None:
    """None of a raw file object means that nothing was written, and not that all was."""

    def refuse() -> None:
        raise BlockingIOError(errno.EAGAIN, "later", 0)

    for answer in (lambda: None, refuse):
        with pytest.raises(BlockingIOError, match="has no file descriptor"):
            sealane.encrypt_file(io.BytesIO(b"data"), Blocking(answer), key=KEY)


def test_a_sink_that_takes_a_part_gets_the_rest() -> None:
    class Part(io.BytesIO):
        def write(self, data: Any) -> int:
            n = super().write(bytes(data)[:1000])
            raise BlockingIOError(errno.EAGAIN, "took a part", n)

    sink = Part()
    sealane.encrypt_file(io.BytesIO(pattern(50_000)), sink, key=KEY)
    assert sealane.decrypt(sink.getvalue(), key=KEY) == pattern(50_000)


def test_a_non_blocking_source_is_read_to_its_end() -> None:
    data = pattern(300_000)
    for buffering in (0, -1):
        reading, writing = os.pipe()
        os.set_blocking(reading, False)

        def write(writing: int = writing) -> None:
            with os.fdopen(writing, "wb", buffering=0) as pipe:
                for at in range(0, len(data), 50_000):
                    time.sleep(0.02)
                    rest = data[at : at + 50_000]
                    while rest:
                        rest = rest[pipe.write(rest) :]

        thread = threading.Thread(target=write)
        thread.start()
        out = io.BytesIO()
        with os.fdopen(reading, "rb", buffering=buffering) as source:
            sealane.encrypt_file(source, out, key=KEY)
        thread.join()
        assert sealane.decrypt(out.getvalue(), key=KEY) == data


@pytest.mark.parametrize("buffering", [0, -1])
def test_a_slow_pipe_shows_each_chunk_when_it_has_arrived(buffering: int) -> None:
    data = pattern(5 * CHUNK + 9)
    sealed = sealane.encrypt(data, key=KEY)
    reading, writing = os.pipe()
    written = threading.Semaphore(0)
    got = bytearray()

    class Sink(io.RawIOBase):
        def writable(self) -> bool:
            return True

        def write(self, piece: Any) -> int:
            got.extend(piece)
            written.release()
            return len(piece)

    def work() -> None:
        with os.fdopen(reading, "rb", buffering=buffering) as source:
            sealane.decrypt_file(source, Sink(), key=KEY)

    thread = threading.Thread(target=work)
    thread.start()
    with os.fdopen(writing, "wb", buffering=0) as pipe:
        at = 0
        for chunk in range(1, 6):
            end = HEADER + chunk * SEALED_CHUNK
            pipe.write(sealed[at:end])
            at = end
            while len(got) < chunk * CHUNK:
                assert written.acquire(timeout=20), f"chunk {chunk} did not arrive"
        assert got == data[: 5 * CHUNK]
        pipe.write(sealed[at:])
    thread.join()
    assert got == data


# sealane.Decryptor


@pytest.mark.parametrize("piece", [1, 1000, SEALED_CHUNK, 1 << 20])
@pytest.mark.parametrize("length", [0, 1, CHUNK, 3 * CHUNK + 5])
def test_decryptor(piece: int, length: int) -> None:
    data = pattern(length)
    sealed = sealane.encrypt(data, key=KEY, context=b"c")
    decryptor = sealane.Decryptor(key=KEY, context=b"c")
    got = b""
    for at in range(0, len(sealed), piece):
        got += decryptor.update(memoryview(sealed)[at : at + piece])
        arrived = max(0, at + piece - HEADER)
        assert len(got) == min(arrived // SEALED_CHUNK, length // CHUNK) * CHUNK
    got += decryptor.finalize()
    assert got == data
    for call in (decryptor.finalize, lambda: decryptor.update(b"")):
        with pytest.raises(ValueError, match="finalized"):
            call()


def test_decryptor_of_other_formats() -> None:
    data, identity = pattern(200_000), sealane.keys.generate("age")
    cases: list[tuple[dict[str, Any], dict[str, Any]]] = [
        ({"recipients": [identity.public]}, {"identities": [identity]}),
        ({"recipients": [identity.public], "armor": True}, {"identities": [identity]}),
        ({"key": KEY, "format": "tink-4kb"}, {"key": KEY, "format": "tink-4kb"}),
    ]
    for encrypt, decrypt in cases:
        sealed = sealane.encrypt(data, **encrypt)
        decryptor = sealane.Decryptor(**decrypt)
        pieces = [decryptor.update(sealed[at : at + 777]) for at in range(0, len(sealed), 777)]
        assert max(map(len, pieces)) <= 65536
        assert b"".join([*pieces, decryptor.finalize()]) == data


def test_decryptor_errors() -> None:
    sealed = sealane.encrypt(pattern(3 * CHUNK), key=KEY)
    for cut in (0, 10, HEADER, HEADER + SEALED_CHUNK, HEADER + 3 * SEALED_CHUNK):
        decryptor = sealane.Decryptor(key=KEY)
        assert (
            decryptor.update(sealed[:cut])
            == pattern(3 * CHUNK)[: max(0, cut - HEADER) // SEALED_CHUNK * CHUNK]
        )
        with pytest.raises(sealane.TruncatedError):
            decryptor.finalize()
    damaged = bytearray(sealed)
    damaged[HEADER + SEALED_CHUNK] ^= 1
    decryptor = sealane.Decryptor(key=KEY)
    assert decryptor.update(damaged[: HEADER + SEALED_CHUNK]) == pattern(CHUNK)
    with pytest.raises(sealane.AuthenticationError):
        decryptor.update(damaged[HEADER + SEALED_CHUNK :])
    for call in (decryptor.finalize, lambda: decryptor.update(b"")):
        with pytest.raises(ValueError, match="lost by an earlier failure"):
            call()
    with pytest.raises(sealane.AuthenticationError):
        sealane.Decryptor(key=bytes(32)).update(sealed)
    with pytest.raises(TypeError):
        sealane.Decryptor()
    with pytest.raises(TypeError):
        sealane.Decryptor(key=KEY).update("text")  # type: ignore[arg-type]
