"""The filesystem on a local folder and in memory. tests/datasets tests it with other libraries."""

from __future__ import annotations

import itertools
import os
import pathlib
import pickle
import random
import sys
import types
from collections.abc import Iterator
from typing import Any

import fsspec
import pytest
import sealane
from fsspec.callbacks import Callback
from fsspec.implementations.memory import MemoryFileSystem
from sealane.fs import SealaneFileSystem, _writing, create_dataset_key, rewrap_dataset_key
from support import BORDERS, CHUNK, leftovers, pattern

KEY = sealane.keys.Key.from_bytes(pattern(32))


@pytest.fixture(autouse=True)
def reference(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATASET_KEY", KEY.to_text())


@pytest.fixture(params=["file", "memory", "unnamed"])
def place(request: pytest.FixtureRequest, tmp_path: pathlib.Path) -> Iterator[tuple[Any, str]]:
    """A filesystem and a folder on it. The third filesystem is unknown to sealane."""
    if request.param == "file":
        yield fsspec.filesystem("file"), str(tmp_path)
        return
    kind = MemoryFileSystem if request.param == "memory" else Unnamed
    below = kind(global_store=False, skip_instance_cache=True)
    yield below, "/folder"


class Unnamed(MemoryFileSystem):
    """A filesystem that may show incomplete files, so a file is written under a temporary name."""

    protocol = "unnamed"
    cachable = False

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.written: list[str] = []

    def _open(self, path: str, mode: str = "rb", **options: Any) -> Any:
        if "w" in mode:
            self.written.append(path)
        return super()._open(path, mode=mode, **options)


@pytest.fixture
def fs(place: tuple[Any, str]) -> SealaneFileSystem:
    return SealaneFileSystem(fs=place[0], key="env:DATASET_KEY", skip_instance_cache=True)


@pytest.fixture
def folder(place: tuple[Any, str]) -> str:
    return place[1]


@pytest.mark.parametrize("length", [*BORDERS, 5_000_003])
def test_files_round_trip(fs: SealaneFileSystem, folder: str, length: int) -> None:
    path, data = f"{folder}/some/file", pattern(length)
    with fs.open(path, "wb") as file:
        for at in range(0, length, 1_000_003):
            file.write(data[at : at + 1_000_003])
        assert file.tell() == length
        assert not fs.exists(path)
    assert fs.cat_file(path) == data
    assert fs.info(path)["size"] == fs.size(path) == length
    assert fs.ls(f"{folder}/some")[0]["size"] == length
    assert fs.find(folder, detail=True)[path]["size"] == length
    assert fs.du(folder) == length
    with fs.open(path) as file:
        assert file.size == length
        assert file.seek(0, 2) == length
        assert file.seek(-min(length, 5), 2) == length - min(length, 5)
        assert file.read() == data[-min(length, 5) :]
        file.seek(0)
        assert b"".join(iter(lambda: file.read(77_777), b"")) == data
    # It is the standard format.
    assert sealane.decrypt(fs.fs.cat_file(path), key=KEY) == data
    assert fs.fs.info(path)["size"] == fs.info(path)["sealed_size"]


def test_ranges(fs: SealaneFileSystem, folder: str) -> None:
    data, short = pattern(3 * CHUNK + 9), pattern(7)
    fs.pipe({f"{folder}/a": data, f"{folder}/b": short, f"{folder}/c": b""})
    chance = random.Random(1)
    edges = [
        None,
        0,
        1,
        CHUNK - 1,
        CHUNK,
        CHUNK + 1,
        3 * CHUNK,
        len(data),
        len(data) + 1,
        9 * CHUNK,
        -1,
        -9,
        -CHUNK,
    ]
    wanted = [*itertools.product("a", edges, edges), *itertools.product("bc", edges[:5], edges[:5])]
    chance.shuffle(wanted)
    content = {"a": data, "b": short, "c": b""}
    paths, starts, ends = zip(*((f"{folder}/{name}", start, end) for name, start, end in wanted), strict=True)
    found = fs.cat_ranges(list(paths), list(starts), list(ends))
    for (name, start, end), got in zip(wanted, found, strict=True):
        assert got == content[name][start:end], (name, start, end)
    for name, start, end in wanted[:50]:
        assert fs.cat_file(f"{folder}/{name}", start=start, end=end) == content[name][start:end]
    missing = fs.cat_ranges([f"{folder}/a", f"{folder}/none"], [0, 0], [2, 2])
    assert missing[0] == data[:2]
    assert isinstance(missing[1], FileNotFoundError)
    with pytest.raises(FileNotFoundError):
        fs.cat_ranges([f"{folder}/a", f"{folder}/none"], [0, 0], [2, 2], on_error="raise")


def test_a_failed_block_leaves_no_file(fs: SealaneFileSystem, folder: str) -> None:
    fs.pipe_file(f"{folder}/old", b"old")
    before = fs.fs.find(folder)
    for name, mode, data in itertools.product(["old", "new"], ["wb", "w"], [1, 20_000_000]):
        for enter in (fs.open, lambda path, mode: fsspec.core.OpenFile(fs, path, mode)):
            with pytest.raises(ZeroDivisionError), enter(f"{folder}/{name}", mode) as file:
                file.write(pattern(data) if mode == "wb" else "x" * data)
                raise ZeroDivisionError
    forgotten = fs.open(f"{folder}/new", "wb")
    forgotten.write(b"half")
    del forgotten
    assert fs.fs.find(folder) == before
    assert fs.cat_file(f"{folder}/old") == b"old"
    # An exception that was raised before the file was opened does not count.
    try:
        raise ZeroDivisionError
    except ZeroDivisionError:
        with fs.open(f"{folder}/new", "wb") as file:
            file.write(b"whole")
    assert fs.cat_file(f"{folder}/new") == b"whole"


def test_transactions(fs: SealaneFileSystem, folder: str) -> None:
    with fs.transaction:
        for name in "ab":
            with fs.open(f"{folder}/{name}", "wb") as file:
                file.write(name.encode() * 20_000_000)
        fs.pipe_file(f"{folder}/c", b"c")
        assert fs.fs.find(folder) == []
    assert fs.find(folder) == [f"{folder}/{name}" for name in "abc"]
    assert fs.cat_file(f"{folder}/b") == b"b" * 20_000_000
    with pytest.raises(ZeroDivisionError), fs.transaction:
        fs.pipe_file(f"{folder}/a", b"other")
        raise ZeroDivisionError
    assert fs.cat_file(f"{folder}/a", 0, 1) == b"a"
    assert len(fs.fs.find(folder)) == 3


def test_unknown_filesystems_get_a_temporary_name() -> None:
    below = Unnamed(global_store=False, skip_instance_cache=True)
    fs = SealaneFileSystem(fs=below, key="env:DATASET_KEY", skip_instance_cache=True)
    for length in (5, _writing.IN_MEMORY + 5):
        fs.pipe_file("/folder/file", pattern(length))
        assert fs.cat_file("/folder/file") == pattern(length)
    assert all(path.startswith("/folder/.file.") for path in below.written)
    below.cp_file = None  # The commit fails.
    with pytest.raises(OSError, match="/folder/file"):
        fs.pipe_file("/folder/file", b"new")
    assert below.find("/folder") == ["/folder/file"]


def test_modes(fs: SealaneFileSystem, folder: str) -> None:
    with fs.open(f"{folder}/file", "xb") as file:
        file.write(b"first")
    with pytest.raises(FileExistsError), fs.open(f"{folder}/file", "xb") as file:
        file.write(b"second")
    with pytest.raises(FileExistsError):
        fs.pipe_file(f"{folder}/file", b"second", mode="create")
    assert fs.cat_file(f"{folder}/file") == b"first"
    for mode in ("ab", "r+b", "rb+"):
        with pytest.raises(ValueError, match="mode"):
            fs.open(f"{folder}/file", mode)
    with fs.open(f"{folder}/text", "w", encoding="utf-8", newline="") as text:
        text.write("ä\n" * 9)
    with fs.open(f"{folder}/text", "r", encoding="utf-8") as text:
        assert text.readlines() == ["ä\n"] * 9
    fs.touch(f"{folder}/empty")
    assert fs.cat_file(f"{folder}/empty") == b""
    file = fs.open(f"{folder}/file", "wb")
    with pytest.raises(TypeError):
        file.write("text")
    file.write(b"still there")
    file.close()
    file.close()
    with pytest.raises(ValueError, match="closed"):
        file.write(b"more")
    assert fs.cat_file(f"{folder}/file") == b"still there"


def test_move_copy_and_remove(fs: SealaneFileSystem, folder: str) -> None:
    fs.pipe({f"{folder}/a/1": b"one", f"{folder}/a/b/2": b"two"})
    fs.cp_file(f"{folder}/a/1", f"{folder}/c/1")
    fs.mv(f"{folder}/a/1", f"{folder}/a/3")
    assert fs.find(folder) == [f"{folder}/{name}" for name in ("a/3", "a/b/2", "c/1")]
    assert fs.cat(fs.find(folder)) == {
        f"{folder}/a/3": b"one",
        f"{folder}/a/b/2": b"two",
        f"{folder}/c/1": b"one",
    }
    assert fs.glob(f"{folder}/**/2") == [f"{folder}/a/b/2"]
    fs.rm(f"{folder}/a", recursive=True)
    assert fs.find(folder) == [f"{folder}/c/1"]
    assert not fs.exists(f"{folder}/a/3")
    mapper = fs.get_mapper(f"{folder}/map")
    mapper["x/y"] = b"value"
    assert dict(mapper) == {"x/y": b"value"}
    del mapper["x/y"]
    assert list(mapper) == []


class Heard(Callback):
    def __init__(self) -> None:
        super().__init__()
        self.heard: list[tuple[int | None, int]] = []

    def call(self, *_: Any, **__: Any) -> None:
        self.heard.append((self.size, self.value))


@pytest.mark.parametrize("length", [0, 5, 30_000_000])
def test_put_and_get(fs: SealaneFileSystem, folder: str, tmp_path: pathlib.Path, length: int) -> None:
    own = tmp_path / "own"
    own.mkdir()
    (own / "plain").write_bytes(pattern(length))
    put, got = Heard(), Heard()
    fs.put_file(own / "plain", f"{folder}/there/file", callback=put)
    assert fs.cat_file(f"{folder}/there/file") == pattern(length)
    fs.get_file(f"{folder}/there/file", own / "sub" / "back", callback=got)
    assert (own / "sub" / "back").read_bytes() == pattern(length)
    for callback in (put, got):
        assert callback.size == callback.value == length
    fs.put(str(own), f"{folder}/tree", recursive=True)
    fs.get(f"{folder}/tree", str(own / "tree"), recursive=True)
    assert (own / "tree" / "plain").read_bytes() == pattern(length)
    fs.fs.pipe_file(f"{folder}/there/file", b"x" * 200)
    with pytest.raises(sealane.SealaneError, match="there/file"):
        fs.get_file(f"{folder}/there/file", own / "sub" / "other")
    assert leftovers(own / "sub") == ["back"]


def damaged(sealed: bytes) -> dict[str, bytes]:
    """Returns versions of an encrypted file, each of which is damaged in another way."""
    flipped = bytearray(sealed)
    flipped[CHUNK // 2] ^= 1
    return {
        "cut within a chunk": sealed[:-9],
        "cut between chunks": sealed[: 56 + 2 * (CHUNK + 16)],
        "cut in the header": sealed[:30],
        "empty": b"",
        "changed": bytes(flipped),
        "never encrypted": b"day,sum\n" * 20_000,
        "of another key": sealane.encrypt(pattern(99), key=bytes(32)),
        "of another context": sealane.encrypt(pattern(99), key=KEY, context=b"other"),
    }


@pytest.mark.parametrize("small", [True, False])
def test_errors_of_damaged_files_contain_the_path(fs: SealaneFileSystem, folder: str, small: bool) -> None:
    sealed = sealane.encrypt(pattern(4 * CHUNK if small else 40 * CHUNK), key=KEY)
    for name, data in damaged(sealed).items():
        path = f"{folder}/{name}"
        fs.fs.pipe_file(path, data)
        errors = (sealane.AuthenticationError, sealane.TruncatedError)

        def scan(path: str = path) -> None:
            with fs.open(path) as file:
                while file.read(1 << 20):
                    pass

        for read in (scan, lambda path=path: fs.cat_file(path)):
            with pytest.raises(errors) as raised:
                read()
            assert path in str(raised.value), name
        (range_,) = fs.cat_ranges([path], [0], [CHUNK])
        if name not in ("cut within a chunk", "cut between chunks"):
            assert isinstance(range_, errors), name
            assert path in str(range_)
        assert fs.exists(path)
        fs.ls(folder)


def test_a_pipe_in_the_place_of_a_file_is_not_waited_for(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DATASET_KEY", KEY.to_text())
    fs = fsspec.filesystem("sealane", target_protocol="file", key="env:DATASET_KEY")
    folder = tmp_path / "data"
    fs.pipe_file(f"{folder}/file", b"hello")
    pipe = f"{folder}/pipe"
    os.mkfifo(pipe)
    for call in (
        lambda: fs.cat_file(pipe),
        lambda: fs.open(pipe),
        lambda: fs.open(pipe, "r"),
        lambda: fs.get_file(pipe, tmp_path / "got"),
        lambda: fs.cp_file(pipe, f"{folder}/copy"),
        lambda: fs.cat([pipe, f"{folder}/file"]),
    ):
        with pytest.raises(OSError, match="pipe"):
            call()
    found = fs.cat([pipe, f"{folder}/file"], on_error="return")
    assert isinstance(found[pipe], OSError)
    assert found[f"{folder}/file"] == b"hello"
    assert isinstance(fs.cat_ranges([pipe], [0], [1])[0], OSError)
    assert sorted(os.listdir(tmp_path)) == ["data"]
    assert sorted(os.listdir(folder)) == ["file", "pipe"]


def test_detects_a_file_replaced_while_it_is_read() -> None:
    below = MemoryFileSystem(global_store=False, skip_instance_cache=True)
    fs = SealaneFileSystem(fs=below, key="env:DATASET_KEY", skip_instance_cache=True)
    fs.pipe_file("/d/file", pattern(5_000_000))
    with fs.open("/d/file", block_size=CHUNK) as file:
        assert file.read(10) == pattern(10)
        fs.pipe_file("/d/file", pattern(5_000_000))
        with pytest.raises(sealane.AuthenticationError, match="/d/file"):
            file.seek(1_000_000)
            file.read(100_000)
    with fs.open("/d/file", block_size=CHUNK) as file:
        fs.rm("/d/file")
        with pytest.raises(FileNotFoundError, match="/d/file"):
            file.read()


def test_pickles_contain_only_the_reference(tmp_path: pathlib.Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(0)
    options = {"target_protocol": "file", "key": "env:DATASET_KEY"}
    fs = fsspec.filesystem("sealane", **options)
    fs.pipe_file(f"{tmp_path}/file", pattern(100))
    with fs.open(f"{tmp_path}/file") as file:
        file.seek(7)
        again = pickle.loads(pickle.dumps(file))
        assert (again.tell(), again.read()) == (7, pattern(100)[7:])
        again.close()
        text = KEY.to_text()
        secret = text[text.index('"k":"') + 5 :].split('"')[0]
        seen = [
            pickle.dumps(fs),
            pickle.dumps(file),
            repr(fs),
            repr(file),
            str(file),
            fs.to_json(),
            repr(fs.__dict__),
        ]
        seen += [repr(SealaneFileSystem._cache), caplog.text, repr(fs.storage_options), repr(vars(fs.keys))]
        for one in seen:
            one = one if isinstance(one, bytes) else one.encode()
            assert secret.encode() not in one
            assert bytes(KEY) not in one
            assert bytes(KEY).hex().encode() not in one
    assert pickle.loads(pickle.dumps(fs)) is fs
    assert SealaneFileSystem.from_json(fs.to_json()) is fs
    for wrong in (bytes(KEY), KEY, 3):
        with pytest.raises(TypeError, match="reference") as raised:
            fsspec.filesystem("sealane", target_protocol="file", key=wrong)
        assert repr(bytes(KEY)) not in str(raised.value)
    assert not any("\\x" in repr(one.storage_options) for one in SealaneFileSystem._cache.values())


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({}, TypeError),
        ({"key": "env:NO_SUCH"}, None),
        ({"key": "secret"}, ValueError),
        ({"key": "each:module"}, ValueError),
        ({"key": "age:/d/key.age"}, TypeError),
        ({"key": "age:", "identity": "env:X"}, ValueError),
        ({"key": "age:/d/key.age", "identity": "me"}, ValueError),
        ({"key": "env:DATASET_KEY", "identity": "env:X"}, TypeError),
        ({"key": "env:DATASET_KEY", "context": b"bytes"}, TypeError),
        ({"key": "env:DATASET_KEY", "contxt": "reports"}, TypeError),
        ({"key": "env:DATASET_KEY", "anon": True}, TypeError),
    ],
)
def test_options(options: dict[str, Any], error: type[Exception] | None) -> None:
    if error is not None:
        with pytest.raises(error):
            fsspec.filesystem("sealane", target_protocol="memory", **options)
        return
    fs = fsspec.filesystem("sealane", target_protocol="memory", **options)
    for work in (lambda: fs.pipe_file("/none/file", b""), lambda: fs.open("/none/file")):
        with pytest.raises(sealane.KeyNotFoundError, match="NO_SUCH"):
            work()
    assert not fs.exists("/none/file")


def test_context(tmp_path: pathlib.Path) -> None:
    one, other = (
        fsspec.filesystem("sealane", target_protocol="file", key="env:DATASET_KEY", context=context)
        for context in ("tables/2026", "")
    )
    one.pipe_file(f"{tmp_path}/file", b"data")
    assert one.cat_file(f"{tmp_path}/file") == b"data"
    with pytest.raises(sealane.AuthenticationError, match="file"):
        other.cat_file(f"{tmp_path}/file")


def test_a_key_for_each_file(fs: SealaneFileSystem, folder: str, monkeypatch: pytest.MonkeyPatch) -> None:
    module = types.ModuleType("some_keys")
    module.of = lambda path: path.rpartition("/")[2].encode().ljust(32, b".")
    monkeypatch.setitem(sys.modules, "some_keys", module)
    fs = SealaneFileSystem(fs=fs.fs, key="each:some_keys:of", skip_instance_cache=True)
    fs.pipe({f"{folder}/one": b"1", f"{folder}/two": b"2"})
    assert sealane.decrypt(fs.fs.cat_file(f"{folder}/one"), key=b"one".ljust(32, b".")) == b"1"
    assert fs.cat_ranges([f"{folder}/one", f"{folder}/two"], [0, 0], [1, 1]) == [b"1", b"2"]
    fs.cp_file(f"{folder}/one", f"{folder}/three")
    fs.mv(f"{folder}/two", f"{folder}/four")
    assert fs.cat(f"{folder}/*") == {f"{folder}/one": b"1", f"{folder}/three": b"1", f"{folder}/four": b"2"}
    fs.fs.mv(f"{folder}/one", f"{folder}/five")
    with pytest.raises(sealane.AuthenticationError, match="five"):
        fs.cat_file(f"{folder}/five")


@pytest.mark.parametrize("within", [True, False])
def test_the_dataset_key(place: tuple[Any, str], monkeypatch: pytest.MonkeyPatch, within: bool) -> None:
    below, folder = place
    alice, bob, carol = (sealane.keys.generate("age") for _ in range(3))
    for name, identity in [("ALICE", alice), ("BOB", bob), ("CAROL", carol)]:
        monkeypatch.setenv(name, identity.to_text())
    where = f"{folder}/data/.key.age" if within else f"{folder}/data.key.age"
    monkeypatch.setattr("sealane.fs._store.url_to_fs", lambda url, **_: (below, url))
    create_dataset_key(where, recipients=[alice.public, str(bob.public)])
    with pytest.raises(FileExistsError):
        create_dataset_key(where, recipients=[alice.public])
    assert below.cat_file(where).startswith(b"-----BEGIN AGE ENCRYPTED FILE-----")

    def of(identity: str) -> SealaneFileSystem:
        return SealaneFileSystem(
            fs=below, key=f"age:{where}", identity=f"env:{identity}", skip_instance_cache=True
        )

    of("ALICE").pipe_file(f"{folder}/data/part/file", b"data")
    assert of("BOB").cat_file(f"{folder}/data/part/file") == b"data"
    with pytest.raises(sealane.NoMatchingKeyError, match=r"key\.age"):
        of("CAROL").cat_file(f"{folder}/data/part/file")

    rewrap_dataset_key(where, identity="env:BOB", recipients=[bob.public, carol.public])
    assert of("CAROL").cat_file(f"{folder}/data/part/file") == b"data"
    with pytest.raises(sealane.NoMatchingKeyError):
        of("ALICE").open(f"{folder}/data/part/file")
    with pytest.raises(sealane.NoMatchingKeyError):
        rewrap_dataset_key(where, identity="env:ALICE", recipients=[alice.public])
    for recipients in ([], ["nobody"]):
        with pytest.raises((ValueError, sealane.FormatError)):
            rewrap_dataset_key(where, identity="env:BOB", recipients=recipients)

    # It is not a file of the dataset, and survives Dask and zarr, which clear the folder before
    # they write.
    fs = of("BOB")
    assert fs.find(f"{folder}/data") == [f"{folder}/data/part/file"]
    assert [entry["name"] for entry in fs.ls(f"{folder}/data")] == [f"{folder}/data/part"]
    for work in (
        lambda: fs.rm(where),
        lambda: fs.rm_file(where),
        lambda: fs.pipe_file(where, b""),
        lambda: fs.open(where),
        lambda: fs.cat_file(where),
        lambda: fs.mv(where, f"{where}2"),
        lambda: fs.cp_file(f"{folder}/data/part/file", where),
        lambda: fs.put_file(__file__, where),
    ):
        with pytest.raises(PermissionError, match=r"key\.age"):
            work()
    fs.rm(f"{folder}/data", recursive=True)
    assert fs.find(f"{folder}/data") == []
    assert below.exists(where)
    fs.pipe_file(f"{folder}/data/new", b"new")
    assert of("CAROL").cat_file(f"{folder}/data/new") == b"new"


def test_refreshes_a_stale_listing(tmp_path: pathlib.Path) -> None:
    class Forgetful(MemoryFileSystem):
        """Caches the size of a file, like the filesystems that cache listings."""

        cachable = False
        sizes: dict[str, Any] = {}  # noqa: RUF012

        def info(self, path: str, **options: Any) -> Any:
            return self.sizes.setdefault(path, super().info(path, **options))

        def invalidate_cache(self, path: str | None = None) -> None:
            self.sizes.clear()

    below = Forgetful(global_store=False, skip_instance_cache=True)
    fs = SealaneFileSystem(fs=below, key="env:DATASET_KEY", skip_instance_cache=True)
    below.pipe_file("/d/file", sealane.encrypt(pattern(1_000_000), key=KEY))
    with fs.open("/d/file") as file:
        assert file.size == 1_000_000
    below.pipe_file("/d/file", sealane.encrypt(pattern(10), key=KEY))
    with fs.open("/d/file") as file:
        assert file.read() == pattern(10)


def test_a_full_disk_is_reported_with_the_path(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The error of the write contains the path, and there is no file."""
    resource = pytest.importorskip("resource")
    fs = fsspec.filesystem("sealane", target_protocol="file", key="env:DATASET_KEY")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, before[1]))
    try:
        with pytest.raises(OSError, match="big") as raised:
            fs.pipe_file(f"{tmp_path}/big", pattern(3 << 20))
        assert raised.value.filename == f"{tmp_path}/big"
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert os.listdir(tmp_path) == []
