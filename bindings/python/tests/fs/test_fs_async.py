"""The asynchronous filesystem: its coroutines, its event loop, cancellation and bounded memory."""

from __future__ import annotations

import asyncio
import json
import pathlib
import pickle
import sys
import threading
import time
import types
from collections.abc import Iterator
from concurrent.futures import Future
from typing import Any

import fsspec
import pytest
import sealane
from fsspec.asyn import AsyncFileSystem
from fsspec.implementations.asyn_wrapper import AsyncFileSystemWrapper
from fsspec.implementations.dirfs import DirFileSystem
from fsspec.implementations.memory import MemoryFileSystem
from sealane.fs import SealaneFileSystem, _store, _transfer
from sealane.fs._budget import Budget
from support import CHUNK, in_child, pattern

KEY = sealane.keys.Key.from_bytes(pattern(32))


@pytest.fixture(autouse=True)
def reference(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("DATASET_KEY", KEY.to_text())
    yield
    for cls in (SealaneFileSystem, Store):
        cls.clear_instance_cache()


class Store(AsyncFileSystem):
    """An asynchronous object store in memory, which counts what is in flight."""

    protocol = "s3"
    delay = 0.0

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.files: dict[str, bytes] = {}
        self.requests: list[str] = []
        self.in_flight = self.peak = 0

    async def _request(self, name: str) -> None:
        self.requests.append(name)
        self.in_flight += 1
        self.peak = max(self.peak, self.in_flight)
        try:
            await asyncio.sleep(self.delay)
        finally:
            self.in_flight -= 1

    async def _cat_file(self, path: str, start: int | None = None, end: int | None = None, **_: Any) -> bytes:
        await self._request("cat")
        if path not in self.files:
            raise FileNotFoundError(path)
        return self.files[path][start:end]

    async def _pipe_file(self, path: str, value: bytes, mode: str = "overwrite", **_: Any) -> None:
        await self._request("pipe")
        if mode == "create" and path in self.files:
            raise FileExistsError(path)
        self.files[path] = bytes(value)

    async def _info(self, path: str, **_: Any) -> dict[str, Any]:
        await self._request("info")
        if path in self.files:
            return {"name": path, "size": len(self.files[path]), "type": "file"}
        if any(name.startswith(f"{path}/") for name in self.files):
            return {"name": path, "size": 0, "type": "directory"}
        raise FileNotFoundError(path)

    async def _ls(self, path: str, detail: bool = True, **_: Any) -> list[Any]:
        await self._request("ls")
        names = sorted(name for name in self.files if name.startswith(f"{path}/"))
        found = [{"name": name, "size": len(self.files[name]), "type": "file"} for name in names]
        return found if detail else names

    async def _rm_file(self, path: str, **_: Any) -> None:
        await self._request("rm")
        self.files.pop(path, None)

    async def _cp_file(self, path1: str, path2: str, **_: Any) -> None:
        await self._request("cp")
        self.files[path2] = self.files[path1]


def over(fs: Any, **options: Any) -> SealaneFileSystem:
    return SealaneFileSystem(fs=fs, key="env:DATASET_KEY", skip_instance_cache=True, **options)


def test_one_class_over_any_filesystem() -> None:
    memory = MemoryFileSystem()
    for below in (
        memory,
        fsspec.filesystem("file"),
        fsspec.filesystem("simplecache", target_protocol="s3"),
        DirFileSystem("/a", memory),
        DirFileSystem("/a", Store()),
        Store(),
        AsyncFileSystemWrapper(memory, asynchronous=False),
    ):
        fs = over(below)
        assert type(fs) is SealaneFileSystem
        assert fs.async_impl
        assert not fs.asynchronous
    assert over(memory, asynchronous=True).asynchronous
    assert over(Store(), asynchronous=True).fs.asynchronous
    assert over(Store(asynchronous=True)).asynchronous
    with pytest.raises(ValueError, match="asynchronous=True"):
        over(Store(asynchronous=True), asynchronous=False)


def test_copies_are_the_same_filesystem() -> None:
    for options in {}, {"asynchronous": True}:
        fs = fsspec.filesystem("sealane", target_protocol="memory", key="env:DATASET_KEY", **options)
        for copy in pickle.loads(pickle.dumps(fs)), fsspec.AbstractFileSystem.from_json(fs.to_json()):
            assert copy == fs
            assert type(copy) is type(fs)
        assert json.loads(fs.to_json())["cls"] == "sealane.fs._filesystem:SealaneFileSystem"


@pytest.mark.parametrize("kind", ["store", "memory", "file"])
def test_coroutines_on_the_event_loop_of_the_caller(kind: str, tmp_path: pathlib.Path) -> None:
    below = {"store": Store, "memory": lambda: MemoryFileSystem(global_store=False)}.get(
        kind, lambda: fsspec.filesystem("file", auto_mkdir=True)
    )()
    root = str(tmp_path) if kind == "file" else "/b"
    files = {f"{root}/{n}": pattern(n) for n in (0, 5, CHUNK, 300_000, 5 << 20)}

    async def main() -> None:
        fs: Any = over(below, asynchronous=True)
        assert fs.asynchronous
        await fs._pipe(files)
        assert await fs._cat(list(files)) == files
        assert await fs._cat_file(f"{root}/300000", start=-9) == pattern(300_000)[-9:]
        found = await fs._cat_ranges([f"{root}/300000"] * 3, [0, 5, 299_990], [5, 50_000, 400_000])
        assert found == [pattern(300_000)[a:b] for a, b in ((0, 5), (5, 50_000), (299_990, 400_000))]
        await fs._get(list(files), [str(tmp_path / "got" / path.rpartition("/")[2]) for path in files])
        for path, data in files.items():
            assert (tmp_path / "got" / path.rpartition("/")[2]).read_bytes() == data
        await fs._put(str(tmp_path / "got") + "/", f"{root}/put/", recursive=True)
        assert await fs._cat_file(f"{root}/put/{CHUNK}") == pattern(CHUNK)
        assert sorted(await fs._expand_path([f"{root}/put/*", f"{root}/5"])) == sorted(
            [f"{root}/5", *(f"{root}/put/{n}" for n in (0, 5, CHUNK, 300_000, 5 << 20))]
        )
        await fs._rm(f"{root}/put", recursive=True)
        with pytest.raises(FileNotFoundError):
            await fs._cat_file(f"{root}/put/5")
        with pytest.raises(RuntimeError, match="coroutines only"):
            fs.cat_file(f"{root}/5")

    asyncio.run(main())


class Unnamed(Store):
    """A store that sealane does not know by its name. It answers ``expected`` requests together."""

    protocol = "unnamed"
    cachable = False
    expected = 0
    asked = largest = 0

    async def _request(self, name: str) -> None:
        self.requests.append(name)
        self.in_flight += 1
        deadline = time.monotonic() + 60
        while self.in_flight < self.expected and time.monotonic() < deadline:
            await asyncio.sleep(0.001)
        self.peak = max(self.peak, self.in_flight)
        # Those that waited for the same number see it before it falls.
        await asyncio.sleep(0.05 if self.expected else 0)
        self.in_flight -= 1

    async def _cat_file(self, path: str, start: int | None = None, end: int | None = None, **_: Any) -> bytes:
        wanted = (1 << 40 if end is None else end) - (start or 0)
        self.asked += wanted
        self.largest = max(self.largest, self.asked)
        try:
            return await super()._cat_file(path, start, end)
        finally:
            self.asked -= wanted


class Delegating(Unnamed):
    """A store that hands every call on, so that its own methods do not tell what it can do."""

    async def _pipe_file(self, *args: Any, **options: Any) -> None:  # type: ignore[override]
        await super()._pipe_file(*args, **options)


class Moving(Unnamed):
    """A store that renames files, as filesystems do. It may show incomplete ones."""

    async def _mv(self, path1: str, path2: str, **_: Any) -> None:
        await self._request("mv")
        self.files[path2] = self.files.pop(path1)


class Uncopying(Unnamed):
    """A store without server-side copies, such as a web server."""

    _cp_file = AsyncFileSystem._cp_file


@pytest.mark.parametrize("protocol", ["s3", "unnamed"])
def test_many_requests_are_in_flight(protocol: str, tmp_path: pathlib.Path) -> None:
    store = Unnamed()
    store.protocol = protocol
    fs: Any = over(store)
    paths = [f"b/{n}" for n in range(100)]
    for work, requests in [
        (lambda: fs.pipe(dict.fromkeys(paths, b"data")), {"pipe"}),
        (lambda: fs.cat(paths), {"cat"}),
        (lambda: over(store).cat(paths), {"cat"}),
        (lambda: over(store).get(paths, [str(tmp_path / str(n)) for n in range(100)]), {"cat"}),
        (lambda: fs.put([str(tmp_path / str(n)) for n in range(100)], paths), {"pipe"}),
        (lambda: fs.cat_ranges(paths, 0, 2), {"cat"}),
        (lambda: fs.cat_ranges(paths, None, None), {"cat"}),
    ]:
        store.requests.clear()
        store.peak, store.expected = 0, 100
        work()
        assert set(store.requests) == requests
        assert len(store.requests) == store.peak == 100


@pytest.mark.parametrize(
    ("kind", "put", "got"),
    [
        (Unnamed, ["pipe"], ["cat"]),
        (Delegating, ["pipe", "cp", "rm"], ["info", "info", "cat"]),
        (Moving, ["pipe", "info", "mv", "info"], ["info", "info", "cat"]),
        (Uncopying, None, ["info", "info", "cat"]),
    ],
)
def test_methods_tell_what_a_store_does_in_one_request(
    kind: type[Unnamed], put: list[str] | None, got: list[str], tmp_path: pathlib.Path
) -> None:
    store = kind()
    # A move below a folder is fsspec's, which copies.
    for below in [store] if kind is Moving else [store, DirFileSystem("b", store)]:
        fs, root = over(below), "b/" if below is store else ""
        store.requests.clear()
        if put is None:
            # It cannot give a complete file its name, and nothing else is left.
            with pytest.raises(NotImplementedError):
                fs.pipe_file(f"{root}f", b"data")
            assert store.files == {}
            store.files = {"b/f": sealane.encrypt(b"data", key=KEY)}
        else:
            fs.pipe_file(f"{root}f", b"data")
            assert store.requests == put
            fs.pipe_file(f"{root}new", b"data", mode="create")
            with pytest.raises(FileExistsError):
                fs.pipe_file(f"{root}new", b"other", mode="create")
        store.requests.clear()
        fs.get_file(f"{root}f", str(tmp_path / "got"))
        assert (tmp_path / "got").read_bytes() == b"data"
        assert store.requests == got
        store.files = {"b/folder/f": b""}
        fs.get_file(f"{root}folder", str(tmp_path / kind.__name__ / "folder"))
        assert (tmp_path / kind.__name__ / "folder").is_dir()
        store.files.clear()


def test_a_store_whose_put_takes_no_mode(tmp_path: pathlib.Path) -> None:
    class Putting(Unnamed):
        async def _put_file(self, lpath: str, rpath: str, ACL: str, callback: Any = None) -> None:
            self.files[rpath] = pathlib.Path(lpath).read_bytes()

    (tmp_path / "source").write_bytes(b"data")
    store = Putting()
    fs = over(store)
    fs.put_file(str(tmp_path / "source"), "b/f", ACL="private")
    assert fs.cat_file("b/f") == b"data"
    assert list(store.files) == ["b/f"]


def test_a_pattern_asks_for_a_folder_and_its_entries_together() -> None:
    store = Store()
    store.files = dict.fromkeys(("b/x", "b/y", "c/z"), sealane.encrypt(b"data", key=KEY))
    store.delay = 0.01
    assert over(store).glob("b/*") == ["b/x", "b/y"]
    assert store.peak == 2
    assert over(store).cat("b/*") == {"b/x": b"data", "b/y": b"data"}


@pytest.mark.parametrize("claim", [0, 71, 72, 5000, (4 << 20) - 1, 4 << 20, 1 << 40])
def test_a_listing_that_lies_costs_requests_only(claim: int, tmp_path: pathlib.Path) -> None:
    store = Unnamed()
    files = {f"b/{n}": pattern(length) for n, length in enumerate((0, 5000, 300_000, 5 << 20))}
    store.files = {path: sealane.encrypt(data, key=KEY) for path, data in files.items()}
    told: Any = {path: {"name": path, "size": claim, "type": "file"} for path in files}

    async def ls(path: str, detail: bool = True, **_: Any) -> list[Any]:
        return list(told.values())

    store._ls = ls  # type: ignore[method-assign]
    fs: Any = over(store)
    for _ in range(2):
        assert [entry["sealed_size"] for entry in fs.ls("b")] == [claim] * 4
        assert fs.cat(list(files)) == files
        assert fs.ls("b")
        fs.get(list(files), [str(tmp_path / path[2:]) for path in files])
        for path, data in files.items():
            assert (tmp_path / path[2:]).read_bytes() == data
    assert store.largest <= _store.BUDGET + _store.REST


def test_ten_thousand_objects_of_unknown_size(tmp_path: pathlib.Path) -> None:
    store = Unnamed()
    sealed = sealane.encrypt(b"data", key=KEY)
    store.files = dict.fromkeys((f"b/{n}" for n in range(10_000)), sealed)
    assert len(over(store).cat(list(store.files), batch_size=-1)) == 10_000
    assert len(store.requests) == 10_000
    assert 0 < store.largest <= _store.BUDGET + 10_000
    fs: Any = over(store)
    fs.store.sizes = dict.fromkeys(map(str, range(_store.MAX_SIZES)), 1)
    fs.find("b")
    assert len(fs.store.sizes) == 10_000


@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize("to_file", [True, False])
def test_an_object_replaced_between_two_requests(to_file: bool, known: bool, tmp_path: pathlib.Path) -> None:
    """The second request finds another object: its content is returned, never a mixture."""
    store = Unnamed()
    fs: Any = over(store)
    new, asked = pattern(7 << 20), store._request
    store.files["b/f"] = sealane.encrypt(bytes(6 << 20), key=KEY)
    if known:
        fs.info("b/f")

    async def request(name: str) -> None:
        await asked(name)
        if store.requests.count("cat") == 2:
            store.files["b/f"] = sealane.encrypt(new, key=KEY)

    store.requests.clear()
    store._request = request  # type: ignore[method-assign]
    if to_file:
        fs.get_file("b/f", str(tmp_path / "got"))
        assert (tmp_path / "got").read_bytes() == new
    else:
        assert fs.cat_file("b/f") == new


def test_memory_is_bounded(monkeypatch: pytest.MonkeyPatch, tmp_path: pathlib.Path) -> None:
    """Transfers of unknown size hold at most the budget, and large ones wait for each other."""
    monkeypatch.setattr(_store, "BUDGET", 8 * _transfer.FIRST)
    store = Store()
    fs: Any = over(store)
    for n in range(20):
        store.files[f"b/{n}"] = sealane.encrypt(bytes(_transfer.FIRST + CHUNK), key=KEY)
    store.delay, held, peak = 0.01, 0, 0
    take, give = Budget._take, Budget.give

    async def counted(self: Budget, size: int) -> None:
        nonlocal held, peak
        await take(self, size)
        held += size
        peak = max(peak, held)

    def returned(self: Budget, size: int) -> None:
        nonlocal held
        held -= size
        give(self, size)

    monkeypatch.setattr(Budget, "_take", counted)
    monkeypatch.setattr(Budget, "give", returned)
    fs.get("b", str(tmp_path), recursive=True)
    assert held == 0
    assert 0 < peak <= 8 * _transfer.FIRST + _store.REST
    assert store.peak <= 8 * 4


def test_the_budget_is_given_in_order_and_survives_cancellation() -> None:
    async def main() -> None:
        budget = Budget(10)
        order: list[int] = []

        async def hold(number: int, size: int) -> None:
            async with budget.reserve(size):
                order.append(number)
                await asyncio.sleep(0.01)

        tasks = [asyncio.ensure_future(hold(n, size)) for n, size in enumerate([6, 8, 2, 2, 99, 1])]
        await asyncio.sleep(0.001)
        assert order == [0]
        tasks[1].cancel()
        await asyncio.sleep(0.001)
        assert order == [0, 2, 3]
        await asyncio.gather(*tasks, return_exceptions=True)
        assert order == [0, 2, 3, 4, 5]
        async with budget.reserve(10) as share:
            share.shrink(4)
            await asyncio.wait_for(hold(6, 6), 1)

    asyncio.run(main())


@pytest.mark.parametrize("moment", [0.0, 0.005, 0.03, 0.06])
def test_cancellation_leaves_nothing_half_written(moment: float, tmp_path: pathlib.Path) -> None:
    store = Store(asynchronous=True)
    data = pattern(9 << 20)
    store.files["b/f"] = sealane.encrypt(data, key=KEY)
    (tmp_path / "source").write_bytes(data)
    (tmp_path / "out").mkdir()

    async def cancelled(work: Any) -> None:
        task = asyncio.ensure_future(work)
        await asyncio.sleep(moment)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    async def main() -> None:
        fs: Any = over(store)
        store.delay = 0.02
        await cancelled(fs._get_file("b/f", str(tmp_path / "out" / "got")))
        await cancelled(fs._put_file(str(tmp_path / "source"), "b/new"))
        store.delay = 0.0
        for path in store.files:
            assert await fs._cat_file(path) == data
        await fs._get_file("b/f", str(tmp_path / "other"))

    asyncio.run(main())
    for path in (tmp_path / "out").iterdir():
        assert path.read_bytes() == data
    assert sorted(path.name for path in tmp_path.iterdir()) == ["other", "out", "source"]


def test_the_event_loop_is_not_held(tmp_path: pathlib.Path) -> None:
    """Ciphers, files and keys are processed in threads."""
    store = Store(asynchronous=True)
    seen: set[str] = set()
    pauses: list[float] = []
    resolve = sealane._reference.resolve

    def slow(reference: str) -> Any:
        seen.add(threading.current_thread().name)
        time.sleep(3)
        return resolve(reference)

    async def main() -> None:
        fs: Any = over(store)

        async def clock() -> None:
            while True:
                began = time.perf_counter()
                await asyncio.sleep(0)
                pauses.append(time.perf_counter() - began)

        ticking = asyncio.ensure_future(clock())
        await fs._pipe_file("b/f", bytes(12 << 20))
        assert await fs._cat_file("b/f") == bytes(12 << 20)
        await fs._get_file("b/f", str(tmp_path / "got"))
        ticking.cancel()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sealane._reference.resolve", slow)
        asyncio.run(main())
    assert all(name.startswith("sealane.fs") for name in seen)
    assert max(pauses) < 2.5, "finding the key alone takes longer"


def test_one_task_finds_the_key_for_all(monkeypatch: pytest.MonkeyPatch) -> None:
    resolve, calls = sealane._reference.resolve, []

    def failing(reference: str) -> Any:
        calls.append(reference)
        time.sleep(0.01)
        if len(calls) == 1:
            raise sealane.KeyNotFoundError("not yet")
        return resolve(reference)

    monkeypatch.setattr("sealane._reference.resolve", failing)
    store = Store()
    fs: Any = over(store)
    store.files = {f"b/{n}": sealane.encrypt(b"x", key=KEY) for n in range(20)}
    found = fs.cat(list(store.files), on_error="return")
    assert sum(isinstance(one, sealane.KeyNotFoundError) for one in found.values()) == 1
    assert list(found.values()).count(b"x") == 19
    assert len(calls) == 2


def test_a_key_function_that_uses_its_own_filesystem(monkeypatch: pytest.MonkeyPatch) -> None:
    module = types.ModuleType("recursing_keys")
    for below in MemoryFileSystem(global_store=False), Store():
        fs: Any = SealaneFileSystem(fs=below, key="call:recursing_keys:find", skip_instance_cache=True)
        fs.fs.pipe_file("/f", sealane.encrypt(b"x", key=KEY))
        module.find = lambda fs=fs: fs.cat_file("/f")  # type: ignore[attr-defined]
        monkeypatch.setitem(sys.modules, "recursing_keys", module)
        with pytest.raises(RuntimeError, match="uses the filesystem that needs the key"):
            fs.cat_file("/f")


def test_an_interrupt_cancels_the_work(monkeypatch: pytest.MonkeyPatch) -> None:
    store = Store()
    fs: Any = over(store)
    store.delay = 30

    class Interrupted(BaseException):
        pass

    waiting = Future.result

    def result(self: Any, timeout: float | None = None) -> Any:
        if threading.current_thread() is not threading.main_thread():
            return waiting(self, timeout)
        time.sleep(0.1)
        raise Interrupted

    with monkeypatch.context() as patch:
        patch.setattr("concurrent.futures.Future.result", result)
        with pytest.raises(Interrupted):
            fs.pipe_file("b/f", b"data")
    deadline = time.monotonic() + 60
    while store.in_flight and time.monotonic() < deadline:
        time.sleep(0.01)
    assert store.in_flight == 0
    assert store.files == {}


def test_many_uploads_to_a_synchronous_filesystem(tmp_path: pathlib.Path) -> None:
    """Work that waits for calls of the store does not hold the threads of those calls."""

    class Waiting(MemoryFileSystem):
        protocol = "waiting"
        cachable = False

        def pipe_file(self, path: str, value: bytes, mode: str = "overwrite", **options: Any) -> None:
            time.sleep(0.001)
            super().pipe_file(path, value, mode, **options)

    fs: Any = over(Waiting(global_store=False))
    files = {f"/d/{number}": pattern(1000 + number) for number in range(8 * _store.THREADS)}
    with fs.transaction:
        fs.pipe(files)
    assert fs.cat(list(files)) == files
    for path, data in files.items():
        (tmp_path / path.rpartition("/")[2]).write_bytes(data)
    fs.rm("/d", recursive=True)
    fs.put(f"{tmp_path}/", "/d/", recursive=True)
    assert fs.cat("/d/*") == files


@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
@pytest.mark.parametrize("kind", ["memory", "file"])
def test_a_filesystem_in_a_forked_child(kind: str, tmp_path: pathlib.Path) -> None:
    """The event loop and the threads of the parent do not exist there."""
    below = fsspec.filesystem("file") if kind == "file" else MemoryFileSystem(global_store=False)
    fs, root = over(below), str(tmp_path) if kind == "file" else "/d"
    long = pattern(1 << 20)
    fs.pipe({f"{root}/a": b"data", f"{root}/b": long})
    assert fs.cat([f"{root}/a", f"{root}/b"]) == {f"{root}/a": b"data", f"{root}/b": long}

    def work() -> Any:
        with fs.open(f"{root}/b") as file:
            file.seek(999_999)
            read = file.read(9)
        fs.pipe_file(f"{root}/new", long[:300_000])
        return [
            read,
            fs.cat_file(f"{root}/a"),
            fs.cat_file(f"{root}/new") == long[:300_000],
            fs.ls(root, False),
        ]

    names = [f"{root}/{name}" for name in ("a", "b", "new")]
    assert list(in_child(work)) == [long[999_999:1_000_008], b"data", True, names]
