"""The dataset key cannot be removed, moved, replaced or half-written, on any kind of filesystem."""

from __future__ import annotations

import os
import pathlib
import random
import shutil
import sys
import threading
import types
from collections.abc import Callable, Iterator
from typing import Any

import fsspec
import pytest
import sealane
from fsspec.implementations.asyn_wrapper import AsyncFileSystemWrapper
from fsspec.implementations.dirfs import DirFileSystem
from fsspec.implementations.memory import MemoryFileSystem
from fsspec.spec import AbstractFileSystem
from sealane.fs import SealaneFileSystem, create_dataset_key, rewrap_dataset_key
from support import leftovers

ALICE, BOB = sealane.keys.generate("age"), sealane.keys.generate("age")


class Plain(AbstractFileSystem):
    """A filesystem as SFTP, SMB, HDFS and WebDAV are: files are overwritten in place, and moving can copy."""

    protocol = "plain"
    cachable = False
    root_marker = "/"

    def __init__(self, root: str, **options: Any) -> None:
        super().__init__(**options)
        self.root = root
        self.fail: Callable[[str, str], None] = lambda call, path: None

    def info(self, path: str, **options: Any) -> Any:
        path = self._strip_protocol(path)
        stat = os.stat(self.root + path)
        kind = "directory" if os.path.isdir(self.root + path) else "file"
        return {"name": path, "size": stat.st_size, "type": kind}

    def ls(self, path: str, detail: bool = True, **options: Any) -> Any:
        path = self._strip_protocol(path).rstrip("/")
        found = [self.info(f"{path}/{name}") for name in sorted(os.listdir(self.root + path))]
        return found if detail else [one["name"] for one in found]

    def _open(self, path: str, mode: str = "rb", **options: Any) -> Any:
        os.makedirs(os.path.dirname(self.root + path), exist_ok=True)
        file = open(self.root + path, mode)  # noqa: SIM115
        if "r" not in mode:
            try:
                self.fail("write", path)
            except BaseException:
                file.close()
                raise
        return file

    def cp_file(self, path1: str, path2: str, **options: Any) -> None:
        if self.isdir(path1):
            os.makedirs(self.root + path2, exist_ok=True)
        else:
            self.pipe_file(path2, self.cat_file(path1))

    def rm_file(self, path: str) -> None:
        if self.isdir(path):
            os.rmdir(self.root + path)
        else:
            os.remove(self.root + path)

    def rmdir(self, path: str) -> None:
        os.rmdir(self.root + path)

    def makedirs(self, path: str, exist_ok: bool = False) -> None:
        os.makedirs(self.root + path, exist_ok=exist_ok)


KINDS = ["file", "memory", "plain", "dir", "asynchronous"]


@pytest.fixture(params=KINDS)
def place(request: pytest.FixtureRequest, tmp_path: pathlib.Path) -> Iterator[tuple[Any, str]]:
    """A filesystem and a folder on it."""
    root = tmp_path / "root"
    root.mkdir()
    match request.param:
        case "file":
            yield fsspec.filesystem("file"), str(root)
        case "memory":
            yield MemoryFileSystem(global_store=False, skip_instance_cache=True), ""
        case "plain":
            yield Plain(str(root)), ""
        case "asynchronous":
            plain = Plain(str(root), skip_instance_cache=True)
            yield AsyncFileSystemWrapper(plain, asynchronous=False), ""
        case "dir":
            local = fsspec.filesystem("file", auto_mkdir=True, skip_instance_cache=True)
            yield DirFileSystem(str(root), local, skip_instance_cache=True), "folder"


class Dataset:
    """Three files, two of them in a folder, and their key."""

    def __init__(self, below: Any, folder: str, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("ALICE", ALICE.to_text())
        monkeypatch.setenv("BOB", BOB.to_text())
        monkeypatch.setattr("sealane.fs._store.url_to_fs", lambda url, **_: (below, url))
        self.below, self.folder = below, folder
        self.data = f"{folder}/data"
        self.key = f"{self.data}/sub/key.age"
        below.makedirs(f"{self.data}/sub", exist_ok=True)
        create_dataset_key(self.key, recipients=[ALICE.public])
        self.sealed_key = below.cat_file(self.key)
        self.fs = self.opened()
        self.fs.pipe(
            {f"{self.data}/a": b"one", f"{self.data}/sub/k1": b"two", f"{self.data}/sub/k2": b"three"}
        )

    def opened(self, identity: str = "ALICE") -> SealaneFileSystem:
        return SealaneFileSystem(
            fs=self.below, key=f"age:{self.key}", identity=f"env:{identity}", skip_instance_cache=True
        )

    def files(self) -> list[str]:
        return sorted(name.removeprefix(self.folder + "/") for name in self.below.find(self.folder or "/"))

    def check(self) -> None:
        assert self.below.cat_file(self.key) == self.sealed_key


@pytest.fixture
def dataset(place: tuple[Any, str], monkeypatch: pytest.MonkeyPatch) -> Dataset:
    return Dataset(*place, monkeypatch)


@pytest.mark.parametrize(
    ("arguments", "left"),
    [
        (("{data}/*", True), []),
        (("{data}/sub/*",), ["data/a"]),
        (("{data}/sub/k*",), ["data/a"]),
        (("{data}/sub/key.ag?",), ["data/a", "data/sub/k1", "data/sub/k2"]),
        (("{data}/**", True), []),
        (("{data}", True), []),
        (("{data}/", True), []),
        (("{folder}/", True), []),
        (("{data}/sub", True), ["data/a"]),
        (("{folder}/d*", True), []),
        ((["{data}/a", "{data}/sub/k[a-z]*"],), ["data/sub/k1", "data/sub/k2"]),
        ((["{data}/a", "{data}/sub/k*"],), []),
        ((["{data}/sub/k1", "{data}"], True), []),
    ],
)
def test_rm_removes_everything_but_the_key(dataset: Dataset, arguments: Any, left: list[str]) -> None:
    path, *recursive = arguments
    names = {"data": dataset.data, "folder": dataset.folder}
    path = [one.format(**names) for one in path] if isinstance(path, list) else path.format(**names)
    dataset.fs.rm(path, *recursive)
    dataset.check()
    assert dataset.files() == sorted([*left, "data/sub/key.age"])
    assert dataset.opened().find(dataset.data) == [f"{dataset.folder}/{name}" for name in left]


@pytest.mark.parametrize(
    ("source", "target", "recursive", "moved"),
    [
        ("{data}/*", "{folder}/moved/", True, {"a": b"one", "sub/k1": b"two", "sub/k2": b"three"}),
        ("{data}/sub/*", "{folder}/moved/", False, {"k1": b"two", "k2": b"three"}),
        ("{data}", "{folder}/moved", True, {"a": b"one", "sub/k1": b"two", "sub/k2": b"three"}),
        ("{data}/sub", "{folder}/moved", True, {"k1": b"two", "k2": b"three"}),
        ("{data}/a", "{folder}/moved/b", False, {"b": b"one"}),
    ],
)
def test_mv_moves_everything_but_the_key(
    dataset: Dataset, source: str, target: str, recursive: bool, moved: dict[str, bytes]
) -> None:
    names = {"data": dataset.data, "folder": dataset.folder}
    dataset.fs.makedirs(f"{dataset.folder}/moved", exist_ok=True)
    if source.endswith(("sub", "data}")) and "*" not in source:
        dataset.fs.rmdir(f"{dataset.folder}/moved")
    dataset.fs.mv(source.format(**names), target.format(**names), recursive=recursive)
    dataset.check()
    for name, content in moved.items():
        assert dataset.opened().cat_file(f"{dataset.folder}/moved/{name}") == content
        assert not dataset.fs.exists(f"{dataset.data}/{name}")


@pytest.mark.parametrize(("source", "target"), [("a", ""), ("sub", ""), ("*", ""), ("sub/*", "sub/")])
def test_mv_to_the_own_name_keeps_the_file(dataset: Dataset, source: str, target: str) -> None:
    before = dataset.files()
    dataset.fs.mv(f"{dataset.data}/{source}", f"{dataset.data}/{target}", recursive=True)
    dataset.check()
    assert dataset.files() == before
    assert dataset.fs.cat_file(f"{dataset.data}/a") == b"one"


def test_mv_does_not_overwrite_what_it_moves(dataset: Dataset) -> None:
    dataset.fs.pipe({f"{dataset.data}/m/x": b"outer", f"{dataset.data}/m/m/x": b"inner"})
    with pytest.raises(OSError, match="moved as well"):
        dataset.fs.mv(f"{dataset.data}/m/", f"{dataset.data}/m/m", recursive=True)
    assert dataset.fs.cat_file(f"{dataset.data}/m/x") == b"outer"
    assert dataset.fs.cat_file(f"{dataset.data}/m/m/x") == b"inner"


def test_every_call_that_names_the_key_is_refused(dataset: Dataset, tmp_path: pathlib.Path) -> None:
    fs, key, data = dataset.fs, dataset.key, dataset.data
    spellings = [key]
    if not isinstance(dataset.below, MemoryFileSystem):
        spellings += [f"{data}//sub/key.age", f"{data}/./sub/key.age", f"{data}/x/../sub/key.age"]
    other = tmp_path / "key.age"
    other.write_bytes(b"other")
    for name in spellings:
        for work in (
            lambda name=name: fs.rm(name),
            lambda name=name: fs.rm([f"{data}/a", name]),
            lambda name=name: fs.rm_file(name),
            lambda name=name: fs.delete(name),
            lambda name=name: fs.pipe_file(name, b""),
            lambda name=name: fs.pipe({name: b""}),
            lambda name=name: fs.write_text(name, ""),
            lambda name=name: fs.touch(name),
            lambda name=name: fs.open(name, "wb"),
            lambda name=name: fs.open(name, "xb"),
            lambda name=name: fs.mv(name, f"{data}/new"),
            lambda name=name: fs.mv(f"{data}/a", name),
            lambda name=name: fs.mv([f"{data}/a", name], [f"{data}/x", f"{data}/y"]),
            lambda name=name: fs.rename(f"{data}/a", name),
            lambda name=name: fs.cp_file(f"{data}/a", name),
            lambda name=name: fs.copy(f"{data}/a", name),
            lambda name=name: fs.put_file(str(other), name),
            lambda name=name: fs.put(str(other), name),
            lambda name=name: fs.mkdir(name),
            lambda name=name: fs.makedirs(name, exist_ok=True),
            lambda name=name: fs.rmdir(name),
        ):
            with pytest.raises(PermissionError, match=r"key\.age"):
                work()
            dataset.check()
    # A file of the same name elsewhere, that would land on the key.
    fs.pipe_file(f"{data}/b/key.age", b"data")
    for work in (
        lambda: fs.cp(f"{data}/b/", f"{data}/sub/", recursive=True),
        lambda: fs.mv(f"{data}/b/key.age", f"{data}/sub/"),
        lambda: fs.mv(f"{data}/b/", f"{data}/sub/", recursive=True),
        lambda: fs.put(str(other), f"{data}/sub/"),
    ):
        with pytest.raises(PermissionError, match=r"key\.age"):
            work()
        dataset.check()
        assert fs.cat_file(f"{data}/b/key.age") == b"data"
    fs.get_mapper(data).clear()
    dataset.check()
    assert dataset.files() == ["data/sub/key.age"]


def test_random_calls_do_not_change_the_key(dataset: Dataset) -> None:
    chance = random.Random(3)
    data = dataset.data
    patterns = [
        "*",
        "**",
        "k*",
        "sub",
        "sub/",
        "sub/*",
        "sub/**",
        "a",
        "[k]*",
        "*/key*",
        "sub/k?",
        "",
        "new",
        "new/sub",
    ]
    for _ in range(150):
        one, two = (f"{data}/{chance.choice(patterns)}" for _ in "12")
        recursive = chance.random() < 0.7
        call = chance.choice(["rm", "mv", "cp", "pipe", "rmdir", "several"])
        try:
            match call:
                case "rm":
                    dataset.fs.rm(one, recursive=recursive, maxdepth=chance.choice([None, None, 1, 2]))
                case "several":
                    dataset.fs.rm([one, two], recursive=recursive)
                case "mv":
                    dataset.fs.mv(one, two, recursive=recursive)
                case "cp":
                    dataset.fs.cp(one, two, recursive=recursive)
                case "rmdir":
                    dataset.fs.rmdir(one)
                case "pipe":
                    dataset.fs.pipe_file(
                        f"{data}/{chance.choice(['a', 'sub/k1', 'sub/new*', 'k[e]y.age'])}", b"data"
                    )
        except (OSError, ValueError, AssertionError):
            pass  # Many combinations make no sense. AssertionError is of fsspec's `other_paths`.
        dataset.check()


def test_links_do_not_lead_around_the_guard(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    dataset = Dataset(fsspec.filesystem("file"), str(tmp_path), monkeypatch)
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "file").write_bytes(b"not of the dataset")
    os.symlink(dataset.key, f"{dataset.data}/link")
    os.symlink(dataset.data, tmp_path / "folder")
    os.symlink(outside, f"{dataset.data}/sub/out")
    link = f"{tmp_path}/folder/sub/key.age"
    for path in (f"{dataset.data}/link", link):
        for work in (dataset.fs.rm, lambda path: dataset.fs.pipe_file(path, b""), dataset.fs.rm_file):
            with pytest.raises(PermissionError):
                work(path)
    dataset.fs.rm(str(tmp_path / "folder"), recursive=True)
    dataset.check()
    dataset.fs.rm(dataset.data, recursive=True)
    dataset.check()
    assert leftovers(tmp_path / "data" / "sub") == ["key.age"]
    # As `rm` of the local filesystem does, only the link is removed.
    assert leftovers(outside) == ["file"]


def test_names_that_look_like_patterns(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for kind in (fsspec.filesystem("file"), MemoryFileSystem(global_store=False, skip_instance_cache=True)):
        folder = f"{tmp_path}/{type(kind).__name__}"
        dataset = Dataset(kind, folder, monkeypatch)
        dataset.fs.pipe({f"{dataset.data}/sub/k*": b"star", f"{dataset.data}/sub/k[12]/x": b"set"})
        dataset.fs.rm(f"{dataset.data}/sub", recursive=True)
        dataset.check()
        assert dataset.files() == ["data/a", "data/sub/key.age"]


def test_a_server_cannot_extend_a_removal(monkeypatch: pytest.MonkeyPatch) -> None:
    """A listing of a folder that contains names of other folders."""

    class Listing(MemoryFileSystem):
        cachable = False

        def ls(self, path: str, detail: bool = True, **options: Any) -> Any:
            found = super().ls(path, detail=detail, **options)
            return [*found, {"name": "/other/file", "size": 9, "type": "file"}]

    below = Listing(global_store=False, skip_instance_cache=True)
    dataset = Dataset(below, "", monkeypatch)
    below.pipe_file("/other/file", b"elsewhere")
    dataset.fs.rm("/data", recursive=True)
    dataset.check()
    assert below.cat_file("/other/file") == b"elsewhere"


def test_a_file_that_arrives_during_a_move_is_not_removed(monkeypatch: pytest.MonkeyPatch) -> None:
    below = MemoryFileSystem(global_store=False, skip_instance_cache=True)
    dataset = Dataset(below, "", monkeypatch)
    copy = below.cp_file

    def copying(path1: str, path2: str, **options: Any) -> None:
        copy(path1, path2, **options)
        below.pipe_file("/data/arrived", b"during the move")

    monkeypatch.setattr(below, "cp_file", copying)
    dataset.fs.mv("/data/*", "/moved/", recursive=True)
    dataset.check()
    assert below.cat_file("/data/arrived") == b"during the move"
    assert below.exists("/moved/a")


# Changing the key


def test_a_failed_rewrap_leaves_the_old_key(dataset: Dataset, monkeypatch: pytest.MonkeyPatch) -> None:
    """The connection is reset when the file is opened, after it was truncated."""
    if not isinstance(dataset.below, Plain):
        names = ["pipe_file", "mv"] if isinstance(dataset.below, DirFileSystem) else ["pipe_file"]
    else:
        names = ["pipe_file", "mv", "cp_file"]
    if dataset.fs.local:
        monkeypatch.setattr("sealane.fs._dataset_key.staged", failing)
        names = []
    for name in names or [None]:
        with monkeypatch.context() as patch:
            if name:
                patch.setattr(dataset.below, name, failing)
            with pytest.raises(OSError, match="reset"):
                rewrap_dataset_key(dataset.key, identity="env:ALICE", recipients=[ALICE.public, BOB.public])
        dataset.check()
        assert dataset.opened().cat_file(f"{dataset.data}/a") == b"one"
        assert "part" not in " ".join(dataset.files())


def failing(*_: Any, **__: Any) -> Any:
    raise ConnectionResetError(104, "Connection reset by peer")


def test_an_overwritten_key_is_complete_beside_it(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Moving copies here, and the connection is reset in the middle of the copy."""
    below = Plain(str(tmp_path))
    dataset = Dataset(below, "", monkeypatch)

    def fail(call: str, path: str) -> None:
        if path == dataset.key:
            raise ConnectionResetError(104, "Connection reset by peer")

    below.fail = fail
    with pytest.raises(OSError, match=r"complete key is in '/data/sub/\.key\.age\.") as raised:
        rewrap_dataset_key(dataset.key, identity="env:ALICE", recipients=[BOB.public])
    assert raised.value.filename == dataset.key
    assert below.cat_file(dataset.key) == b""
    below.fail = lambda call, path: None
    (copy,) = (tmp_path / "data" / "sub").glob(".key.age.*.part")
    shutil.copy(copy, tmp_path / "data" / "sub" / "key.age")
    assert dataset.opened("BOB").cat_file(f"{dataset.data}/a") == b"one"


def test_a_rewrap_that_did_not_happen_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    below = MemoryFileSystem(global_store=False, skip_instance_cache=True)
    dataset = Dataset(below, "", monkeypatch)
    monkeypatch.setattr(below, "pipe_file", lambda *_, **__: None)
    with pytest.raises(OSError, match="does not have the content") as raised:
        rewrap_dataset_key(dataset.key, identity="env:ALICE", recipients=[BOB.public])
    assert raised.value.filename == dataset.key
    dataset.check()


def test_a_key_that_another_process_created_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """A store that ignores the mode "create" would otherwise leave data under a lost key."""
    below = MemoryFileSystem(global_store=False, skip_instance_cache=True)
    monkeypatch.setattr("sealane.fs._store.url_to_fs", lambda url, **_: (below, url))
    pipe = below.pipe_file

    def slow(path: str, data: bytes, **options: Any) -> None:
        pipe(path, data)
        pipe(path, b"the key of the other process")

    monkeypatch.setattr(below, "pipe_file", slow)
    with pytest.raises(OSError, match="does not have the content"):
        create_dataset_key("/key.age", recipients=[ALICE.public])


# A reference is resolved once


def test_a_reference_is_resolved_once_for_writing_and_reading(
    place: tuple[Any, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The function creates a key at each call, as a key management service does."""
    below, folder = place
    module, calls = types.ModuleType("some_service"), []
    module.new_key = lambda: calls.append(1) or os.urandom(32)
    monkeypatch.setitem(sys.modules, "some_service", module)
    fs = SealaneFileSystem(fs=below, key="call:some_service:new_key", skip_instance_cache=True)
    fs.pipe_file(f"{folder}/file", b"data")
    assert fs.cat_file(f"{folder}/file") == b"data"
    assert len(calls) == 1

    monkeypatch.setenv("CHANGING", sealane.keys.generate("aes-256").to_text())
    fs = SealaneFileSystem(fs=below, key="env:CHANGING", skip_instance_cache=True)
    fs.pipe_file(f"{folder}/file", b"data")
    monkeypatch.setenv("CHANGING", sealane.keys.generate("aes-256").to_text())
    assert fs.cat_file(f"{folder}/file") == b"data"


def test_threads_resolve_a_reference_together(monkeypatch: pytest.MonkeyPatch) -> None:
    module, calls, start = types.ModuleType("slow_service"), [], threading.Barrier(8)

    def new_key() -> bytes:
        calls.append(1)
        threading.Event().wait(0.05)
        return os.urandom(32)

    module.new_key = new_key
    monkeypatch.setitem(sys.modules, "slow_service", module)
    below = MemoryFileSystem(global_store=False, skip_instance_cache=True)
    fs = SealaneFileSystem(fs=below, key="call:slow_service:new_key", skip_instance_cache=True)
    results = []

    def work(n: int) -> None:
        start.wait()
        fs.pipe_file(f"/{n}", b"data")
        results.append(fs.cat_file(f"/{n}"))

    threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [b"data"] * 8
    assert len(calls) == 1


def test_a_reference_that_failed_is_resolved_again(monkeypatch: pytest.MonkeyPatch) -> None:
    below = MemoryFileSystem(global_store=False, skip_instance_cache=True)
    fs = SealaneFileSystem(fs=below, key="env:LATER", skip_instance_cache=True)
    with pytest.raises(sealane.KeyNotFoundError):
        fs.pipe_file("/file", b"data")
    monkeypatch.setenv("LATER", sealane.keys.generate("aes-256").to_text())
    fs.pipe_file("/file", b"data")
    assert fs.cat_file("/file") == b"data"
