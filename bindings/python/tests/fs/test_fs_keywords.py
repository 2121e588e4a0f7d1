"""Every keyword of a call reaches the filesystem below, or the call is refused before it writes."""

from __future__ import annotations

import asyncio
import pathlib
import random
from typing import Any

import fsspec
import pytest
import sealane
from fsspec.asyn import AsyncFileSystem
from fsspec.implementations.memory import MemoryFileSystem
from fsspec.spec import AbstractBufferedFile
from sealane.fs import SealaneFileSystem
from support import pattern

KEY = sealane.keys.Key.from_bytes(pattern(32))
SIZES = [0, 1000, 9 << 20, 20 << 20]
"""Plaintext sizes: below and above one request, and with several parts."""
KEYWORDS: dict[str, Any] = {
    "version_id": "v1",
    "generation": 7,
    "ACL": "private",
    "acl": "private",
    "Metadata": {"who": "me"},
    "StorageClass": "COLD",
    "ServerSideEncryption": "aws:kms",
    "SSECustomerKey": "k",
    "ContentType": "text/csv",
    "content_type": "text/csv",
    "chunksize": 5 << 20,
    "max_concurrency": 2,
    "if_none_match": "*",
}


@pytest.fixture(autouse=True)
def reference(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATASET_KEY", KEY.to_text())


class Recording:
    """Notes the keywords of each call in ``seen``, and the names of changed files in ``changed``."""

    seen: dict[str, Any]
    changed: list[str]
    data: dict[str, bytes]

    def note(self, options: dict[str, Any]) -> None:
        self.seen |= {name: value for name, value in options.items() if name in KEYWORDS}

    def store(self, path: str, data: bytes) -> None:
        self.changed.append(path)
        self.data[path] = bytes(data)


class Part(AbstractBufferedFile):  # type: ignore[misc]
    """A file object that uploads parts, and completes them at ``commit``."""

    def __init__(self, fs: Any, path: str, mode: str, autocommit: bool = True, **options: Any) -> None:
        fs.note(options)
        options = {name: value for name, value in options.items() if name not in KEYWORDS}
        super().__init__(fs, path, mode, autocommit=autocommit, **options)

    def _initiate_upload(self) -> None:
        self.parts: list[bytes] = []

    def _upload_chunk(self, final: bool = False) -> bool:
        self.parts.append(self.buffer.getvalue())
        if final and self.autocommit:
            self.commit()
        return True

    def commit(self) -> None:
        self.fs.store(self.path, b"".join(self.parts))

    def discard(self) -> None:
        self.parts = []

    def _fetch_range(self, start: int, end: int) -> bytes:
        return self.fs.data[self.path][start:end]  # type: ignore[no-any-return]


class Objects(Recording, AsyncFileSystem):  # type: ignore[misc]
    """An object store with coroutines."""

    protocol = "s3"
    cachable = False

    def __init__(self, shared: tuple[Any, Any] | None = None, **options: Any) -> None:
        super().__init__(**options)
        self.seen, self.data = shared or ({}, {})
        self.changed = []

    async def _info(self, path: str, **options: Any) -> dict[str, Any]:
        self.note(options)
        path = self._strip_protocol(path)
        if path in self.data:
            return {"name": path, "type": "file", "size": len(self.data[path])}
        if any(name.startswith(path + "/") for name in self.data):
            return {"name": path, "type": "directory", "size": 0}
        raise FileNotFoundError(path)

    async def _ls(self, path: str, detail: bool = True, **options: Any) -> list[Any]:
        self.note(options)
        path = self._strip_protocol(path)
        names = {name for name in self.data if name == path or name.rpartition("/")[0] == path}
        found = [{"name": name, "type": "file", "size": len(self.data[name])} for name in sorted(names)]
        return found if detail else [entry["name"] for entry in found]

    async def _cat_file(
        self, path: str, start: int | None = None, end: int | None = None, **options: Any
    ) -> bytes:
        self.note(options)
        return self.data[self._strip_protocol(path)][start:end]

    async def _pipe_file(self, path: str, value: bytes, mode: str = "overwrite", **options: Any) -> None:
        self.note(options)
        self.store(self._strip_protocol(path), value)

    async def _put_file(self, lpath: str, rpath: str, callback: Any = None, **options: Any) -> None:
        self.note(options)
        self.store(self._strip_protocol(rpath), pathlib.Path(lpath).read_bytes())

    async def _get_file(self, rpath: str, lpath: str, callback: Any = None, **options: Any) -> None:
        self.note(options)
        pathlib.Path(lpath).write_bytes(self.data[self._strip_protocol(rpath)])

    async def _cp_file(self, path1: str, path2: str, **options: Any) -> None:
        self.note(options)
        self.store(self._strip_protocol(path2), self.data[self._strip_protocol(path1)])

    async def _rm_file(self, path: str, **options: Any) -> None:
        self.note(options)
        del self.data[self._strip_protocol(path)]

    def _open(self, path: str, mode: str = "rb", **options: Any) -> Part:
        return Part(self, path, mode, **options)

    async def _makedirs(self, path: str, exist_ok: bool = False) -> None: ...

    async def _mkdir(self, path: str, create_parents: bool = True, **options: Any) -> None:
        self.note(options)


class Disk(Recording, MemoryFileSystem):  # type: ignore[misc]
    """A synchronous filesystem that may show incomplete files, so that files are renamed."""

    protocol = "disk"
    cachable = False

    def __init__(self, **options: Any) -> None:
        super().__init__(global_store=False, **options)
        self.seen, self.changed, self.data = {}, [], {}

    def _open(self, path: str, mode: str = "rb", **options: Any) -> Any:
        self.note(options)
        if mode != "rb":
            self.changed.append(path)
        return super()._open(path, mode, **options)

    def info(self, path: str, **options: Any) -> Any:
        self.note(options)
        return super().info(path)

    def ls(self, path: str, detail: bool = True, **options: Any) -> Any:
        self.note(options)
        return super().ls(path, detail)

    def cat_file(self, path: str, start: int | None = None, end: int | None = None, **options: Any) -> Any:
        self.note(options)
        return super().cat_file(path, start, end)

    def pipe_file(self, path: str, value: bytes, mode: str = "overwrite", **options: Any) -> None:
        self.note(options)
        self.changed.append(path)
        super().pipe_file(path, value, mode)

    def put_file(self, lpath: Any, rpath: str, callback: Any = None, **options: Any) -> None:
        self.note(options)
        self.changed.append(rpath)
        super().pipe_file(rpath, pathlib.Path(lpath).read_bytes())

    def get_file(self, rpath: str, lpath: Any, callback: Any = None, **options: Any) -> None:
        self.note(options)
        pathlib.Path(lpath).write_bytes(super().cat_file(rpath))

    def cp_file(self, path1: str, path2: str, **options: Any) -> None:
        self.note(options)
        self.changed.append(path2)
        super().cp_file(path1, path2)


READS: dict[str, Any] = {
    "open": lambda fs, path, tmp, options: fs.open(path, "rb", **options).read(),
    "open, text": lambda fs, path, tmp, options: fs.open(path, "r", encoding="latin-1", **options).read(),
    "cat": lambda fs, path, tmp, options: fs.cat(path, **options),
    "cat of a list": lambda fs, path, tmp, options: fs.cat([path], **options),
    "cat_file": lambda fs, path, tmp, options: fs.cat_file(path, **options),
    "cat_file of a range": lambda fs, path, tmp, options: fs.cat_file(path, start=3, end=400, **options),
    "cat_file of the end": lambda fs, path, tmp, options: fs.cat_file(path, start=-5, **options),
    "cat_ranges": lambda fs, path, tmp, options: fs.cat_ranges(
        [path] * 2, [0, 5], [9, 800], on_error="raise", **options
    ),
    "get": lambda fs, path, tmp, options: got(tmp, fs.get(path, str(tmp / "got"), **options)),
    "get_file": lambda fs, path, tmp, options: got(tmp, fs.get_file(path, str(tmp / "got"), **options)),
    "read_bytes": lambda fs, path, tmp, options: fs.read_bytes(path, **options),
    "info": lambda fs, path, tmp, options: fs.info(path, **options)["type"],
    "ls": lambda fs, path, tmp, options: len(fs.ls(path.rpartition("/")[0], detail=True, **options)),
}

WRITES: dict[str, Any] = {
    "open": lambda fs, path, tmp, size, options: written(fs.open(path, "wb", **options), size),
    "open, new": lambda fs, path, tmp, size, options: written(fs.open(path, "xb", **options), size),
    "open, bz2": lambda fs, path, tmp, size, options: written(
        fs.open(path, "wb", compression="bz2", **options), size
    ),
    "open, text": lambda fs, path, tmp, size, options: fs.open(path, "w", **options).close(),
    "pipe": lambda fs, path, tmp, size, options: fs.pipe({path: pattern(size)}, **options),
    "pipe_file": lambda fs, path, tmp, size, options: fs.pipe_file(path, pattern(size), **options),
    "pipe_file, new": lambda fs, path, tmp, size, options: fs.pipe_file(
        path, pattern(size), mode="create", **options
    ),
    "write_bytes": lambda fs, path, tmp, size, options: fs.write_bytes(path, pattern(size), **options),
    "put": lambda fs, path, tmp, size, options: fs.put(local(tmp, size), path, **options),
    "put_file": lambda fs, path, tmp, size, options: fs.put_file(local(tmp, size), path, **options),
    "touch": lambda fs, path, tmp, size, options: fs.touch(path, **options),
    "cp_file": lambda fs, path, tmp, size, options: fs.cp_file("bucket/old", path, **options),
    "copy": lambda fs, path, tmp, size, options: fs.copy("bucket/old", path, **options),
    "mv": lambda fs, path, tmp, size, options: fs.mv("bucket/old", path, **options),
}


def got(tmp: pathlib.Path, _: Any) -> bytes:
    return (tmp / "got").read_bytes()


def written(file: Any, size: int) -> None:
    with file:
        for at in range(0, size, 1 << 20):
            file.write(pattern(min(size - at, 1 << 20)))


def local(tmp: pathlib.Path, size: int) -> str:
    (tmp / "local").write_bytes(pattern(size))
    return str(tmp / "local")


def filled(kind: Any, *, sealed: bool) -> tuple[Any, Any]:
    """Returns a filesystem and the recording one below it, with a file."""
    below = kind()
    fs = SealaneFileSystem(fs=below, key="env:DATASET_KEY", skip_instance_cache=True) if sealed else below
    fs.pipe_file("bucket/old", pattern(100_000))
    below.seen.clear()
    below.changed.clear()
    return fs, below


def drawn(chance: random.Random) -> dict[str, Any]:
    return {name: KEYWORDS[name] for name in chance.sample(sorted(KEYWORDS), chance.randint(1, 3))}


@pytest.mark.parametrize("kind", [Objects, Disk])
@pytest.mark.parametrize("call", READS)
def test_reading(kind: Any, call: str, tmp_path: pathlib.Path) -> None:
    chance = random.Random(call)
    for _ in range(6):
        options = drawn(chance)
        found = {}
        for sealed in False, True:
            fs, below = filled(kind, sealed=sealed)
            found[sealed] = (READS[call](fs, "bucket/old", tmp_path, options), below.seen)
        assert found[True] == found[False]
        assert found[True][1] == options


@pytest.mark.parametrize("kind", [Objects, Disk])
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("call", WRITES)
def test_writing(kind: Any, size: int, call: str, tmp_path: pathlib.Path) -> None:
    chance = random.Random(f"{call} {size}")
    for _ in range(2):
        options = drawn(chance)
        plain, recorded = filled(kind, sealed=False)
        fs, below = filled(kind, sealed=True)
        WRITES[call](plain, "bucket/new", tmp_path, size, options)
        try:
            WRITES[call](fs, "bucket/new", tmp_path, size, options)
        except (TypeError, ValueError):
            assert below.changed == []
            assert recorded.seen != options, "it was refused, and the plain filesystem takes it"
            continue
        assert below.seen.items() >= recorded.seen.items()
        assert fs.cat_file("bucket/new") == (plain.cat_file("bucket/new"))


@pytest.mark.parametrize("kind", [Objects, Disk])
@pytest.mark.parametrize("mode", ["wb", "xb"])
def test_writing_in_a_transaction(kind: Any, mode: str) -> None:
    fs, below = filled(kind, sealed=True)
    with fs.transaction, fs.open("bucket/new", mode, Metadata={"who": "me"}) as file:
        file.write(b"data")
    assert below.seen == {"Metadata": {"who": "me"}}
    assert fs.cat_file("bucket/new") == b"data"


@pytest.mark.parametrize("size", [10, 20 << 20])
def test_a_block_size_that_the_store_refuses_is_refused_at_once(size: int) -> None:
    class Strict(Objects):
        def _open(self, path: str, mode: str = "rb", block_size: Any = None, **options: Any) -> Part:
            if "r" not in mode and block_size < 5 << 20:
                raise ValueError("Block size must be >=5MB")
            return super()._open(path, mode, block_size=block_size, **options)

    fs, below = filled(Strict, sealed=True)
    with pytest.raises(ValueError, match="Block size"):
        fs.open("bucket/new", "wb", block_size=1 << 20)
    assert below.changed == []


def test_coroutines_pass_keywords_on(tmp_path: pathlib.Path) -> None:
    async def work() -> None:
        below = Objects(asynchronous=True, shared=({}, {}))
        fs = SealaneFileSystem(fs=below, key="env:DATASET_KEY", skip_instance_cache=True)
        for call in (
            fs._pipe_file("bucket/a", b"data", ACL="x"),
            fs._put_file(local(tmp_path, 10), "bucket/b", ACL="x"),
            fs._touch("bucket/c", ACL="x"),
            fs._cat_file("bucket/a", ACL="x"),
            fs._cat(["bucket/a"], ACL="x"),
            fs._cat_ranges(["bucket/a"], [0], [2], ACL="x"),
            fs._get_file("bucket/a", str(tmp_path / "got"), ACL="x"),
            fs._cp_file("bucket/a", "bucket/d", ACL="x"),
            fs._info("bucket/a", ACL="x"),
            fs._rm_file("bucket/d", ACL="x"),
        ):
            below.seen.clear()
            await call
            assert below.seen == {"ACL": "x"}, call.__qualname__

    asyncio.run(work())


def test_a_size_that_the_file_does_not_have_is_refused() -> None:
    fs, _ = filled(Disk, sealed=True)
    assert fs.open("bucket/old", size=100_000).read() == pattern(100_000)
    with pytest.raises(ValueError, match="size is 5"):
        fs.open("bucket/old", size=5)


@pytest.mark.parametrize("kind", [Objects, Disk])
def test_keywords_of_an_open_file_read_ranges_too(kind: Any) -> None:
    fs, _ = filled(kind, sealed=True)
    for options in {"cache_type": "none"}, {"block_size": 1000}, {"size": 100_000}, {"cache_options": {}}:
        assert fs.cat_file("bucket/old", start=-5, **options) == pattern(100_000)[-5:]
        assert fs.cat_ranges(["bucket/old"], [3], [9], **options) == [pattern(100_000)[3:9]]


def test_a_depth_is_checked_by_every_method() -> None:
    fs, _ = filled(Objects, sealed=True)
    for method in fs.cat, fs.glob, fs.expand_path, fs.find, fs.du, fs.rm:
        with pytest.raises(ValueError, match="maxdepth must be at least 1"):
            method("bucket/old", maxdepth=0)
    with pytest.raises(TypeError, match="cat has no maxdepth"):
        fs.cat("bucket", recursive=True, maxdepth=1)


def test_an_empty_range_is_one_of_a_file_that_is_there() -> None:
    fs, below = filled(Objects, sealed=True)
    assert fs.cat_file("bucket/old", start=0, end=0) == fs.cat_file("bucket/old", start=7, end=3) == b""
    below.pipe_file("bucket/other", pattern(200))
    with pytest.raises(FileNotFoundError):
        fs.cat_file("bucket/none", start=0, end=0)
    with pytest.raises(sealane.AuthenticationError):
        fs.cat_file("bucket/other", start=0, end=0)
    found = fs.cat_ranges(["bucket/none", "bucket/old"], [5, 5], [2, 2])
    assert isinstance(found[0], FileNotFoundError)
    assert found[1] == b""


def test_a_reopened_file_has_the_same_keywords() -> None:
    fs, _ = filled(Disk, sealed=True)
    with fs.open("bucket/old", version_id="v1") as file:
        file.seek(10)
        options = file.__reduce__()[1]
        assert options[-1]["version_id"] == "v1"
        assert file.size == file.info()["size"] == 100_000
    assert file.closed


def test_local_files_take_any_keyword_that_the_plain_filesystem_takes(tmp_path: pathlib.Path) -> None:
    fs = fsspec.filesystem("sealane", target_protocol="file", key="env:DATASET_KEY")
    path = f"{tmp_path}/new/file"
    for size in 10, 20 << 20:
        written(fs.open(path, "wb", ContentType="text/csv"), size)
        fs.pipe_file(path, pattern(size), ContentType="text/csv")
        fs.put_file(local(tmp_path, size), path, ContentType="text/csv")
        assert fs.cat_file(path, ContentType="text/csv") == pattern(size)
        assert fs.open(path, ContentType="text/csv").read() == pattern(size)
        fs.cp_file(path, path + "2", ContentType="text/csv")
    with pytest.raises(TypeError):
        fs.rm_file(path, ContentType="text/csv")
    assert fs.exists(path)
