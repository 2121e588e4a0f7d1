"""Bad input raises a typed error with the path and leaves no file."""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Callable, Iterator
from typing import Any

import fsspec
import pandas as pd
import pyarrow as pa
import pyarrow.dataset
import pyarrow.parquet as pq
import pytest
import sealane
import zarr
from parts import KEY, RAW, Place, Server
from sealane.exceptions import (
    AuthenticationError,
    FormatError,
    KeyNotFoundError,
    SealaneError,
    TruncatedError,
)
from support import CHUNK, HEADER, SEALED_CHUNK, pattern

DATA = pattern(70 * CHUNK + 77)
SEALED = sealane.encrypt(DATA, key=RAW)
OTHER = sealane.keys.generate("aes-256")


@pytest.fixture
def stored(place: Place) -> Place:
    """A folder with one complete file."""
    place.target.pipe_file(place.path("file"), SEALED)
    place.target.invalidate_cache()
    return place


@contextlib.contextmanager
def refused(path: str, *kinds: type[Exception]) -> Iterator[None]:
    """Expects an error of one of these types that contains the path."""
    with pytest.raises(kinds) as caught:
        yield
    assert path.lstrip("/") in str(caught.value)


def replace(place: Place, data: bytes, name: str = "file") -> None:
    place.target.pipe_file(place.path(name), data)
    place.target.invalidate_cache()
    place.fs.invalidate_cache()


READS: dict[str, Callable[[Any, str], object]] = {
    "cat_file": lambda fs, path: fs.cat_file(path),
    "a range": lambda fs, path: fs.cat_file(path, start=5, end=10),
    "cat_ranges": lambda fs, path: fs.cat_ranges([path], [5], [10], on_error="raise"),
    "cat": lambda fs, path: fs.cat([path], on_error="raise"),
    "open": lambda fs, path: fs.open(path).read(),
    "the end": lambda fs, path: fs.tail(path, 5),
    "get": lambda fs, path: fs.get_file(path, "/dev/null"),
}
"""Functions that read a file. Each has to detect the damage."""


def read(place: Place, way: str, key: str = KEY, name: str = "file", **options: Any) -> object:
    return READS[way](place.sealed(key, **options), place.path(name))


def test_reports_a_reference_without_a_key(stored: Place) -> None:
    for way in READS:
        with pytest.raises(KeyNotFoundError, match="SEALANE_NOT_SET"):
            read(stored, way, "env:SEALANE_NOT_SET")
        with pytest.raises(OSError, match="no-such-key") as missing:
            read(stored, way, "file:/no-such-key")
        assert missing.value.filename == "/no-such-key"


@pytest.mark.parametrize(
    "key", ["", "env:", "nowhere", "ftp:x", "call:os", "file:", "env", ":", "call:os:no"]
)
def test_rejects_a_malformed_reference(folder: Place, key: str) -> None:
    folder.target.pipe_file(folder.path("file"), SEALED)
    with pytest.raises((ValueError, LookupError)):
        read(folder, "cat_file", key)


def test_rejects_another_key(stored: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEALANE_OTHER", OTHER.to_text())
    for way in READS:
        with refused(stored.path("file"), AuthenticationError):
            read(stored, way, "env:SEALANE_OTHER")


@pytest.mark.parametrize("length", [0, 1, 55, 71, 72, 500, HEADER + 2 * SEALED_CHUNK, 100_000])
def test_rejects_a_plain_file_among_encrypted_files(place: Place, length: int) -> None:
    replace(place, pattern(length), "plain")
    for way in READS:
        with refused(place.path("plain"), FormatError, AuthenticationError):
            read(place, way, name="plain")


def test_lists_a_plain_file(place: Place) -> None:
    for length in 0, 3, 55, 71, 72, HEADER + SEALED_CHUNK:
        replace(place, pattern(length), f"plain-{length}")
    replace(place, SEALED)
    sizes = {row["name"].rsplit("/", 1)[1]: row["size"] for row in place.fs.ls(place.root, detail=True)}
    assert sizes["file"] == len(DATA)
    assert len(sizes) == 7
    assert place.fs.du(place.root) == sum(sizes.values())
    assert len(place.fs.du(place.root, total=False)) == 7


# claim: dataset-verified, dataset-sizes
@pytest.mark.parametrize(
    "length", [0, 1, HEADER, HEADER + 15, HEADER + SEALED_CHUNK, HEADER + SEALED_CHUNK + 15]
)
def test_a_size_that_no_encrypted_file_has_is_an_error(place: Place, length: int) -> None:
    """Dask divides a file by its size, and skips one of size 0 without opening it."""
    replace(place, SEALED[:length])
    for ask in place.fs.info, place.fs.size, lambda path: place.fs.sizes([path]):
        with refused(place.path("file"), TruncatedError):
            ask(place.path("file"))


# claim: dataset-verified, dataset-sizes
def test_an_empty_file_is_verified_before_its_size_is_told(place: Place) -> None:
    empty = sealane.encrypt(b"", key=RAW)
    replace(place, empty)
    assert place.fs.info(place.path("file"))["size"] == place.fs.size(place.path("file")) == 0
    replace(place, empty[:-1] + bytes([empty[-1] ^ 1]))
    for ask in place.fs.info, place.fs.size:
        with refused(place.path("file"), AuthenticationError):
            ask(place.path("file"))


@pytest.mark.parametrize(
    "length",
    [
        *(HEADER + n * SEALED_CHUNK for n in (0, 1, 3, 70)),
        *(HEADER + n * SEALED_CHUNK + 16 for n in (0, 1, 70)),
        *(HEADER + 3 * SEALED_CHUNK + n for n in (1, 15, 5000)),
        0,
        HEADER - 1,
        len(SEALED) - 1,
    ],
)
def test_detects_a_truncated_file(folder: Place, length: int) -> None:
    """The file ends between chunks, inside a chunk, or in the header. No size is returned before the end."""
    replace(folder, SEALED[:length])
    for way in READS:
        with refused(folder.path("file"), TruncatedError, AuthenticationError):
            read(folder, way)


# claim: dataset-verified, tested-datasets
def test_detects_a_truncated_object(bucket: Place) -> None:
    """Ranges of existing chunks may be read. A missing range is never empty or short."""
    for length in HEADER + 3 * SEALED_CHUNK, HEADER + 3 * SEALED_CHUNK + 5000:
        replace(bucket, SEALED[:length])
        fs, path = bucket.fs, bucket.path("file")
        for way in "cat_file", "cat", "open", "the end", "get":
            with refused(path, TruncatedError, AuthenticationError):
                read(bucket, way)
        assert fs.cat_file(path, start=5, end=CHUNK) == DATA[5:CHUNK]
        for start, end in (
            (3 * CHUNK - 5, 3 * CHUNK + 5),
            (3 * CHUNK, 3 * CHUNK + 5),
            (10 * CHUNK, None),
            (-5, None),
        ):
            with refused(path, TruncatedError, AuthenticationError):
                fs.cat_file(path, start=start, end=end)
            with refused(path, TruncatedError, AuthenticationError):
                fs.cat_ranges([path, path], [0, start], [5, end], on_error="raise")


def test_detects_a_changed_byte(stored: Place) -> None:
    changed = bytearray(SEALED)
    changed[HEADER + 3 * SEALED_CHUNK + 100] ^= 1
    replace(stored, bytes(changed))
    fs = stored.fs
    assert fs.cat_file(stored.path("file"), start=0, end=CHUNK) == DATA[:CHUNK]
    for start in 3 * CHUNK, 4 * CHUNK - 1:
        with refused(stored.path("file"), AuthenticationError):
            fs.cat_file(stored.path("file"), start=start, end=start + 1)
    with refused(stored.path("file"), AuthenticationError), fs.open(stored.path("file")) as file:
        file.read()


def test_detects_exchanged_chunks(stored: Place) -> None:
    other = sealane.encrypt(DATA, key=RAW)
    at = HEADER + 2 * SEALED_CHUNK
    replace(stored, SEALED[:at] + other[at : at + SEALED_CHUNK] + SEALED[at + SEALED_CHUNK :])
    with refused(stored.path("file"), AuthenticationError):
        stored.fs.cat_file(stored.path("file"))


# claim: dataset-verified
@pytest.mark.parametrize("other", [DATA, bytes(len(DATA)), pattern(20 * CHUNK), pattern(90 * CHUNK), b""])
def test_detects_a_file_replaced_while_it_is_read(stored: Place, other: bytes) -> None:
    """The new file has the same key. The result is the old content or an error, never a mixture."""
    with stored.fs.open(stored.path("file"), block_size=CHUNK) as file:
        assert file.read(CHUNK) == DATA[:CHUNK]
        replace(stored, sealane.encrypt(other, key=RAW))
        assert_old_or_refused(file, stored)


def test_a_file_removed_while_it_is_read(stored: Place) -> None:
    """A local file stays readable until it is closed."""
    with stored.fs.open(stored.path("file"), block_size=CHUNK) as file:
        assert file.read(CHUNK) == DATA[:CHUNK]
        stored.target.rm_file(stored.path("file"))
        assert_old_or_refused(file, stored)


def assert_old_or_refused(file: Any, place: Place) -> None:
    file.seek(40 * CHUNK)
    try:
        said = file.read(30 * CHUNK)
    except (SealaneError, OSError) as error:
        said = str(error)
    assert said == DATA[40 * CHUNK : 70 * CHUNK] or place.path("file").lstrip("/") in said


def test_reports_a_missing_file(place: Place) -> None:
    for way in READS:
        with refused(place.path("none"), FileNotFoundError):
            read(place, way, name="none")
    for ask in "info", "size", "ls":
        with refused(place.path("none"), FileNotFoundError):
            getattr(place.fs, ask)(place.path("none"))
    assert not place.fs.exists(place.path("none"))


class Stop(Exception):
    """An exception that is raised while writing."""


@pytest.mark.parametrize("length", [0, 5, CHUNK, 20 << 20])
def test_a_failed_block_writes_no_file(stored: Place, length: int) -> None:
    for name in "new", "file":
        with pytest.raises(Stop), stored.fs.open(stored.path(name), "wb") as file:
            file.write(bytes(length))
            raise Stop
    with pytest.raises(Stop), fsspec.open(stored.url("new"), "wb", **stored.options) as file:
        file.write(bytes(length))
        raise Stop
    assert stored.stored() == {"file": SEALED}
    if stored.protocol == "s3":
        assert stored.uploads() == []


def test_an_unclosed_file_is_not_written(place: Place) -> None:
    place.target.makedirs(place.root, exist_ok=True)
    file = place.fs.open(place.path("new"), "wb")
    file.write(bytes(20 << 20))
    del file
    gc.collect()
    assert place.stored() == {}
    if place.protocol == "s3":
        assert place.uploads() == []


@pytest.mark.parametrize("which", ["a part", "the first", "the end", "all"])
def test_reports_a_refused_upload(bucket: Place, server: Server, which: str) -> None:
    """S3 refuses: the error contains the path, and there is no object and no unfinished upload."""
    replace(bucket, SEALED)
    refusal = {
        "a part": lambda e: e["REQUEST_METHOD"] == "PUT" and "partNumber=2" in e["QUERY_STRING"],
        "the first": lambda e: e["REQUEST_METHOD"] == "POST" and "uploads" in e["QUERY_STRING"],
        "the end": lambda e: e["REQUEST_METHOD"] == "POST" and "uploadId" in e["QUERY_STRING"],
        "all": lambda e: e["REQUEST_METHOD"] in ("PUT", "POST"),
    }[which]
    with server.refusing(refusal):
        path = bucket.path("new")
        with refused(path, PermissionError), bucket.fs.open(path, "wb") as file:
            for _ in range(34):
                file.write(bytes(1 << 20))
        path = bucket.path("file")
        with refused(path, PermissionError):
            bucket.fs.pipe_file(path, bytes(34 << 20))
    assert bucket.stored() == {"file": SEALED}
    assert bucket.uploads() == []
    bucket.fs.pipe_file(bucket.path("new"), b"and again")
    assert bucket.fs.cat_file(bucket.path("new")) == b"and again"


def test_reports_a_forbidden_object(bucket: Place, server: Server) -> None:
    replace(bucket, SEALED)
    for way in READS:
        with (
            server.refusing(lambda e: e["REQUEST_METHOD"] == "GET"),
            refused(bucket.path("file"), PermissionError),
        ):
            read(bucket, way)


def test_a_failed_get_leaves_no_file(stored: Place, tmp_path: Any) -> None:
    changed = bytearray(SEALED)
    changed[-1] ^= 1
    replace(stored, bytes(changed))
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "old").write_bytes(b"old")
    for name in "new", "old":
        with refused(stored.path("file"), AuthenticationError):
            stored.fs.get_file(stored.path("file"), str(tmp_path / "out" / name))
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["old"]
    assert (tmp_path / "out" / "old").read_bytes() == b"old"


# claim: disk-errors
def test_reports_a_full_disk(folder: Place) -> None:
    """/dev/full on Linux is always full."""
    fs = fsspec.filesystem("sealane", target_protocol="file", key=KEY)
    with pytest.raises(OSError, match=r"No space|not permitted|full"):
        fs.pipe_file("/dev/full", bytes(1 << 20))


def test_rejects_append_and_update_modes(stored: Place) -> None:
    """Appending would use a counter of the nonce twice."""
    for mode in "ab", "r+b", "w+b", "a", "r+":
        with pytest.raises((ValueError, NotImplementedError)):
            stored.fs.open(stored.path("file"), mode)
    assert stored.stored() == {"file": SEALED}


@pytest.mark.parametrize("length", [5, 20 << 20])
def test_exclusive_creation_keeps_an_existing_file(stored: Place, length: int) -> None:
    with pytest.raises((FileExistsError, ValueError)), stored.fs.open(stored.path("file"), "xb") as file:
        file.write(bytes(length))
    file = stored.fs.open(stored.path("new"), "xb")
    file.write(bytes(length))
    stored.target.pipe_file(stored.path("new"), SEALED)  # another writer was faster
    with refused(stored.path("new"), FileExistsError):
        file.close()
    assert stored.stored() == {"file": SEALED, "new": SEALED}
    if stored.protocol == "s3":
        assert stored.uploads() == []


TOOLS: dict[str, Callable[[Place, str], object]] = {
    "pandas": lambda place, name: pd.read_parquet(place.url(name), storage_options=place.options),
    "pandas csv": lambda place, name: pd.read_csv(place.url(name), storage_options=place.options),
    "pyarrow": lambda place, name: pq.read_table(place.path(name), filesystem=place.fs),
    "zarr": lambda place, name: zarr.open_array(place.url(name), mode="r", storage_options=place.options)[:],
}


@pytest.mark.parametrize("tool", TOOLS)
def test_libraries_raise_our_errors(folder: Place, tool: str) -> None:
    frame = pd.DataFrame({"a": range(1000)})
    for where, options in (folder.path("plain"), None), (folder.url("sealed"), folder.options):
        if tool == "zarr":
            zarr.create_array(where, shape=10, dtype="i4", storage_options=options)[:] = 3
        else:
            write = frame.to_csv if tool == "pandas csv" else frame.to_parquet
            write(where, storage_options=options)
    TOOLS[tool](folder, "sealed")
    with refused(folder.path("plain"), SealaneError, OSError):
        TOOLS[tool](folder, "plain")


class Unprintable:
    """A table cell that raises when it is written."""

    def __str__(self) -> str:
        raise Stop


def batches(table: pa.Table) -> Iterator[pa.RecordBatch]:
    for _ in range(24):
        yield from table.to_batches()
    raise Stop


def a_csv(place: Place) -> None:
    frame = pd.DataFrame({"a": ["a long line " * 40] * 20_000 + [Unprintable()]})
    frame.to_csv(place.url("new"), storage_options=place.options)


def a_dataset(place: Place) -> None:
    table = pa.table({"a": range(50_000)})
    reader = pa.RecordBatchReader.from_batches(table.schema, batches(table))
    pa.dataset.write_dataset(reader, place.path("new"), filesystem=place.fs, format="parquet")


def a_parquet_file(place: Place) -> None:
    table = pa.table({"a": range(50_000)})
    with place.fs.open(place.path("new"), "wb") as file, pq.ParquetWriter(file, table.schema) as writer:
        for batch in batches(table):
            writer.write_batch(batch)


def text(place: Place) -> None:
    with fsspec.open(place.url("new"), "wt", compression="gzip", **place.options) as file:
        for _ in range(200):
            file.write("line\n" * 1000)
        raise Stop


@pytest.mark.parametrize("write", [a_csv, a_dataset, a_parquet_file, text], ids=lambda write: write.__name__)
def test_a_library_that_fails_while_writing(place: Place, write: Callable[[Place], None]) -> None:
    place.target.makedirs(place.root, exist_ok=True)
    with pytest.raises(Stop):
        write(place)
    gc.collect()
    assert place.stored() == {}
    if place.protocol == "s3":
        assert place.uploads() == []


def test_closing_after_a_handled_error_raises(place: Place) -> None:
    """The file exists, or there is an error."""
    place.target.makedirs(place.root, exist_ok=True)
    file = place.fs.open(place.path("new"), "wb")
    try:
        raise Stop
    except Stop:
        file.write(b"what is written instead")
        try:
            file.close()
        except (Stop, SealaneError, OSError):
            assert place.stored() == {}
        else:
            assert place.fs.cat_file(place.path("new")) == b"what is written instead"


def test_a_folder_with_a_plain_file(place: Place) -> None:
    replace(place, SEALED)
    replace(place, b"too short to be encrypted", "plain")
    assert place.fs.du(place.root) >= len(DATA)
    assert len(place.fs.find(place.root)) == 2
