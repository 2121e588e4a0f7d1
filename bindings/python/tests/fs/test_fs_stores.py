"""Filesystems below that allow less than an object store: archives, caches, HTTP."""

from __future__ import annotations

import io
import pathlib
import tarfile
import threading
import time
from collections.abc import Callable
from typing import Any

import fsspec
import pytest
import sealane
from fsspec.implementations.asyn_wrapper import AsyncFileSystemWrapper
from fsspec.implementations.dirfs import DirFileSystem
from fsspec.spec import AbstractFileSystem
from sealane.fs import SealaneFileSystem
from support import pattern

KEY = sealane.keys.Key.from_bytes(pattern(32))
FILES = {f"d/{n}": pattern(3000 + n) for n in range(12)}


@pytest.fixture(autouse=True)
def reference(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATASET_KEY", KEY.to_text())


def over(fs: Any) -> SealaneFileSystem:
    return SealaneFileSystem(fs=fs, key="env:DATASET_KEY", skip_instance_cache=True)


class Single(AbstractFileSystem):  # type: ignore[misc]
    """A synchronous filesystem that notes whether two calls ran at the same time."""

    cachable = False

    def __init__(self) -> None:
        super().__init__()
        self.data = {name: sealane.encrypt(plain, key=KEY) for name, plain in FILES.items()}
        self.calls: list[tuple[str, dict[str, Any]]] = []
        self.clashes = 0
        self._free = threading.Lock()

    def _enter(self, call: str, options: dict[str, Any] | None = None) -> None:
        self.calls.append((call, options or {}))
        if not self._free.acquire(blocking=False):
            self.clashes += 1
            return
        time.sleep(0.002)
        self._free.release()

    def ls(self, path: str, detail: bool = True, **_: Any) -> list[Any]:
        self._enter("ls")
        names = [name for name in self.data if name == path or name.rpartition("/")[0] == path.strip("/")]
        found = [{"name": name, "type": "file", "size": len(self.data[name])} for name in names]
        if not found and not path.strip("/"):
            found = [{"name": "d", "type": "directory", "size": 0}]
        return found if detail else [one["name"] for one in found]

    def info(self, path: str, **options: Any) -> dict[str, Any]:
        if "version" in options:
            try:
                raise TypeError("request() got an unexpected keyword argument 'version'")
            except TypeError as error:
                raise FileNotFoundError(path) from error
        if path == "d":
            return {"name": "d", "type": "directory", "size": 0}
        if path not in self.data:
            raise FileNotFoundError(path)
        return {"name": path, "type": "file", "size": len(self.data[path])}

    def cat_file(self, path: str, start: int | None = None, end: int | None = None, **options: Any) -> bytes:
        self._enter("cat_file", options)
        return self.data[path][start:end]

    def get_file(self, rpath: str, lpath: str, callback: Any = None, **options: Any) -> None:
        self._enter("get_file", options)
        pathlib.Path(lpath).write_bytes(self.data[rpath])

    def _open(self, path: str, mode: str = "rb", **options: Any) -> Any:
        self._enter("open", options)
        if "r" in mode:
            return io.BytesIO(self.data[path])
        fs = self

        class Written(io.BytesIO):
            def close(self) -> None:
                fs.data[path] = self.getvalue()
                super().close()

        return Written()

    def cp_file(self, path1: str, path2: str, **options: Any) -> None:
        self._enter("cp_file")
        self.data[path2] = self.data[path1]

    def rm_file(self, path: str) -> None:
        self._enter("rm_file")
        del self.data[path]


class Sink(Single):
    """It cannot rename, like HTTP and archives."""

    cp_file = AbstractFileSystem.cp_file


def test_a_synchronous_filesystem_gets_one_call_at_a_time(tmp_path: pathlib.Path) -> None:
    below = Single()
    fs, names, count = over(below), list(FILES), len(FILES)
    assert fs.cat(names) == FILES
    assert fs.cat_ranges(names * 2, [1] * 2 * count, [9] * 2 * count)[0] == FILES["d/0"][1:9]
    assert fs.cat_ranges(names * 2, [-9] * 2 * count, [None] * 2 * count)[-1] == FILES["d/11"][-9:]
    fs.get("d", str(tmp_path / "a"), recursive=True)
    fs.get("d", str(tmp_path / "b"), recursive=True, chunk_size=7)
    for name, plain in FILES.items():
        assert [(tmp_path / x / name[2:]).read_bytes() for x in "ab"] == [plain, plain]
    assert ("get_file", {"chunk_size": 7}) in below.calls
    fs.put(str(tmp_path / "a"), "d", recursive=True)
    fs.pipe({f"d/new{n}": pattern(n) for n in range(12)})
    assert fs.cat_file("d/new11") == pattern(11)
    assert below.clashes == 0


def test_an_archive_is_read_in_order(tmp_path: pathlib.Path) -> None:
    """Its files share the position in the archive."""
    with tarfile.open(tmp_path / "a.tar", "w") as archive:
        for name, plain in FILES.items():
            sealed = sealane.encrypt(plain * 50, key=KEY)
            member = tarfile.TarInfo(name)
            member.size = len(sealed)
            archive.addfile(member, io.BytesIO(sealed))
    tar = fsspec.filesystem("tar", fo=str(tmp_path / "a.tar"), skip_instance_cache=True)
    wrapped = AsyncFileSystemWrapper(tar, asynchronous=False)
    for below in (tar, wrapped, DirFileSystem("d", tar), DirFileSystem("d", wrapped)):
        start = "" if isinstance(below, DirFileSystem) else "d/"
        wanted = {start + name[2:]: plain * 50 for name, plain in FILES.items()}
        fs = over(below)
        for _ in range(5):
            assert fs.cat(list(wanted)) == wanted


@pytest.mark.parametrize("cache", ["simplecache", "filecache"])
def test_a_cache_gets_a_file_once(cache: str, tmp_path: pathlib.Path) -> None:
    plain = pattern(3 << 20)
    (tmp_path / "file").write_bytes(sealane.encrypt(plain, key=KEY))
    path = str(tmp_path / "file")
    for n in range(3):
        below = fsspec.filesystem(cache, target_protocol="file", cache_storage=str(tmp_path / f"{cache}{n}"))
        found = over(below).cat_ranges([path] * 8, [None, -1] * 4, [None] * 8)
        assert found == [plain, plain[-1:]] * 4


WRITES: dict[str, Callable[[SealaneFileSystem, str], Any]] = {
    "open": lambda fs, _: fs.open("d/new", "wb"),
    "open with a keyword": lambda fs, _: fs.open("d/new", "wb", headers={}),
    "pipe": lambda fs, _: fs.pipe_file("d/new", b"x"),
    "long pipe": lambda fs, _: fs.pipe_file("d/new", bytes(20 << 20)),
    "create": lambda fs, _: fs.pipe_file("d/new", b"x", mode="create"),
    "touch": lambda fs, _: fs.touch("d/new"),
    "put": lambda fs, path: fs.put_file(path, "d/new"),
    "put with a keyword": lambda fs, path: fs.put_file(path, "d/new", headers={}),
    "cp": lambda fs, _: fs.cp_file("d/0", "d/new"),
    "mv": lambda fs, _: fs.mv("d/0", "d/new"),
}


@pytest.mark.parametrize("name", WRITES)
def test_nothing_is_sent_where_no_file_can_be_renamed(name: str, tmp_path: pathlib.Path) -> None:
    (tmp_path / "file").write_bytes(b"x")
    below = Sink()
    with pytest.raises(NotImplementedError, match="d/new: Sink cannot rename files"):
        WRITES[name](over(below), str(tmp_path / "file"))
    assert below.data.keys() == FILES.keys()
    assert not any(call == "open" for call, _ in below.calls)


def test_an_unknown_keyword_is_not_a_missing_file() -> None:
    with pytest.raises(TypeError, match=r"d/0: .*unexpected keyword argument 'version'"):
        over(Single()).info("d/0", version=1)


def test_sizes_that_only_a_question_tells() -> None:
    """A cache's properties are those of a listing, and HTTP lists no sizes."""

    class Unsized(Single):
        def info(self, path: str, **options: Any) -> dict[str, Any]:
            return super().info(path, **options) | {"size": None}

        def ls(self, path: str, detail: bool = True, **options: Any) -> list[Any]:
            found = super().ls(path, True, **options)
            return [one | {"size": None} for one in found] if detail else [one["name"] for one in found]

        def size(self, path: str) -> int:
            return len(self.data[path])

    fs = over(Unsized())
    assert fs.info("d/3")["size"] == fs.size("d/3") == 3003
    assert fs.du("d") == sum(map(len, FILES.values()))
    assert fs.du("d/3", total=False) == {"d/3": 3003}
    assert fs.cat_file("d/3", start=9999, end=10000) == b""
    with fs.open("d/3") as file:
        assert file.read() == FILES["d/3"]


def test_sizes_that_cannot_be(tmp_path: pathlib.Path) -> None:
    path = str(tmp_path / "file")
    for below in ("file", "memory"):
        fs = over(fsspec.filesystem(below))
        fs.pipe_file(path, b"four")
        with pytest.raises(ValueError, match="size is 3, but the file has 4 bytes"):
            fs.open(path, size=3)
        # A cache that reads ahead would skip the last byte.
        with pytest.raises(ValueError, match="block_size must be positive"):
            fs.open(path, block_size=-1)
        fs.rm(path)
