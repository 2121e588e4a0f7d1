"""Encrypted files on correct and faulty web servers."""

from __future__ import annotations

import contextlib
import http.server
import threading
from collections.abc import Callable, Iterator
from typing import Any

import fsspec
import pytest
import sealane
from parts import KEY, RAW, Place
from support import CHUNK, pattern

DATA = pattern(40 * CHUNK + 5)
SEALED = sealane.encrypt(DATA, key=RAW)


class Good(http.server.BaseHTTPRequestHandler):
    """Serves one file and ranges of it."""

    ranges = sizes = True

    def log_message(self, *_: Any) -> None:
        pass

    def body(self, data: bytes) -> bytes:
        return data

    def respond(self) -> bytes:
        if not self.path.endswith("/file"):
            self.send_error(404)
            return b""
        asked = self.headers.get("Range") if self.ranges else None
        if asked:
            first, last = asked.removeprefix("bytes=").split("-")
            data = SEALED[int(first) : int(last) + 1] if first else SEALED[-int(last) :]
            self.send_response(206)
            self.send_header("Content-Range", f"bytes {first}-{last}/{len(SEALED)}")
        else:
            data = SEALED
            self.send_response(200)
        if self.ranges:
            self.send_header("Accept-Ranges", "bytes")
        if self.sizes:
            self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        return data

    def do_HEAD(self) -> None:
        self.respond()

    def do_GET(self) -> None:
        self.wfile.write(self.body(self.respond()))
        self.close_connection = True


class WithoutRanges(Good):
    ranges = False


class WithoutSizes(Good):
    ranges = sizes = False


class Breaking(Good):
    """Stops in the middle of each response."""

    def body(self, data: bytes) -> bytes:
        return data[: len(data) // 2]


class Lying(Good):
    """Sends other bytes of the same length."""

    def body(self, data: bytes) -> bytes:
        return bytes(len(data))


@contextlib.contextmanager
def serving(kind: type[Good]) -> Iterator[str]:
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), kind) as server:
        thread = threading.Thread(target=server.serve_forever, args=[0.05])
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/file"
        finally:
            server.shutdown()
            thread.join()


def piece(fs: Any, url: str) -> bytes:
    with fs.open(url) as file:
        file.seek(3 * CHUNK - 1)
        return file.read(5)


def got(fs: Any, url: str, folder: Any) -> bytes:
    fs.get_file(url, str(folder / "got"))
    return (folder / "got").read_bytes()


READS: dict[str, tuple[Callable[[Any, str, Any], bytes], bytes]] = {
    "cat_file": (lambda fs, url, _: fs.cat_file(url), DATA),
    "a range": (lambda fs, url, _: fs.cat_file(url, start=5, end=10), DATA[5:10]),
    "the end": (lambda fs, url, _: fs.tail(url, 10), DATA[-10:]),
    "open": (lambda fs, url, _: fs.open(url).read(), DATA),
    "seek": (lambda fs, url, _: piece(fs, url), DATA[3 * CHUNK - 1 : 3 * CHUNK + 4]),
    "cat_ranges": (lambda fs, url, _: fs.cat_ranges([url], [5], [10], on_error="raise")[0], DATA[5:10]),
    "get": (got, DATA),
}
"""Functions that read, and their results."""


def test_reads_from_a_correct_server(tmp_path: Any) -> None:
    with serving(Good) as url:
        fs = fsspec.filesystem("sealane", target_protocol="http", key=KEY)
        assert fs.size(url) == len(DATA)
        for way, (read, expected) in READS.items():
            assert read(fs, url, tmp_path) == expected, way
        with fsspec.open(f"sealane::{url}", key=KEY) as file:
            assert file.seek(-5, 2) == len(DATA) - 5
            assert file.read() == DATA[-5:]
        with pytest.raises(FileNotFoundError, match="none"):
            fs.cat_file(url.replace("/file", "/none"))
        with pytest.raises((NotImplementedError, OSError, ValueError)):
            fs.pipe_file(url, b"written")


# claim: dataset-verified
@pytest.mark.parametrize("kind", [WithoutRanges, WithoutSizes, Breaking, Lying])
def test_detects_faulty_servers(kind: type[Good], tmp_path: Any) -> None:
    """The result is correct, or an error with the URL. A response may break off after the needed bytes."""
    with serving(kind) as url:
        fs = fsspec.filesystem("sealane", target_protocol="http", key=KEY)
        for way, (read, expected) in READS.items():
            try:
                assert read(fs, url, tmp_path) == expected, way
            except (OSError, sealane.SealaneError) as error:
                assert url in str(error), way  # noqa: PT017
                assert kind is not WithoutRanges or way != "cat_file"
        assert list(tmp_path.iterdir()) in ([], [tmp_path / "got"])
        if (tmp_path / "got").exists():
            assert (tmp_path / "got").read_bytes() == DATA


def test_reports_a_refused_connection(bucket: Place, tmp_path: Any) -> None:
    with serving(Good) as url:
        pass
    fs = fsspec.filesystem("sealane", target_protocol="http", key=KEY)
    for way, (read, _) in READS.items():
        with pytest.raises(OSError, match=url) as caught:
            read(fs, url, tmp_path)
        assert caught.value, way
    options = bucket.target_options | {
        "endpoint_url": url.removesuffix("/file"),
        "config_kwargs": {"retries": {"max_attempts": 1}, "connect_timeout": 1},
    }
    s3 = fsspec.filesystem("s3", **options)
    s3.retries = 1
    fs = fsspec.filesystem("sealane", fs=s3, key=KEY)
    for deed in (
        lambda: fs.cat_file("bucket/file"),
        lambda: fs.cat_file("bucket/file", start=1, end=2),
        lambda: fs.open("bucket/file"),
        lambda: fs.pipe_file("bucket/file", b"content"),
    ):
        with pytest.raises(OSError, match="bucket/file"):
            deed()
