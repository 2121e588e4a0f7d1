"""Fixtures of the dataset tests: an S3 server, folders for data, and patterns of a key."""

from __future__ import annotations

import base64
import contextlib
import dataclasses
import hashlib
import itertools
import json
import threading
from collections.abc import Callable, Iterator
from typing import Any

import fsspec
import s3fs
from moto.server import DomainDispatcherApplication, MotoRequestHandler, create_backend_app
from support import CHUNK, HEADER, SEALED_CHUNK
from werkzeug.serving import make_server
from zarr.core.sync import sync

VARIABLE = "SEALANE_TEST_DATASET_KEY"
"""The environment variable that holds the key of every dataset."""
KEY = f"env:{VARIABLE}"
RAW = bytes((i * 37 + 11) % 256 for i in range(32))
PII = bytes(range(32))
JWK = json.dumps({"kty": "oct", "k": base64.urlsafe_b64encode(RAW).decode().rstrip("=")})
MARKER = "a-marker-that-only-the-plaintext-holds"

SHAPES = {
    "raw": RAW,
    "hex": RAW.hex().encode(),
    "HEX": RAW.hex().upper().encode(),
    "base64": base64.b64encode(RAW).rstrip(b"="),
    "base64url": base64.urlsafe_b64encode(RAW).rstrip(b"="),
    "repr": repr(RAW)[2:-1].encode(),
    "list": repr(list(RAW))[1:-1].encode(),
}
"""The forms in which the key could be found."""


def secrets_in(data: object) -> list[str]:
    """Returns the forms of the key that are in the bytes, or in the text or the repr of an object."""
    seen = data if isinstance(data, bytes) else f"{data!s}\n{data!r}".encode()
    return [name for name, shape in SHAPES.items() if shape in seen]


def sealed_len(length: int) -> int:
    """Returns the size of the object with this number of plaintext bytes."""
    return HEADER + length + (SEALED_CHUNK - CHUNK) * (length // CHUNK + 1)


class Quiet(MotoRequestHandler):
    """A request handler without access log."""

    def log_request(self, *_: Any) -> None:
        pass


class Server:
    """The S3 server of moto on a loopback port. It counts requests, and refuses them if told to."""

    def __init__(self) -> None:
        self.requests: list[tuple[str, str]] = []
        self.refuse: Callable[[dict[str, Any]], bool] = lambda environ: False
        self._app = DomainDispatcherApplication(create_backend_app)
        # ThreadedMotoServer of moto leaves its socket open.
        self._server = make_server("127.0.0.1", 0, self, threaded=True, request_handler=Quiet)
        self._thread = threading.Thread(target=self._server.serve_forever, args=[0.05])
        self._thread.start()
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def __call__(self, environ: dict[str, Any], start_response: Any) -> Any:
        self.requests.append((environ["REQUEST_METHOD"], environ["PATH_INFO"]))
        if self.refuse(environ):
            start_response("403 Forbidden", [("Content-Type", "application/xml")])
            return [b"<Error><Code>AccessDenied</Code><Message>refused by the test</Message></Error>"]
        return self._app(environ, start_response)

    @contextlib.contextmanager
    def counting(self) -> Iterator[list[tuple[str, str]]]:
        """Yields the list of requests during the block."""
        counted: list[tuple[str, str]] = []
        before = len(self.requests)
        yield counted
        counted += self.requests[before:]

    @contextlib.contextmanager
    def refusing(self, what: Callable[[dict[str, Any]], bool]) -> Iterator[None]:
        self.refuse, before = what, self.refuse
        try:
            yield
        finally:
            self.refuse = before

    def close(self) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


def close_session(fs: Any) -> None:
    """Closes the connections of an S3 filesystem that was used on the event loop of zarr.

    s3fs leaves this to the caller if a filesystem was created with ``asynchronous=True``.
    """
    if isinstance(fs, s3fs.S3FileSystem) and fs.asynchronous and fs._s3 is not None:
        sync(fs._s3.close())
        fs._s3 = None


def forget_filesystems(but: type[fsspec.AbstractFileSystem] | None = None) -> None:
    """Drops every cached filesystem, except those of the class ``but``, and closes the connections of S3.

    A connection of S3 belongs to the event loop that created it, which is that of zarr or of a test. In
    another loop the filesystem fails as soon as it needs a new connection.
    """
    classes = [fsspec.AbstractFileSystem]
    while classes:
        cls = classes.pop()
        for fs in list(cls._cache.values()):
            close_session(fs)
        if cls is not but:
            cls.clear_instance_cache()
        classes += cls.__subclasses__()


@dataclasses.dataclass(frozen=True)
class Place:
    """An empty folder on an fsspec filesystem."""

    protocol: str
    root: str
    target_options: dict[str, Any]

    @property
    def options(self) -> dict[str, Any]:
        """The ``storage_options`` of an encrypted URL."""
        return {"sealane": {"key": KEY}, self.protocol: self.target_options}

    @property
    def target(self) -> Any:
        """The filesystem that holds the encrypted files."""
        return fsspec.filesystem(self.protocol, **self.target_options)

    @property
    def fs(self) -> Any:
        """The encrypted filesystem."""
        return self.sealed(KEY)

    def sealed(self, key: str, **options: Any) -> Any:
        """The encrypted filesystem with another key."""
        return fsspec.filesystem(
            "sealane",
            target_protocol=self.protocol,
            target_options=self.target_options,
            key=key,
            **options,
        )

    def path(self, name: str) -> str:
        return f"{self.root}/{name}"

    def below(self, name: str) -> str:
        """Returns the URL of the encrypted file."""
        return f"{self.protocol}://{self.root}/{name}"

    def url(self, name: str) -> str:
        """Returns the URL of the plaintext."""
        return f"sealane::{self.below(name)}"

    def stored(self) -> dict[str, bytes]:
        """Returns the content of every stored file by its name."""
        target = self.target
        target.invalidate_cache()
        return {
            path[len(self.root) :].lstrip("/"): target.cat_file(path)
            for path in (target._strip_protocol(found) for found in target.find(self.root))
        }

    def uploads(self) -> list[Any]:
        """Returns the multipart uploads that are not completed."""
        target = self.target
        assert isinstance(target, s3fs.S3FileSystem)
        return target.call_s3("list_multipart_uploads", Bucket=self.root.split("/")[0]).get("Uploads", [])


def key_of(path: str) -> bytes:
    """Returns the key of a file, from the last part of its path, for ``each:parts:key_of``."""
    return hashlib.sha256(RAW + path.rpartition("/")[2].encode()).digest()


def called() -> bytes:
    """Returns the key for ``call:parts:called``."""
    return RAW


NUMBERS = itertools.count()


def place_of(kind: str, request: Any) -> Place:
    """Returns an empty folder on disk ("file"), in memory or on S3."""
    if kind == "s3":
        server = request.getfixturevalue("server")
        place = Place(
            "s3",
            f"bucket-{next(NUMBERS)}",
            {
                "key": "testing",
                "secret": "testing",
                "endpoint_url": server.url,
                "client_kwargs": {"region_name": "eu-west-1"},
            },
        )
        place.target.mkdir(place.root)
        place.target.invalidate_cache()
        return place
    if kind == "memory":
        memory = fsspec.filesystem("memory")
        memory.mkdir(root := f"/memory-{next(NUMBERS)}")
        # Tests that search this memory for plaintext would find what another test has left.
        request.addfinalizer(lambda: memory.exists(root) and memory.rm(root, recursive=True))
        return Place("memory", root, {})
    return Place("file", str(request.getfixturevalue("tmp_path") / "data"), {"auto_mkdir": True})
