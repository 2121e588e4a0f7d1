"""``sealane.aio``: results, cancellation, and the pauses of the event loop."""

from __future__ import annotations

import asyncio
import io
import pathlib
import time
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
import sealane
import sealane.aio
from support import leftovers, pattern

KEY = sealane.keys.Key.from_bytes(pattern(32))
LONG = 40 << 20


@pytest.fixture
def source(tmp_path: pathlib.Path) -> pathlib.Path:
    (tmp_path / "source").write_bytes(pattern(LONG))
    return tmp_path / "source"


def test_files(source: pathlib.Path, tmp_path: pathlib.Path) -> None:
    seen: list[tuple[int, int | None]] = []

    async def main() -> None:
        sealed, out = tmp_path / "sealed", tmp_path / "out"
        await sealane.aio.encrypt_file(source, sealed, key=KEY, progress=lambda *one: seen.append(one))
        await sealane.aio.verify_file(sealed, key=KEY)
        await sealane.aio.decrypt_file(sealed, out, key=KEY)
        assert out.read_bytes() == pattern(LONG)
        memory = io.BytesIO()
        await sealane.aio.decrypt_file(sealed, memory, key=KEY)
        assert memory.getvalue() == pattern(LONG)
        assert await sealane.aio.decrypt(await sealane.aio.encrypt(b"text", key=KEY), key=KEY) == b"text"
        with pytest.raises(sealane.AuthenticationError):
            await sealane.aio.decrypt_file(sealed, tmp_path / "no", key=sealane.generate_key("aes-256-gcm"))
        with pytest.raises(FileNotFoundError):
            await sealane.aio.encrypt_file(tmp_path / "none", tmp_path / "no", key=KEY)
        with pytest.raises(TypeError):
            await sealane.aio.encrypt_file(source, tmp_path / "no")

    asyncio.run(main())
    assert seen
    assert seen[-1] == (LONG, LONG)
    assert leftovers(tmp_path) == ["out", "sealed", "source"]


def test_file_objects(tmp_path: pathlib.Path) -> None:
    async def main() -> None:
        path = tmp_path / "file"
        async with sealane.aio.open(path, "wb", key=KEY) as file:
            for at in range(0, 300_000, 100_000):
                assert await file.write(pattern(300_000)[at : at + 100_000]) == 100_000
            assert not path.exists()
        async with sealane.aio.open(path, key=KEY) as file:
            assert file.size == 300_000
            assert await file.seek(-9, 2) == file.tell() == 299_991
            assert await file.read() == pattern(300_000)[-9:]
            await file.seek(5)
            out = bytearray(20)
            assert await file.readinto(out) == 20
            assert out == pattern(300_000)[5:25]
            pieces = await asyncio.gather(*[file.read(1000) for _ in range(20)])
            assert b"".join(pieces) == pattern(300_000)[25:20_025]
        assert file.closed
        file = await sealane.aio.open(path, key=KEY)
        await file.close()
        with pytest.raises(ValueError, match="closed"):
            await file.read()
        with pytest.raises(RuntimeError):
            async with sealane.aio.open(path, "wb", key=KEY) as file:
                await file.write(b"new")
                raise RuntimeError
        with pytest.raises(FileExistsError):
            await sealane.aio.open(path, "xb", key=KEY)
        assert sealane.decrypt(path.read_bytes(), key=KEY) == pattern(300_000)

    asyncio.run(main())
    assert leftovers(tmp_path) == ["file"]


@pytest.mark.parametrize("length", [0, 100, 32 << 10, (32 << 10) + 1, 1 << 20])
def test_messages(length: int) -> None:
    async def main() -> None:
        key = sealane.generate_key("aes-256-gcm")
        aead = sealane.aio.Aead("aes-256-gcm", key)
        data = pattern(length)
        assert await aead.open(await aead.seal(data, b"aad"), b"aad") == data
        assert await sealane.aio.Aead(aead.aead).open(aead.aead.seal(memoryview(data))) == data
        nonce = bytes(12)
        assert await aead.decrypt(nonce, await aead.encrypt(nonce, data, b"a"), b"a") == data
        with pytest.raises(sealane.AuthenticationError):
            await aead.open(await aead.seal(data), b"other")
        with pytest.raises(TypeError):
            await aead.seal("text")  # type: ignore[arg-type]
        assert key.hex() not in repr(aead)

    asyncio.run(main())


@pytest.mark.parametrize("after", [0.0, 0.001, 0.004, 0.01, 0.02])
def test_cancellation_leaves_nothing_half_written(
    source: pathlib.Path, tmp_path: pathlib.Path, after: float
) -> None:
    sealed = tmp_path / "sealed"
    sealane.encrypt_file(source, sealed, key=KEY)
    (tmp_path / "there").mkdir()

    async def written(path: pathlib.Path) -> None:
        async with sealane.aio.open(path, "wb", key=KEY) as file:
            for _ in range(40):
                await file.write(bytes(1 << 20))

    works: list[Callable[[pathlib.Path], Awaitable[Any]]] = [
        lambda path: sealane.aio.encrypt_file(source, path, key=KEY),
        lambda path: sealane.aio.decrypt_file(sealed, path, key=KEY),
        written,
    ]

    async def main(work: Callable[[pathlib.Path], Awaitable[Any]], path: pathlib.Path) -> bool:
        task = asyncio.ensure_future(work(path))
        await asyncio.sleep(after)
        task.cancel()
        try:
            await task
        except asyncio.CancelledError:
            # The thread has ended: nothing changes any more.
            before = leftovers(tmp_path / "there")
            await asyncio.sleep(0.02)
            assert leftovers(tmp_path / "there") == before
        return path.exists()

    for number, work in enumerate(works):
        path = tmp_path / "there" / str(number)
        if asyncio.run(main(work, path)):
            assert path.stat().st_size >= LONG, "complete"
        else:
            assert str(number) not in leftovers(tmp_path / "there")
    assert all(name.isdigit() for name in leftovers(tmp_path / "there"))


def test_an_error_of_progress_cancels(source: pathlib.Path, tmp_path: pathlib.Path) -> None:
    def progress(done: int, total: int | None) -> None:
        raise ZeroDivisionError

    async def main() -> None:
        with pytest.raises(ZeroDivisionError):
            await sealane.aio.encrypt_file(source, tmp_path / "sealed", key=KEY, progress=progress)

    asyncio.run(main())


def test_no_call_takes_a_millisecond_of_the_event_loop(source: pathlib.Path, tmp_path: pathlib.Path) -> None:
    """The longest time that the thread of the event loop computes without a pause, in the best of runs.

    It is the processor time of this thread, because other programs may hold the processors.
    """
    sealed = tmp_path / "sealed"
    sealane.encrypt_file(source, sealed, key=KEY)
    data = pattern(LONG)
    aead = sealane.aio.Aead("aes-256-gcm", sealane.generate_key("aes-256-gcm"))
    message = aead.aead.seal(data)
    short = aead.aead.seal(data[: 32 << 10])
    results: list[bytes] = []

    async def through_a_file() -> None:
        async with sealane.aio.open(tmp_path / "f", "wb", key=KEY) as file:
            await file.write(data)
        async with sealane.aio.open(tmp_path / "f", key=KEY) as file:
            results.append(await file.read())

    async def opened(sealed: bytes) -> None:
        results.append(await aead.open(sealed))

    async def longest(work: Callable[[], Awaitable[Any]]) -> float:
        steps: list[float] = []

        async def clock() -> None:
            while True:
                began = time.thread_time()
                await asyncio.sleep(0)
                steps.append(time.thread_time() - began)

        ticking = asyncio.ensure_future(clock())
        await asyncio.sleep(0)
        await work()
        ticking.cancel()
        results.clear()
        return max(steps, default=0.0)

    works: dict[str, Callable[[], Awaitable[Any]]] = {
        "encrypt_file": lambda: sealane.aio.encrypt_file(source, tmp_path / "e", key=KEY),
        "decrypt_file": lambda: sealane.aio.decrypt_file(sealed, tmp_path / "d", key=KEY),
        "open": through_a_file,
        "a long message": lambda: opened(message),
        "a short message": lambda: opened(short),
    }
    for name, work in works.items():
        took = min(asyncio.run(longest(work)) for _ in range(5))
        assert took < 0.001, f"{name} took {took * 1e3:.2f} ms of the event loop"
