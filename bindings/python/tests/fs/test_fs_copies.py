"""Copies and renames: all files, each complete, under the name that was given."""

from __future__ import annotations

import errno
import os
import pathlib
import shutil
import stat
import time
from collections.abc import Callable
from typing import Any

import pytest
import sealane
from fsspec.implementations.asyn_wrapper import AsyncFileSystemWrapper
from fsspec.implementations.dirfs import DirFileSystem
from fsspec.implementations.local import LocalFileSystem
from sealane.fs import SealaneFileSystem
from support import pattern

KEY = sealane.keys.Key.from_bytes(pattern(32))


@pytest.fixture(autouse=True)
def reference(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATASET_KEY", KEY.to_text())


class Disk(LocalFileSystem):  # type: ignore[misc]
    """A local disk with slow folders, slow copies, and renames that it may refuse silently."""

    cachable = False
    slow: tuple[str, ...] = ()
    refuses = False

    def ls(self, path: str, detail: bool = False, **options: Any) -> Any:
        if path.endswith("/locked"):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)
        return super().ls(path, detail=detail, **options)

    def makedirs(self, path: str, exist_ok: bool = False) -> None:
        time.sleep(0.2)
        super().makedirs(path, exist_ok=exist_ok)

    def cp_file(self, path1: str, path2: str, **options: Any) -> None:
        if path1.endswith(self.slow):
            pathlib.Path(path2).write_bytes(b"half")
            time.sleep(0.2)
        super().cp_file(path1, path2, **options)

    def mv(self, path1: str, path2: str, **options: Any) -> None:
        if not self.refuses:
            shutil.move(path1, path2)


Below = Callable[[LocalFileSystem, str], tuple[Any, str]]
BELOW: list[Below] = [
    lambda disk, root: (DirFileSystem(root, disk), ""),
    lambda disk, root: (AsyncFileSystemWrapper(disk, asynchronous=False), root),
    lambda disk, root: (DirFileSystem(root, AsyncFileSystemWrapper(disk, asynchronous=False)), ""),
    lambda disk, root: (disk, root),
]


def over(fs: Any) -> SealaneFileSystem:
    return SealaneFileSystem(fs=fs, key="env:DATASET_KEY", skip_instance_cache=True)


def names(folder: pathlib.Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


@pytest.mark.parametrize("below", BELOW)
@pytest.mark.parametrize("move", [False, True])
def test_no_file_is_left_out_because_its_folder_comes_later(
    tmp_path: pathlib.Path, below: Below, move: bool
) -> None:
    for name in ["a", "b", "sub/c", "sub/deep/d"]:
        (tmp_path / "from" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "from" / name).write_bytes(sealane.encrypt(b"data", key=KEY))
    wanted = names(tmp_path / "from")
    fs, root = below(Disk(), str(tmp_path))
    (over(fs).mv if move else over(fs).cp)(f"{root}/from", f"{root}/to", recursive=True)
    assert names(tmp_path / "to") == wanted
    assert (tmp_path / "from" / "a").exists() != move


def test_a_file_that_vanished_is_left_out_as_asked(tmp_path: pathlib.Path) -> None:
    (tmp_path / "a").write_bytes(sealane.encrypt(b"data", key=KEY))
    fs = over(DirFileSystem(str(tmp_path), Disk()))
    with pytest.raises(FileNotFoundError):
        fs.cp(["/a", "/lost"], ["/b", "/c"])
    fs.cp(["/a", "/lost"], ["/b", "/c"], on_error="ignore")
    assert names(tmp_path) == ["a", "b"]
    for call in (fs.cp, fs.mv, fs.put, fs.get):
        with pytest.raises(ValueError, match="expected one target for each source, found 1 for 2"):
            call(["/a", "/b"], ["/c"])


@pytest.mark.parametrize("below", BELOW)
def test_a_folder_that_cannot_be_listed_is_not_an_empty_one(tmp_path: pathlib.Path, below: Below) -> None:
    for name in ["a/b", "a/locked/c"]:
        (tmp_path / "from" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "from" / name).write_bytes(sealane.encrypt(b"data", key=KEY))
    under, root = below(Disk(), str(tmp_path))
    fs, source = over(under), f"{root}/from"
    calls: list[Callable[[], object]] = [
        lambda: fs.find(source),
        lambda: fs.find(source, maxdepth=3),
        lambda: fs.find(source, on_error="omit") and fs.glob(f"{source}/**"),
        lambda: fs.du(source),
        lambda: fs.cat(source, recursive=True),
        lambda: fs.get(source, str(tmp_path / "got"), recursive=True),
        lambda: fs.cp(source, f"{root}/to", recursive=True),
    ]
    for call in calls:
        with pytest.raises(PermissionError):
            call()
    assert names(tmp_path) == ["from/a/b", "from/a/locked/c"]
    assert fs.find(f"{root}/lost") == fs.find(f"{source}/a/b/lost") == []
    assert fs.find(f"{source}/a/b") == [f"{source}/a/b"]


def test_a_local_folder_that_cannot_be_listed_is_not_an_empty_one(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "from" / "a" / "locked").mkdir(parents=True)
    for name in ("file", "other"):
        (tmp_path / "from" / name).write_bytes(b"data")
    scandir = os.scandir

    def refuse(path: Any = ".") -> Any:
        if str(path).endswith("/locked"):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refuse)
    fs, target = over(LocalFileSystem(skip_instance_cache=True)), str(tmp_path / "to")
    for source in (str(tmp_path / "from"), [str(tmp_path / "from")]):
        with pytest.raises(PermissionError):
            fs.put(source, target, recursive=True)
    assert not (tmp_path / "to").exists()
    fs.put(str(tmp_path / "from"), target, recursive=True, maxdepth=2)
    assert names(tmp_path / "to") == ["file", "other"]
    fs.put(str(tmp_path / "from" / "file"), f"{target}/one", recursive=True)
    assert fs.cat(f"{target}/one") == b"data"


@pytest.mark.parametrize("below", BELOW)
def test_a_copy_has_its_name_when_it_is_complete(tmp_path: pathlib.Path, below: Below) -> None:
    disk = Disk()
    disk.slow = ("/.sealane",)
    vault = sealane.Folder.create(tmp_path / "vault", key=KEY)
    (tmp_path / "data").mkdir()
    for number in range(20):
        (tmp_path / "data" / str(number)).write_bytes(b"data")
    vault.encrypt_from(tmp_path / "data")
    (tmp_path / "copies").mkdir()
    fs, root = below(disk, str(tmp_path))
    for _ in range(2):
        over(fs).cp(f"{root}/vault", f"{root}/copies/", recursive=True)
        assert names(tmp_path / "copies" / "vault") == names(tmp_path / "vault")
    with pytest.raises(ValueError, match="encrypted folder that describes itself"):
        over(fs).pipe(f"{root}/copies/vault/new", b"data")


def test_a_missing_folder_is_reported_with_the_name_that_was_given(tmp_path: pathlib.Path) -> None:
    (tmp_path / "a").write_bytes(sealane.encrypt(b"data", key=KEY))
    fs = over(DirFileSystem(str(tmp_path), Disk()))
    calls: list[Callable[[], object]] = [
        lambda: fs.pipe("/lost/file", b"data"),
        lambda: fs.cp_file("/a", "/lost/file"),
        lambda: fs.put_file(str(tmp_path / "a"), "/lost/file"),
    ]
    for call in calls:
        with pytest.raises(FileNotFoundError) as caught:
            call()
        assert caught.value.filename == "/lost/file"


def test_a_failed_copy_leaves_the_file_before_it(tmp_path: pathlib.Path) -> None:
    class Full(Disk):
        def cp_file(self, path1: str, path2: str, **options: Any) -> None:
            pathlib.Path(path2).write_bytes(b"half")
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), path2)

    for name in "ab":
        (tmp_path / name).write_bytes(sealane.encrypt(name.encode(), key=KEY))
    fs = over(DirFileSystem(str(tmp_path), Full()))
    with pytest.raises(OSError, match="No space left"):
        fs.cp("/a", "/b")
    assert fs.cat("/b") == b"b"
    assert names(tmp_path) == ["a", "b"]


@pytest.mark.parametrize("below", BELOW)
def test_a_folder_does_not_take_in_the_file_that_it_is_the_name_of(
    tmp_path: pathlib.Path, below: Below, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sealane.fs._writing.IN_MEMORY", 100)
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    fs, root = below(LocalFileSystem(skip_instance_cache=True), str(tmp_path))
    whole = over(fs)
    whole.pipe(f"{root}/file", b"data")

    def write(target: str) -> None:
        with whole.open(target, "wb") as file:
            file.write(b"data" * 100)

    calls: list[Callable[[str], object]] = [
        write,
        lambda target: whole.pipe(target, b"data"),
        lambda target: whole.cp_file(f"{root}/file", target),
        lambda target: whole.put_file(str(tmp_path / "file"), target),
    ]
    for call in calls:
        with pytest.raises(IsADirectoryError):
            call(f"{root}/folder")
        if not whole.local:
            with pytest.raises(OSError, match="expected a regular file, found a pipe"):
                call(f"{root}/pipe")
    assert names(tmp_path) == ["file"]
    assert stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)


def test_what_cannot_be_asked_for_is_not_taken_for_missing(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """fsspec's ``exists`` takes every error for no."""

    class Lost(Disk):
        lost = False

        def info(self, path: Any, **options: Any) -> Any:
            if self.lost and str(path).endswith("file"):
                raise OSError(errno.EIO, os.strerror(errno.EIO), str(path))
            return super().info(path, **options)

    disk = Lost()
    below = DirFileSystem(str(tmp_path), disk)
    fs = over(below)
    fs.pipe("/file", b"old")
    disk.lost = True
    assert not below.exists("/file")
    recipient = sealane.keys.generate("age").public
    monkeypatch.setattr("sealane.fs._dataset_key.filesystem_of", lambda _url, _options: (below, "/file"))
    calls: list[Callable[[], object]] = [
        lambda: fs.pipe_file("/file", b"new", mode="create"),
        lambda: fs.open("/file", "xb"),
        lambda: fs.put_file(str(tmp_path / "file"), "/file", mode="create"),
        lambda: fs.touch("/file", truncate=False),
        lambda: fs.cp(["/file"], ["/copy"], on_error="ignore"),
        lambda: fs.glob("/file"),
        lambda: sealane.fs.create_dataset_key("dir://file", recipients=[recipient]),
    ]
    for call in calls:
        with pytest.raises(OSError, match="Input/output error"):
            call()
    disk.lost = False
    assert fs.cat("/file") == b"old"
    assert names(tmp_path) == ["file"]


@pytest.mark.parametrize("below", BELOW)
def test_a_filesystem_whose_move_takes_two_paths(tmp_path: pathlib.Path, below: Below) -> None:
    class Sftp(Disk):
        def mv(self, old: str, new: str) -> None:
            os.rename(old, new)

    (tmp_path / "folder").mkdir()
    fs, root = below(Sftp(), str(tmp_path))
    whole = over(fs)
    whole.pipe(f"{root}/folder/a", b"data")
    whole.mv(f"{root}/folder/a", f"{root}/folder/b")
    whole.mv(f"{root}/folder", f"{root}/moved", recursive=True)
    assert names(tmp_path) == ["moved/b"]
    with pytest.raises(TypeError, match="maxdepth"):
        over(Sftp()).mv(str(tmp_path / "moved"), str(tmp_path / "again"), recursive=True, maxdepth=1)


def test_a_rename_that_did_not_happen_is_an_error(tmp_path: pathlib.Path) -> None:
    disk = Disk()
    fs = over(DirFileSystem(str(tmp_path), disk))
    fs.pipe("/file", b"old")
    disk.refuses = True
    calls: list[Callable[[], object]] = [
        lambda: fs.pipe("/file", b"new"),
        lambda: fs.touch("/file"),
        lambda: fs.cp("/file", "/other"),
    ]
    for call in calls:
        with pytest.raises(OSError, match="did not rename"):
            call()
    assert fs.cat("/file") == b"old"
    assert names(tmp_path) == ["file"]
