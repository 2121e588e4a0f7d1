"""``sealane.fs.rewrap``: other recipients for age files on S3 (moto) and on other filesystems."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import fsspec
import pytest
import sealane
from parts import Server, forget_filesystems
from sealane.fs import _rewrap, rewrap
from support import pattern

OLD, NEW = sealane.keys.generate("age"), sealane.keys.generate("age")
KEYS: dict[str, Any] = {"identities": [OLD], "recipients": [NEW.public]}
MIB = 1 << 20


class Store:
    """The S3 server of moto. It counts the bytes of bodies, and knows conditions on the source of a copy."""

    def __init__(self, server: Server) -> None:
        self.server, self.sent, self.received = server, 0, 0
        self.before: Callable[[str, str], None] = lambda method, query: None
        self.options = {
            "key": "testing",
            "secret": "testing",
            "client_kwargs": {"endpoint_url": server.url, "region_name": "us-east-1"},
        }
        self.fs: Any = fsspec.filesystem("s3", **self.options)
        self._app, server._app = server._app, self

    def __call__(self, environ: dict[str, Any], start_response: Any) -> Iterator[bytes]:
        self.before(environ["REQUEST_METHOD"], environ["QUERY_STRING"])
        # moto ignores both conditions.
        conditions = [
            (environ.get("HTTP_X_AMZ_COPY_SOURCE_IF_MATCH"), environ.get("HTTP_X_AMZ_COPY_SOURCE", ""))
        ]
        if environ["REQUEST_METHOD"] == "POST":
            conditions.append((environ.get("HTTP_IF_MATCH"), environ["PATH_INFO"]))
        for condition, place in conditions:
            if condition is not None and condition != self._etag(
                place.partition("?")[0].lstrip("/"), environ
            ):
                start_response("412 Precondition Failed", [("Content-Type", "application/xml")])
                yield b"<Error><Code>PreconditionFailed</Code><Message>changed</Message></Error>"
                return
        self.sent += int(environ.get("CONTENT_LENGTH") or 0)
        for piece in self._app(environ, start_response):
            self.received += len(piece)
            yield piece

    def _etag(self, place: str, environ: dict[str, Any]) -> str:
        found = {}

        def started(status: str, headers: list[tuple[str, str]], *_: object) -> Callable[[bytes], object]:
            found.update({name.lower(): value for name, value in headers})
            return lambda data: None

        asked = {name: value for name, value in environ.items() if not name.startswith("HTTP_")}
        for name in "HTTP_HOST", "HTTP_AUTHORIZATION":
            asked[name] = environ[name]
        asked |= {
            "REQUEST_METHOD": "HEAD",
            "PATH_INFO": f"/{place}",
            "RAW_URI": f"/{place}",
            "QUERY_STRING": "",
        }
        list(self._app(asked | {"CONTENT_LENGTH": "0", "wsgi.input": io.BytesIO()}, started))
        return found["etag"]

    def put(self, data: bytes, **properties: Any) -> str:
        self.fs.call_s3("put_object", Bucket="bucket", Key="backup.age", Body=data, **properties)
        self.sent = self.received = 0
        return "s3://bucket/backup.age"

    def get(self, path: str = "bucket/backup.age") -> bytes:
        self.fs.invalidate_cache()
        return bytes(self.fs.cat_file(path))

    def uploads(self) -> list[Any]:
        found = self.fs.call_s3("list_multipart_uploads", Bucket="bucket")
        return found.get("Uploads") or []


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    server = Server()
    yield server
    forget_filesystems()
    server.close()


@pytest.fixture
def store(server: Server, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    # S3 allows no smaller part, and the objects of the tests are small.
    monkeypatch.setattr(_rewrap, "COPIED_PART", 5 * MIB)
    app = server._app
    store = Store(server)
    for bucket in "bucket", "other":
        # In this region, creating a bucket again is no error.
        store.fs.call_s3("create_bucket", Bucket=bucket)
    yield store
    store.before = lambda method, query: None
    assert store.uploads() == [], "an upload was left behind"
    server._app = app


def encrypted(length: int) -> bytes:
    return sealane.encrypt(pattern(length), recipients=[OLD.public])


@pytest.mark.parametrize(
    "length",
    [0, 100, 64 << 10, 5 * MIB - 600, 5 * MIB, 5 * MIB + (64 << 10), 6 * MIB, 10 * MIB + 3, 23 * MIB],
)
def test_objects_of_each_size(store: Store, length: int) -> None:
    before = encrypted(length)
    url = store.put(before)
    seen: list[tuple[int, int | None]] = []
    rewrap(url, **KEYS, storage_options=store.options, progress=lambda *counts: seen.append(counts))
    assert store.sent < 6 * MIB
    assert store.received < 6 * MIB
    after = store.get()
    assert sealane.decrypt(after, identities=[NEW]) == pattern(length)
    with pytest.raises(sealane.NoMatchingKeyError):
        sealane.decrypt(after, identities=[OLD])
    # Both headers have one recipient of the same type, so they have the same length.
    assert len(after) == len(before)
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)
    assert seen[-1][0] == seen[-1][1]


def test_headers_of_other_lengths(store: Store) -> None:
    """The new header is longer than a request for the old one, and then shorter."""
    many = [sealane.keys.generate("age").public for _ in range(1500)]
    url = store.put(encrypted(11 * MIB))
    rewrap(url, identities=[OLD], recipients=[*many, OLD.public], storage_options=store.options)
    longer = store.get()
    assert len(longer) > 11 * MIB + _rewrap.HEADER
    assert sealane.decrypt(longer, identities=[OLD]) == pattern(11 * MIB)
    store.sent = store.received = 0
    rewrap(url, **KEYS, storage_options=store.options)
    assert store.received < 6 * MIB
    assert sealane.decrypt(store.get(), identities=[NEW]) == pattern(11 * MIB)


def test_another_bucket_and_passphrases(store: Store) -> None:
    before = encrypted(12 * MIB)
    url = store.put(before)
    rewrap(
        url,
        "s3://other/copy of ü.age",
        identities=[OLD],
        new_passphrase="words",
        storage_options=store.options,
    )
    assert max(store.sent, store.received) < 6 * MIB
    assert store.get() == before
    assert sealane.decrypt(store.get("other/copy of ü.age"), passphrase="words") == pattern(12 * MIB)
    with pytest.raises(sealane.NoMatchingKeyError, match="wrong passphrase"):
        rewrap(
            "s3://other/copy of ü.age",
            passphrase="other",
            recipients=[NEW.public],
            storage_options=store.options,
        )


def test_properties_stay(store: Store) -> None:
    properties = {
        "ContentType": "application/x-age",
        "CacheControl": "no-store",
        "Metadata": {"owner": "sales"},
        "StorageClass": "STANDARD_IA",
    }
    for length in 1000, 11 * MIB:
        url = store.put(encrypted(length), Tagging="team=data&kind=backup", **properties)
        rewrap(url, **KEYS, storage_options=store.options)
        head = store.fs.call_s3("head_object", Bucket="bucket", Key="backup.age")
        assert {name: head[name] for name in properties} == properties
        tags = store.fs.call_s3("get_object_tagging", Bucket="bucket", Key="backup.age")["TagSet"]
        assert {tag["Key"]: tag["Value"] for tag in tags} == {"team": "data", "kind": "backup"}


@pytest.mark.parametrize("moment", ["GET", "uploads", "partNumber=2", "uploadId"])
@pytest.mark.parametrize("target", [None, "s3://other/new.age"])
def test_an_object_that_changes_meanwhile(store: Store, moment: str, target: str | None) -> None:
    url, other = store.put(encrypted(12 * MIB)), encrypted(1000)
    counted = []

    def change(method: str, query: str) -> None:
        names = [part.partition("=")[0] for part in query.split("&")]
        completing = method == "POST" and "uploadId" in names
        now = {
            # The second request for a range.
            "GET": method == "GET" and "uploadId" not in names,
            "uploads": "uploads" in names and method == "POST",
            "partNumber=2": moment in query,
            "uploadId": completing,
        }[moment]
        counted.append(now)
        if now and counted.count(True) == (2 if moment == "GET" else 1):
            store.before = lambda method, query: None
            client.put_object(Bucket="bucket", Key="backup.age", Body=other)

    import boto3

    client = boto3.client(
        "s3",
        endpoint_url=store.server.url,
        region_name="us-east-1",
        aws_access_key_id="testing",
        aws_secret_access_key="testing",
    )
    store.before = change
    if target is not None and moment == "uploadId":
        # All parts are copied then, and the target is another object.
        rewrap(url, target, **KEYS, storage_options=store.options)
        assert sealane.decrypt(store.get("other/new.age"), identities=[NEW]) == pattern(12 * MIB)
        return
    with pytest.raises(OSError, match="changed while it was rewrapped") as caught:
        rewrap(url, target, **KEYS, storage_options=store.options)
    assert "backup.age" in str(caught.value)
    assert store.get() == other
    client.close()


def test_a_store_that_copies_too_much(store: Store) -> None:
    """Some stores ignore the range of a copy. The old object is not replaced then."""
    before = encrypted(12 * MIB)
    url = store.put(before)
    call, fs = store.fs.call_s3, store.fs

    def ignoring(method: str, *lists: Any, **arguments: Any) -> Any:
        arguments.pop("CopySourceRange", None)
        return call(method, *lists, **arguments)

    with pytest.MonkeyPatch.context() as patch, pytest.raises(OSError, match="copied other bytes"):
        patch.setattr(fs, "call_s3", ignoring)
        rewrap(url, **KEYS, storage_options=store.options)
    assert store.get() == before


@pytest.mark.parametrize("refused", ["GET", "POST", "PUT", "partNumber=3", "uploadId"])
def test_requests_that_are_refused(store: Store, refused: str) -> None:
    before = encrypted(12 * MIB)
    url = store.put(before)

    def refuse(environ: dict[str, Any]) -> bool:
        if environ["REQUEST_METHOD"] == "DELETE":
            return False
        if refused == "uploadId":
            return environ["REQUEST_METHOD"] == "POST" and "uploadId" in environ["QUERY_STRING"]
        return refused in (environ["REQUEST_METHOD"], environ["QUERY_STRING"].partition("&")[2]) or (
            refused in environ["QUERY_STRING"]
        )

    with store.server.refusing(refuse), pytest.raises(PermissionError):
        rewrap(url, **KEYS, storage_options=store.options)
    assert store.get() == before


def test_a_callback_that_cancels(store: Store) -> None:
    before = encrypted(23 * MIB)
    url = store.put(before)

    def cancel(done: int, total: int | None) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        rewrap(url, **KEYS, progress=cancel, storage_options=store.options)
    assert store.get() == before


def test_what_is_not_a_binary_age_file(store: Store) -> None:
    armored = sealane.encrypt(pattern(7 * MIB), recipients=[OLD.public], armor=True)
    whole = encrypted(6 * MIB)
    cases: list[tuple[bytes, type[Exception], str | None]] = [
        (armored, ValueError, "expected a binary age file, found an armored one"),
        (b"", sealane.TruncatedError, "truncated"),
        (b"age-encryption.org/v1\n", sealane.TruncatedError, "truncated"),
        (whole[:100], sealane.TruncatedError, "truncated"),
        (b"text", sealane.FormatError, None),
        (b"age-encryption.org/v1\n" + b"x" * 200_000, sealane.FormatError, None),
        (sealane.encrypt(b"x", recipients=[NEW.public]), sealane.NoMatchingKeyError, None),
    ]
    for data, error, text in cases:
        url = store.put(data)
        with pytest.raises(error, match=text):
            rewrap(url, **KEYS, storage_options=store.options)
        assert store.get() == data
    with pytest.raises(FileNotFoundError):
        rewrap("s3://bucket/missing", **KEYS, storage_options=store.options)


def test_versions(store: Store) -> None:
    """The version that was found is the one that is read and copied."""
    store.fs.call_s3("put_bucket_versioning", Bucket="other", VersioningConfiguration={"Status": "Enabled"})
    store.fs.call_s3("put_object", Bucket="other", Key="file", Body=encrypted(7 * MIB))
    rewrap("s3://other/file", **KEYS, storage_options=store.options)
    assert sealane.decrypt(store.get("other/file"), identities=[NEW]) == pattern(7 * MIB)


@pytest.mark.parametrize("length", [0, 1000, 20 * MIB])
def test_other_filesystems(tmp_path: Path, store: Store, length: int) -> None:
    local = tmp_path / "file.age"
    local.write_bytes(encrypted(length))
    rewrap(f"file://{local}", identities=[OLD], recipients=[OLD.public, NEW.public])
    assert sealane.decrypt(local.read_bytes(), identities=[NEW]) == pattern(length)
    seen: list[tuple[int, int | None]] = []
    rewrap(str(local), "memory://rewrapped.age", **KEYS, progress=lambda *counts: seen.append(counts))
    assert all(done <= (total or 0) for done, total in seen)
    memory = fsspec.filesystem("memory")
    assert sealane.decrypt(memory.cat_file("/rewrapped.age"), identities=[NEW]) == pattern(length)
    rewrap("memory://rewrapped.age", identities=[NEW], recipients=[OLD.public])
    assert sealane.decrypt(memory.cat_file("/rewrapped.age"), identities=[OLD]) == pattern(length)
    with pytest.raises(sealane.NoMatchingKeyError, match=r"rewrapped\.age"):
        rewrap("memory://rewrapped.age", identities=[NEW], recipients=[OLD.public])
    memory.rm("/rewrapped.age")
    assert os.listdir(tmp_path) == ["file.age"]


def test_mistakes() -> None:
    for arguments in {}, {"identities": [OLD]}, {**KEYS, "passphrase": "x"}:
        with pytest.raises(TypeError):
            rewrap("memory://x", **arguments)
    with pytest.raises(FileNotFoundError):
        rewrap("memory://missing", **KEYS)


def test_the_program(store: Store, tmp_path: Path) -> None:
    url = store.put(encrypted(12 * MIB))
    OLD.save(tmp_path / "old.key")
    environment = os.environ | {
        "AWS_ENDPOINT_URL": store.server.url,
        "AWS_ACCESS_KEY_ID": "testing",
        "AWS_SECRET_ACCESS_KEY": "testing",
        "AWS_DEFAULT_REGION": "us-east-1",
    }

    def program(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "sealane", "rewrap", *arguments]
        return subprocess.run(command, env=environment, capture_output=True, text=True, cwd=tmp_path)

    options = ["-i", "old.key", "-r", str(NEW.public)]
    done = program(*options, url, "-o", "s3://other/by-program.age", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == {"source": url, "target": "s3://other/by-program.age"}
    assert "the file keys are still the same" in done.stderr
    assert sealane.decrypt(store.get("other/by-program.age"), identities=[NEW]) == pattern(12 * MIB)
    assert program(*options, url).returncode == 0
    assert sealane.decrypt(store.get(), identities=[NEW]) == pattern(12 * MIB)
    for arguments, status, text in [
        ([*options, url], 1, f"{url}: "),
        ([*options, "s3://bucket/missing"], 1, "s3://bucket/missing: "),
        ([*options, url, "file", "-o", url], 2, "expected one file and one destination"),
        ([*options, url, "--recursive"], 2, "--recursive is for folders"),
    ]:
        failed = program(*arguments)
        assert (failed.returncode, failed.stdout) == (status, "")
        assert text in failed.stderr
        assert len(failed.stderr.splitlines()) == 1
