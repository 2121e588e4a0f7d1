"""Names and patterns mean what the filesystem below says, and one chain of URLs is one filesystem."""

from __future__ import annotations

import errno
import pathlib
import re
import sys
import types
from typing import Any

import fsspec
import pytest
import sealane
from fsspec.implementations.dirfs import DirFileSystem
from fsspec.implementations.http import HTTPFileSystem
from fsspec.implementations.memory import MemoryFileSystem
from sealane._error_paths import named
from sealane.fs import SealaneFileSystem
from support import pattern

KEY = sealane.keys.Key.from_bytes(pattern(32))
NAMES = [
    *("a#b", "a#1", "a?b=c", "a::b", "sealane::a", "a%20b", "%", "a b", " a", "a ", "a[b]", "a[1].csv"),
    *("a*b", "**", "{a}", "ü", "u\u0308", "a\\b", "~", "$HOME", "a;b", "a&b", "s3:b", "-a", "\u202ea"),
]


@pytest.fixture(autouse=True)
def reference(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATASET_KEY", KEY.to_text())


def has_magic(path: str) -> bool:
    """What ``Stars`` takes for a pattern."""
    return "*" in path


def over(below: Any, key: str = "env:DATASET_KEY") -> Any:
    return SealaneFileSystem(fs=below, key=key, skip_instance_cache=True)


class Versioned(MemoryFileSystem):
    """Splits names as s3fs does: what follows "?versionId=" is no part of the key."""

    protocol = "versioned"
    cachable = False

    def split_path(self, path: str) -> tuple[str, str, str | None]:
        bucket, _, rest = self._strip_protocol(path).lstrip("/").partition("/")
        key, _, version = rest.partition("?versionId=")
        return bucket, key, version or None


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("kind", ["file", "memory", "folder"])
def test_a_name_is_kept_or_refused(name: str, kind: str, tmp_path: pathlib.Path) -> None:
    below: Any = fsspec.filesystem("file") if kind == "file" else MemoryFileSystem(global_store=False)
    root = str(tmp_path) if kind == "file" else "/root"
    if kind == "folder":
        below, root = DirFileSystem(root, below), "d"
    fs, path = over(below), f"{root}/{name}"
    for size in 10, 9 << 20:
        for write in (
            lambda data: fs.pipe_file(path, data),
            lambda data: fs.pipe({path: data}),
            lambda data: written(fs.open(path, "wb"), data),
        ):
            write(pattern(size))
            assert [one.rpartition("/")[2] for one in below.find(root)] == [name]
            assert fs.cat_file(path) == fs.open(path).read() == pattern(size)
    fs.rm_file(path)
    assert below.find(root) == []


def written(file: Any, data: bytes) -> None:
    with file:
        file.write(data)


@pytest.mark.parametrize("path", ["b/key?versionId=1", "b/d/key?versionId=", "versioned://b/key?versionId=x"])
def test_a_name_that_the_store_would_cut_is_refused(path: str, tmp_path: pathlib.Path) -> None:
    (tmp_path / "in").write_bytes(b"data")
    below = Versioned(global_store=False)
    below.pipe_file("b/key", b"before")
    for fs, name in (over(below), path), (over(DirFileSystem("b", below)), path.rpartition("b/")[2]):
        for method, *arguments in (
            (fs.pipe_file, name, b"x"),
            (fs.pipe, {name: b"x"}),
            (fs.open, name, "wb"),
            (fs.open, name, "w"),
            (fs.put_file, str(tmp_path / "in"), name),
            (fs.touch, name),
        ):
            with pytest.raises(ValueError, match="choose another name"):
                method(*arguments)
    for change in over(below).cp_file, over(below).mv:
        with pytest.raises(ValueError, match="choose another name"):
            change("b/key", path)
    assert below.cat_file("b/key") == b"before"
    assert below.find("") == ["/b/key"]


@pytest.mark.parametrize("kind", ["file", "memory"])
def test_a_name_that_would_be_trimmed_is_refused(kind: str, tmp_path: pathlib.Path) -> None:
    fs = over(fsspec.filesystem("file") if kind == "file" else MemoryFileSystem(global_store=False))
    path = f"{tmp_path}/new/"
    for write in (
        lambda: fs.pipe_file(path, b"x"),
        lambda: fs.open(path, "wb"),
        lambda: fs.open(path, "w"),
        lambda: fs.touch(path),
    ):
        with pytest.raises(IsADirectoryError):
            write()
    assert not fs.exists(path)


def test_the_root_is_not_the_working_directory(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "here").touch()
    monkeypatch.chdir(tmp_path)
    fs = SealaneFileSystem(target_protocol="file", key="env:DATASET_KEY")
    plain = fsspec.filesystem("file")
    for root in ("/", "//", "file:///", "sealane:///", "sealane::file:///"):
        assert fs._strip_protocol(root) == "/"
        assert sorted(fs.ls(root, detail=False)) == sorted(plain.ls("/"))
    assert fs.glob("/t*") == plain.glob("/t*")
    assert fs._strip_protocol("") == fs._strip_protocol("sealane://") == str(tmp_path)


def test_a_separator_in_a_url_is_refused() -> None:
    before = fsspec.filesystem("memory").find("")
    for url in (
        "sealane::memory://d/a::file",
        "sealane::memory://d/a::b.csv",
        "sealane::memory://a::memory://b",
    ):
        with pytest.raises(ValueError, match="::"):
            fsspec.open(url, "wb", key="env:DATASET_KEY")
    assert fsspec.filesystem("memory").find("") == before


def test_a_pattern_is_what_the_filesystem_below_takes_for_one() -> None:
    signed = "http://127.0.0.1:9/a.csv?signature=1"
    for below, path, expected in (
        (HTTPFileSystem(skip_instance_cache=True), signed, False),
        (HTTPFileSystem(skip_instance_cache=True), "http://127.0.0.1:9/*.csv?signature=1", True),
        (fsspec.filesystem("simplecache", target_protocol="http"), signed, False),
        (DirFileSystem("http://127.0.0.1:9", HTTPFileSystem()), "a.csv?signature=1", False),
        (MemoryFileSystem(), "a?b", True),
        (MemoryFileSystem(), "a", False),
        (fsspec.filesystem("file"), "a[b]", True),
    ):
        assert over(below).store.is_pattern(path) is expected, (below, path)


def test_patterns_of_one_filesystem() -> None:
    class Stars(MemoryFileSystem):
        """Takes only "*" for a pattern."""

        cachable = False

        def glob(self, path: str, **options: Any) -> Any:
            return super().glob(path, **options) if has_magic(path) else [path]

    fs = over(Stars(global_store=False))
    fs.pipe({"/d/a?b": b"1", "/d/axb": b"2", "/d/a[x]": b"3"})
    assert fs.glob("/d/a?b") == ["/d/a?b"]
    assert fs.cat("/d/a?b") == b"1"
    assert fs.expand_path("/d/a[x]") == ["/d/a[x]"]
    assert sorted(fs.glob("/d/a*")) == ["/d/a?b", "/d/a[x]", "/d/axb"]
    assert fs.glob("/d/none?") == []
    assert fs.glob("/d/a?b", detail=True)["/d/a?b"]["size"] == 1


def test_one_filesystem_and_one_key_for_a_chain(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[int] = []
    module = types.ModuleType("counted")
    module.key = lambda: calls.append(1) or KEY  # type: ignore[attr-defined, func-returns-value]
    monkeypatch.setitem(sys.modules, "counted", module)
    fsspec.filesystem("sealane", target_protocol="memory", key="env:DATASET_KEY").pipe(
        {f"/chain/{n}": b"data" for n in range(5)}
    )
    for chain in (
        "sealane::simplecache::memory://chain",
        "sealane::simplecache::filecache::memory://chain",
        "sealane::memory://chain",
    ):
        SealaneFileSystem.clear_instance_cache()
        calls.clear()
        for n in range(5):
            with fsspec.open(f"{chain}/{n}", "rb", sealane={"key": "call:counted:key"}) as file:
                assert file.read() == b"data"
        assert (len(SealaneFileSystem._cache), len(calls)) == (1, 1), chain
    fsspec.filesystem("memory").rm("/chain", recursive=True)


@pytest.mark.parametrize(
    "error", [ValueError("not this one"), TypeError("got an unexpected keyword argument")]
)
def test_errors_of_the_filesystem_below_keep_their_type(error: Exception) -> None:
    class Refusing(MemoryFileSystem):
        cachable = False

        def rm(self, *_: Any, **__: Any) -> None:
            raise error

        info = ls = cp_file = rm

    fs = over(Refusing(global_store=False))
    for call in (
        lambda: fs.rm("/d"),
        lambda: fs.info("/d"),
        lambda: fs.ls("/d"),
        lambda: fs.cp_file("/d", "/e"),
    ):
        with pytest.raises(type(error), match=re.escape(str(error))) as raised:
            call()
        assert "/d" in str(raised.value) or "/d" in raised.value.__notes__


def test_what_the_plain_filesystem_refuses_to_remove(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "d" / "inner").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "d")
    plain = fsspec.filesystem("file")
    fs = over(plain)
    for path, recursive in (".", True), (str(tmp_path / "d"), True), (str(tmp_path / "d"), False):
        found = []
        for one in plain, fs:
            with pytest.raises(Exception) as raised:  # noqa: PT011, compared below
                one.rm(path, recursive=recursive)
            found.append(type(raised.value))
        assert found[0] is found[1] is ValueError
    for one in plain, fs:
        with pytest.raises(OSError, match="not empty"):
            one.rmdir(str(tmp_path / "d"))
    assert (tmp_path / "d" / "inner").exists()


def test_a_key_for_each_file_is_one_for_its_versions(monkeypatch: pytest.MonkeyPatch) -> None:
    module, asked = types.ModuleType("some_keys"), []
    module.of = lambda path: asked.append(path) or KEY
    monkeypatch.setitem(sys.modules, "some_keys", module)
    below = Versioned(global_store=False)
    for fs, name in (
        (over(below, "each:some_keys:of"), "/b/key"),
        (
            over(DirFileSystem("b", below), "each:some_keys:of"),
            "key",
        ),
    ):
        fs.pipe_file(name, b"data")
        below.store["/b/key?versionId=1"] = below.store["/b/key"]
        assert fs.cat_file(f"{name}?versionId=1") == b"data"
        with fs.open(f"{name}?versionId=1") as file:
            assert file.read() == b"data"
        assert set(asked) == {name}
        asked.clear()


def test_a_full_folder_that_would_stay_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """As the plain filesystem does: its content moves only with ``recursive``."""
    module = types.ModuleType("some_keys")
    module.of = lambda path: KEY
    monkeypatch.setitem(sys.modules, "some_keys", module)
    for key in "env:DATASET_KEY", "each:some_keys:of":
        fs = over(MemoryFileSystem(global_store=False, skip_instance_cache=True), key)
        fs.pipe({"/m/full/a": b"1", "/m/full/sub/b": b"2", "/m/only/sub/c": b"3"})
        before = fs.find("/")
        calls: list[tuple[Any, ...]] = [("/m/full",), (["/m/full"],), ("/m/only/*",), ("/m/only", True, 1)]
        for source, *options in calls:
            with pytest.raises(OSError, match="not empty: give recursive=True") as raised:
                fs.mv(source, "/m/to", *options)
            assert raised.value.errno == errno.ENOTEMPTY
        with pytest.raises(OSError, match="not empty"):
            fs.mv(["/m/full"], ["/m/to"], recursive=True)
        assert fs.find("/") == before
        fs.makedirs("/m/empty")
        fs.mv(["/m/empty"], ["/m/to"])
        assert fs.isdir("/m/to")
        assert not fs.exists("/m/empty")
        fs.mv("/m/full", "/m/moved", recursive=True)
        assert fs.find("/m/moved") == ["/m/moved/a", "/m/moved/sub/b"]


def test_a_server_without_byte_ranges_is_named() -> None:
    class Whole(MemoryFileSystem):
        cachable = False

        def cat_file(self, path: str, start: Any = None, end: Any = None, **options: Any) -> Any:
            return super().cat_file(path)

    fs = over(Whole(global_store=False))
    fs.pipe_file("/d/file", pattern(2 << 20))
    with pytest.raises(OSError, match=r"ignores byte ranges; read the whole file.*/d/file"):
        fs.open("/d/file")
    assert fs.cat_file("/d/file") == pattern(2 << 20)


def test_a_url_with_a_name_that_fsspec_would_cut_is_refused(tmp_path: pathlib.Path) -> None:
    reader = sealane.keys.generate("age")
    reader.save(tmp_path / "reader")
    identity = f"file:{tmp_path}/reader"
    before = sorted(tmp_path.iterdir())
    for url in f"{tmp_path}/a::b", f"file://{tmp_path}/a::b", "memory://a::b", "simplecache::memory://a::b":
        for call in (
            lambda url: sealane.fs.create_dataset_key(url, recipients=[reader.public]),
            lambda url: sealane.fs.rewrap_dataset_key(url, identity=identity, recipients=[reader.public]),
            lambda url: sealane.fs.rewrap(
                url, f"{tmp_path}/c", identities=[reader], recipients=[reader.public]
            ),
            lambda url: sealane.fs.rewrap(
                f"{tmp_path}/c", url, identities=[reader], recipients=[reader.public]
            ),
        ):
            with pytest.raises(ValueError, match="'::'"):
                call(url)
    assert sorted(tmp_path.iterdir()) == before
    assert not MemoryFileSystem().exists("/a")
    # Real chains are what they were.
    key = sealane.fs.create_dataset_key("simplecache::memory://chained.key", recipients=[reader.public])
    assert key.startswith("age:/chained.key#")


def test_a_word_that_contains_a_name_does_not_name_the_file() -> None:
    for path, text, is_named in (
        ("a", "the server has failed at 10:20", False),
        ("data", "the data is gone", False),
        ("data", "data: gone", True),
        ("data", "no file 'data'", True),
        ("d/a", "d/ab: gone", False),
        ("d/a", "other/d/a: gone", False),
        ("d/a", "d/a.sealed: gone", False),
        ("d/a", "cannot read d/a.", True),
        ("d/a", "s3://d/a: gone", True),
        ("/d/a", "[Errno 2] gone: '/d/a'", True),
    ):
        for error in sealane.FormatError(text), ValueError(text):
            other = named(error, path)
            assert (other is error) == is_named, (path, text)
            assert str(other) == (text if is_named else f"{path}: {text}")
        bare = named(OSError(text), path)
        assert str(bare) == (text if is_named else f"{path}: {text}")
