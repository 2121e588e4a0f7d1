"""Files of a server that are opened ahead of a scan, and headers that are remembered."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pyarrow as pa
import pyarrow.dataset as ds
import pytest
import s3fs
import sealane
from parts import KEY, Place, Server
from sealane.fs import SealaneFileSystem, _opening
from support import pattern

LONG = 400_000
"""More than the number of bytes that a file has which is fetched at once."""


@pytest.fixture
def reader(bucket: Place) -> SealaneFileSystem:
    """A filesystem of another client than that of the bucket."""
    client = s3fs.S3FileSystem(**bucket.target_options, skip_instance_cache=True)
    return SealaneFileSystem(fs=client, key=KEY, skip_instance_cache=True)


@contextmanager
def flights(server: Server) -> Iterator[list[int]]:
    """Yields a list whose last number is that of the requests that were in progress at a time, at most."""
    lock, now, most, app = threading.Lock(), 0, [0], server._app

    def slow(environ: dict[str, Any], start_response: Any) -> Any:
        nonlocal now
        with lock:
            now += 1
            most[0] = max(most[0], now)
        time.sleep(0.05)
        try:
            return app(environ, start_response)
        finally:
            with lock:
                now -= 1

    server._app = slow
    try:
        yield most
    finally:
        server._app = app


def write(place: Place, count: int, length: int = LONG) -> list[str]:
    paths = [place.path(f"d/{number}") for number in range(count)]
    place.fs.pipe({path: pattern(length + at) for at, path in enumerate(paths)})
    return paths


def test_a_scan_opens_the_next_files_of_the_listing(
    bucket: Place, reader: SealaneFileSystem, server: Server
) -> None:
    paths = write(bucket, 8)
    reader.ls(bucket.path("d"))
    with flights(server) as most:
        for at, path in enumerate(paths):
            with reader.open(path) as file:
                assert file.size == LONG + at
                assert file.read() == pattern(LONG + at)
    assert 2 < most[0] <= 10
    assert reader.opener._pending == {}


def test_a_dataset_takes_as_many_requests_as_plain_files(
    bucket: Place, reader: SealaneFileSystem, server: Server
) -> None:
    table, counts = pa.table({"a": pa.array(range(400_000))}), {}
    for name, fs in ("plain", bucket.target), ("sealed", reader):
        ds.write_dataset(
            table,
            bucket.path(name),
            filesystem=fs,
            format="parquet",
            max_rows_per_file=100_000,
            max_rows_per_group=100_000,
        )
        for again in ("first", "again"):
            fs.invalidate_cache()
            with server.counting() as requests:
                assert ds.dataset(bucket.path(name), filesystem=fs).to_table().sort_by("a") == table
            counts[name, again] = len(requests)
    # The header of each file is a request the first time.
    assert counts["sealed", "first"] <= counts["plain", "first"] + 5
    assert counts["sealed", "again"] <= counts["plain", "again"] + 1


def test_other_orders_open_nothing_ahead(bucket: Place, reader: SealaneFileSystem) -> None:
    paths = write(bucket, 6)
    for order in ([5, 3, 1], [0, 2, 4], [3], [2, 1, 0]):
        reader.ls(bucket.path("d"))
        for number in order:
            reader.open(paths[number]).close()
        assert reader.opener._pending == {}


def test_the_first_file_of_a_listing_is_opened_once_for_two_times(
    bucket: Place, reader: SealaneFileSystem, server: Server
) -> None:
    paths = write(bucket, 1)
    counts = []
    for number in range(4):
        if number == 3:
            reader.invalidate_cache()
        reader.ls(bucket.path("d"))
        for _ in range(2):
            with server.counting() as requests, reader.open(paths[0]) as file:
                assert (file.size, file.read(9)) == (LONG, pattern(9))
            counts.append(len(requests))
    # A header, an end and the bytes that are read; then the bytes alone; then an end and the bytes.
    assert counts == [3, 1, 2, 1, 2, 1, 2, 1]


def test_a_change_between_the_first_two_times(bucket: Place, reader: SealaneFileSystem) -> None:
    paths = write(bucket, 1)
    reader.ls(bucket.path("d"))
    reader.open(paths[0]).close()
    bucket.fs.pipe_file(paths[0], pattern(LONG + 90))
    # The listing of this client is an old one, so it takes the old file, and reads no byte of the
    # new one.
    with reader.open(paths[0]) as file, pytest.raises(sealane.SealaneError, match="d/0"):
        file.read(9)
    with reader.open(paths[0]) as file:
        assert file.read(9) == pattern(9)
    reader.invalidate_cache()
    reader.ls(bucket.path("d"))
    reader.open(paths[0]).close()
    bucket.fs.pipe_file(paths[0], pattern(LONG + 91))
    reader.invalidate_cache()
    with reader.open(paths[0]) as file:
        assert file.size == LONG + 91


def test_one_file_again_and_again_opens_the_next_ones_once(
    bucket: Place, reader: SealaneFileSystem, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_opening, "SECONDS", 0.05)
    paths = write(bucket, 6)
    reader.ls(bucket.path("d"))
    with server.counting() as requests:
        for _ in range(10):
            reader.open(paths[0]).close()
            time.sleep(0.03)
    names = [path.rpartition("/")[2] for _, path in requests]
    assert {name: names.count(name) for name in "12345"} == {"1": 2, "2": 2, "3": 2, "4": 2, "5": 0}
    time.sleep(0.2)
    assert reader.opener._pending == {}


@pytest.mark.parametrize("length", [1000, LONG])
@pytest.mark.parametrize(
    "change", ["replaced", "removed", "replaced by this client", "removed by this client"]
)
def test_a_change_after_opening_ahead(
    bucket: Place, reader: SealaneFileSystem, length: int, change: str
) -> None:
    """A listing that is asked again shows the change, and a client knows its own changes."""
    paths = write(bucket, 4, length)
    reader.ls(bucket.path("d"))
    for path in paths[:2]:
        reader.open(path).close()
    time.sleep(0.3)
    fs = reader if "this client" in change else bucket.fs
    if change.startswith("replaced"):
        fs.pipe_file(paths[2], pattern(90))
    else:
        fs.rm_file(paths[2])
    if fs is not reader:
        reader.invalidate_cache()
    if change.startswith("replaced"):
        with reader.open(paths[2]) as file:
            assert file.size == 90
            assert file.read() == pattern(90)
    else:
        with pytest.raises(FileNotFoundError):
            reader.open(paths[2])
    with reader.open(paths[3]) as file:
        assert file.read() == pattern(length + 3)


def test_a_change_that_the_listing_does_not_show(
    bucket: Place, reader: SealaneFileSystem, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A short file that was opened ahead may be its whole older version, but only for a time."""
    monkeypatch.setattr(_opening, "SECONDS", 1.0)
    paths = write(bucket, 4, 1000)
    reader.ls(bucket.path("d"))
    for path in paths[:2]:
        reader.open(path).close()
    time.sleep(0.3)
    for path in paths[2:]:
        bucket.fs.pipe_file(path, b"new")
    with reader.open(paths[2]) as file:
        assert file.read() in (pattern(1002), b"new")
    time.sleep(1.5)
    with reader.open(paths[3]) as file:
        assert file.read() == b"new"


def test_a_remembered_header_of_a_replaced_file(bucket: Place, reader: SealaneFileSystem) -> None:
    """The listing is stale, and the new file has the size of the old one."""
    (path,) = write(bucket, 1)
    reader.ls(bucket.path("d"))
    for content in (pattern(LONG), pattern(LONG)[::-1], bytes(LONG)):
        bucket.fs.pipe_file(path, content)
        for _ in range(2):
            with reader.open(path) as file:
                assert file.read() == content


def test_the_number_of_remembered_headers(
    bucket: Place, reader: SealaneFileSystem, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sealane.fs._opening.MAX_HEADERS", 3)
    for path in write(bucket, 5):
        reader.open(path).close()
    assert len(reader.opener.headers._known) == 3


def test_keys_of_single_files_are_asked_for_opened_files_only(bucket: Place) -> None:
    fs = bucket.sealed("each:parts:key_of")
    paths = [bucket.path(f"d/{number}") for number in range(6)]
    fs.pipe({path: pattern(LONG) for path in paths})
    fs.ls(bucket.path("d"))
    for path in paths[:3]:
        with fs.open(path) as file:
            assert file.read() == pattern(LONG)
    assert fs.opener._pending == {}


def test_a_damaged_file_of_a_scan_is_named(bucket: Place, reader: SealaneFileSystem) -> None:
    paths = write(bucket, 4)
    data = bytearray(bucket.stored()["d/2"])
    data[-1] ^= 1
    bucket.target.pipe_file(paths[2], bytes(data))
    reader.ls(bucket.path("d"))
    for at, path in enumerate(paths):
        if at == 2:
            with pytest.raises(Exception, match="d/2") as raised:
                reader.open(path)
            assert type(raised.value).__name__ == "AuthenticationError"
        else:
            with reader.open(path) as file:
                assert file.read() == pattern(LONG + at)
