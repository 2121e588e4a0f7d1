"""Closing a file commits it, whatever exception is handled. A failed block of its own discards it."""

from __future__ import annotations

import asyncio
import codecs
import contextlib
import gc
import io
import tarfile
import zipfile
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any

import fsspec
import pytest
import sealane
import sealane.aio
from support import leftovers, pattern

KEY = pattern(32)
COMPRESSIONS = ["gzip", "bz2", "xz", "zip"]


class Stop(Exception):
    pass


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLOSING_KEY", sealane.keys.Key.from_bytes(KEY).to_text())


def write(file: Any) -> None:
    """Writes a line to an object that takes text or bytes."""
    try:
        file.write("line\n")
    except TypeError:
        file.write(b"line\n")


def fs() -> Any:
    return fsspec.filesystem("sealane", target_protocol="file", key="env:CLOSING_KEY")


def lazy(path: Path, **options: Any) -> Any:
    return fsspec.open(f"sealane::file://{path}", key="env:CLOSING_KEY", **options)


def encrypted(path: Path) -> Any:
    return sealane.open(path, "wb", key=KEY)


WAYS: dict[str, Callable[[Path], Any]] = {
    "open": encrypted,
    "fs": lambda path: fs().open(str(path), "wb"),
    "fs, text": lambda path: fs().open(str(path), "w"),
    "fs, new": lambda path: fs().open(str(path), "xb"),
    "fsspec.open": lambda path: lazy(path, mode="wb"),
    "fsspec.open, text": lambda path: lazy(path, mode="wt"),
    "text over open": lambda path: io.TextIOWrapper(encrypted(path)),
    "text over fs": lambda path: io.TextIOWrapper(fs().open(str(path), "wb")),
    "codecs over open": lambda path: codecs.getwriter("utf-8")(encrypted(path)),
    "codecs over fs": lambda path: codecs.EncodedFile(fs().open(str(path), "wb"), "utf-8"),
    "buffer": lambda path: io.BufferedWriter(encrypted(path)),
    "text over a buffer": lambda path: io.TextIOWrapper(io.BufferedWriter(fs().open(str(path), "wb"))),
    **{
        f"fs, {one}": lambda path, one=one: fs().open(str(path), "wb", compression=one)
        for one in COMPRESSIONS
    },
    **{
        f"fs, text, {one}": lambda path, one=one: fs().open(str(path), "w", compression=one)
        for one in COMPRESSIONS
    },
}

BLOCKS: dict[str, Callable[[Path], Any]] = {
    # Closing the object in such a block does not close the file below: fsspec wants its own closed.
    f"fsspec.open, {one}": lambda path, one=one: lazy(path, mode="wb", compression=one)
    for one in COMPRESSIONS
}


@pytest.fixture(params=WAYS)
def opened(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[], Any]:
    return lambda: WAYS[request.param](tmp_path / "file")


@pytest.fixture(params=WAYS | BLOCKS)
def block_of(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[], Any]:
    return lambda: (WAYS | BLOCKS)[request.param](tmp_path / "file")


def entered(opened: Callable[[], Any]) -> Any:
    """Returns a file object that is open, without a block."""
    file = opened()
    return file.open() if isinstance(file, fsspec.core.OpenFile) else file


def in_except(file: Any) -> None:
    try:
        raise Stop
    except Stop:
        write(file)
        file.close()


def at_the_end_of_a_loop(file: Any) -> None:
    rows = iter([1])
    while True:
        try:
            next(rows)
        except StopIteration:
            write(file)
            return file.close()  # type: ignore[no-any-return]


def in_finally(file: Any) -> None:
    with contextlib.suppress(Stop):
        try:
            raise Stop
        finally:
            write(file)
            file.close()


def in_the_exit_of_another_object(file: Any) -> None:
    class Job:
        def __enter__(self) -> None: ...

        def __exit__(self, *_: object) -> None:
            write(file)
            file.close()

    with contextlib.suppress(Stop), Job():
        raise Stop


def deep_in_a_handler(file: Any) -> None:
    def report() -> None:
        with contextlib.nullcontext():
            write(file)
            file.close()

    try:
        with contextlib.nullcontext():
            raise Stop
    except Stop:
        try:
            raise KeyError
        except KeyError:
            report()


def in_an_own_block(file: Any) -> None:
    try:
        raise Stop
    except Stop:
        with file:
            write(file)


def around_a_handled_exception(file: Any) -> None:
    with file:
        try:
            raise Stop
        except Stop:
            write(file)


def in_a_generator(file: Any) -> None:
    def rows() -> Iterator[int]:
        try:
            yield 1
        except Stop:
            write(file)
            file.close()

    one = rows()
    next(one)
    with contextlib.suppress(StopIteration):
        one.throw(Stop())


def in_a_coroutine(file: Any) -> None:
    async def work() -> None:
        try:
            raise Stop
        except Stop:
            await asyncio.sleep(0)
            write(file)
            file.close()

    asyncio.run(work())


def in_a_handler_of_a_manager(file: Any) -> None:
    @contextlib.contextmanager
    def reports() -> Iterator[None]:
        try:
            yield
        except Stop:
            write(file)
            file.close()

    with reports():
        raise Stop


def after_a_handler_of_a_manager(file: Any) -> None:
    @contextlib.contextmanager
    def reports() -> Iterator[None]:
        try:
            yield
        except Stop:
            write(file)
        finally:
            file.close()

    with reports():
        raise Stop


def in_a_handler_of_an_asynchronous_manager(file: Any) -> None:
    @contextlib.asynccontextmanager
    async def reports() -> AsyncIterator[None]:
        try:
            yield
        except Stop:
            write(file)
            file.close()

    async def work() -> None:
        async with reports():
            raise Stop

    asyncio.run(work())


def in_a_stack_that_suppresses(file: Any) -> None:
    with contextlib.ExitStack() as exits:
        exits.callback(file.close)
        exits.enter_context(contextlib.suppress(Stop))
        write(file)
        raise Stop


CLOSES = [
    in_a_handler_of_a_manager,
    after_a_handler_of_a_manager,
    in_a_handler_of_an_asynchronous_manager,
    in_a_stack_that_suppresses,
    in_except,
    at_the_end_of_a_loop,
    in_finally,
    in_the_exit_of_another_object,
    deep_in_a_handler,
    in_an_own_block,
    around_a_handled_exception,
    in_a_generator,
    in_a_coroutine,
]


@pytest.mark.parametrize("close", CLOSES)
def test_a_handled_exception_does_not_discard(
    opened: Callable[[], Any], close: Callable[[Any], None], tmp_path: Path
) -> None:
    close(entered(opened))
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
    assert sealane.decrypt((tmp_path / "file").read_bytes(), key=KEY)


def manager_that_handles(opened: Callable[[], Any]) -> None:
    @contextlib.contextmanager
    def job() -> Iterator[Any]:
        with opened() as file, contextlib.suppress(Stop):
            yield file

    with job() as file:
        write(file)
        raise Stop


def handler_around_a_block(opened: Callable[[], Any]) -> None:
    @contextlib.contextmanager
    def job() -> Iterator[None]:
        try:
            yield
        except Stop:
            with opened() as file:
                write(file)

    with job():
        raise Stop


def stack_that_suppresses(opened: Callable[[], Any]) -> None:
    with contextlib.ExitStack() as exits:
        write(exits.enter_context(opened()))
        exits.enter_context(contextlib.suppress(Stop))
        raise Stop


@pytest.mark.parametrize("block", [manager_that_handles, handler_around_a_block, stack_that_suppresses])
def test_a_block_whose_exception_was_handled_commits(
    block_of: Callable[[], Any], block: Callable[[Any], None], tmp_path: Path
) -> None:
    block(block_of)
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
    assert sealane.decrypt((tmp_path / "file").read_bytes(), key=KEY)


def own_block(opened: Callable[[], Any]) -> None:
    with opened() as file:
        write(file)
        raise Stop


def block_in_a_handler(opened: Callable[[], Any]) -> None:
    try:
        raise KeyError
    except KeyError:
        own_block(opened)


def stack(opened: Callable[[], Any]) -> None:
    with contextlib.ExitStack() as exits:
        write(exits.enter_context(opened()))
        exits.enter_context(contextlib.nullcontext())
        raise Stop


def nested(opened: Callable[[], Any]) -> None:
    with contextlib.nullcontext(), opened() as file, contextlib.nullcontext():
        write(file)
        with contextlib.nullcontext():
            raise Stop


def generator(opened: Callable[[], Any]) -> None:
    @contextlib.contextmanager
    def job() -> Iterator[Any]:
        with opened() as file:
            yield file

    with job() as file:
        write(file)
        raise Stop


def closing(opened: Callable[[], Any]) -> None:
    with contextlib.closing(opened()) as file:
        file = file.open() if isinstance(file, fsspec.core.OpenFile) else file
        write(file)
        raise Stop


def interrupted(opened: Callable[[], Any]) -> None:
    try:
        with opened() as file:
            write(file)
            raise KeyboardInterrupt
    except KeyboardInterrupt:
        raise Stop from None


def asynchronous_stack(opened: Callable[[], Any]) -> None:
    async def work() -> None:
        async with contextlib.AsyncExitStack() as exits:
            write(exits.enter_context(opened()))
            exits.push_async_callback(asyncio.sleep, 0)
            raise Stop

    asyncio.run(work())


def asynchronous_manager(opened: Callable[[], Any]) -> None:
    @contextlib.asynccontextmanager
    async def job() -> AsyncIterator[Any]:
        file = entered(opened)
        try:
            yield file
        finally:
            await asyncio.sleep(0)
            file.close()

    async def work() -> None:
        async with job() as file:
            write(file)
            raise Stop

    asyncio.run(work())


BLOCKS_THAT_FAIL = [
    own_block,
    block_in_a_handler,
    stack,
    asynchronous_stack,
    nested,
    generator,
    asynchronous_manager,
    closing,
    interrupted,
]


@pytest.mark.parametrize("block", BLOCKS_THAT_FAIL)
def test_an_exception_that_leaves_the_block_discards(
    block_of: Callable[[], Any], block: Callable[[Any], None], tmp_path: Path
) -> None:
    with pytest.raises(Stop):
        block(block_of)
    gc.collect()
    assert leftovers(tmp_path) == []


@pytest.mark.filterwarnings("ignore:Exception ignored in.*ZipFile")
def test_a_file_that_is_dropped_is_discarded(opened: Callable[[], Any], tmp_path: Path) -> None:
    file = entered(opened)
    write(file)
    del file
    gc.collect()
    assert leftovers(tmp_path) == []


@pytest.mark.parametrize("way", ["open", "fs", "fs, text", "fs, text, gzip"])
def test_an_exit_with_an_exception_discards(way: str, tmp_path: Path) -> None:
    class Other:
        def __enter__(self) -> Any:
            self.file = WAYS[way](tmp_path / "file")
            return self.file.__enter__()

        def __exit__(self, *error: Any) -> None:
            self.file.__exit__(*error)

    with pytest.raises(Stop), Other() as file:
        write(file)
        raise Stop
    assert file.closed
    assert leftovers(tmp_path) == []
    with Other() as file:
        write(file)
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


class Closed:
    """A compression whose objects take no attributes, as those of zstandard."""

    __slots__ = ("closed", "file")

    def __init__(self, file: Any, mode: str) -> None:
        self.file, self.closed = file, False

    def readable(self) -> bool:
        return bool(self.file.readable())

    def writable(self) -> bool:
        return bool(self.file.writable())

    def seekable(self) -> bool:
        return False

    def readinto(self, buffer: Any) -> int:
        return int(self.file.readinto(buffer))

    def read(self, size: int = -1) -> bytes:
        return bytes(self.file.read(size))

    def write(self, data: Any) -> int:
        return int(self.file.write(data))

    def flush(self) -> None:
        pass

    def close(self) -> None:
        self.closed = True


def test_a_compression_that_takes_no_attributes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(fsspec.compression.compr, "closed", Closed)
    path = str(tmp_path / "file")
    with pytest.raises(Stop), fs().open(path, "wb", compression="closed") as file:
        file.write(b"data")
        raise Stop
    file = fs().open(path, "w", compression="closed")
    file.write("data")
    del file
    gc.collect()
    assert leftovers(tmp_path) == []
    with fs().open(path, "w", compression="closed") as file:
        file.write("data")
    assert fs().open(path, compression="closed").read() == fs().cat_file(path) == b"data"


def test_a_discarded_file_stays_discarded(tmp_path: Path) -> None:
    for file in encrypted(tmp_path / "file"), fs().open(str(tmp_path / "file"), "wb"):
        file.write(b"data")
        file.discard()
        file.close()
    assert leftovers(tmp_path) == []


@pytest.mark.parametrize("inner", [encrypted, lambda path: fs().open(str(path), "wb")])
@pytest.mark.parametrize(
    "archive",
    [lambda file: zipfile.ZipFile(file, "w"), lambda file: tarfile.TarFile(fileobj=file, mode="w")],
)
def test_archives(inner: Any, archive: Any, tmp_path: Path) -> None:
    (tmp_path / "in").write_bytes(b"member")

    def pack(file: Any) -> None:
        with archive(file) as packed:
            (packed.write if isinstance(packed, zipfile.ZipFile) else packed.add)(tmp_path / "in")

    try:
        raise Stop
    except Stop:
        file = inner(tmp_path / "file")
        pack(file)
        file.close()
    assert b"member" in sealane.decrypt((tmp_path / "file").read_bytes(), key=KEY)
    (tmp_path / "file").unlink()
    with pytest.raises(Stop), inner(tmp_path / "file") as file:
        pack(file)
        raise Stop
    with pytest.raises(Stop), inner(tmp_path / "file") as file, archive(file):
        raise Stop
    assert leftovers(tmp_path) == ["in"]


def test_an_asynchronous_file(tmp_path: Path) -> None:
    async def close_in_a_handler() -> None:
        file = await sealane.aio.open(tmp_path / "file", "wb", key=KEY)
        try:
            raise Stop
        except Stop:
            await file.write(b"data")
            await file.close()

    async def fail() -> None:
        async with sealane.aio.open(tmp_path / "other", "wb", key=KEY) as file:
            await file.write(b"data")
            raise Stop

    asyncio.run(close_in_a_handler())
    with pytest.raises(Stop):
        asyncio.run(fail())
    with pytest.raises(ValueError, match="not 'wt'"):
        sealane.aio.open(tmp_path / "other", "wt", key=KEY)
    assert leftovers(tmp_path) == ["file"]
