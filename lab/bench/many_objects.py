"""Many objects at a time through the encrypted filesystem, beside plain s3fs, on a server that is far away.

The server is moto in its own process. It answers each request after a delay, and s3fs has ten connections, as
by default. Each round runs the plain and the encrypted call, in alternating order and with cold listings. The
table has the medians of the rounds and of the rounds' ratios. ``--memory`` prints the largest memory of
processes that transfer objects of different sizes, one process for each line.

``--at-once`` takes a store in this process instead. It answers each request after the delay, up to the given
number of them at once, so the table shows the requests that wait for each other and the processor's time.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import pathlib
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import fsspec
import sealane
from fsspec.asyn import AsyncFileSystem

sys.path[:0] = [
    str(pathlib.Path(__file__).parents[2] / place) for place in ("tests/datasets", "bindings/python/tests")
]

KEY = "env:SEALANE_BENCH_KEY"
MIB = 1 << 20


def serve(delay: float) -> None:
    """Runs the server until the input ends."""
    from parts import Server

    class Slow(Server):
        def __call__(self, environ: dict[str, Any], start_response: Any) -> Any:
            time.sleep(delay)
            return super().__call__(environ, start_response)

    server = Slow()
    print(server.url, flush=True)
    sys.stdin.read()
    server.close()


@contextmanager
def served(delay: float) -> Iterator[str]:
    command = [sys.executable, __file__, "--serve", str(delay)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        yield process.stdout.readline().strip()
        assert process.stdin is not None
        process.stdin.close()


def filesystems(url: str) -> tuple[Any, Any]:
    options = {"endpoint_url": url, "key": "x", "secret": "y", "skip_instance_cache": True}
    s3 = fsspec.filesystem("s3", **options)
    return s3, fsspec.filesystem("sealane", fs=s3, key=KEY, skip_instance_cache=True)


class Distant(AsyncFileSystem):  # type: ignore[misc]
    """A store of whole objects in memory that answers after a delay. sealane does not know its name."""

    protocol = "distant"
    cachable = False

    def __init__(self, delay: float = 0.03, at_once: int = 100, **options: Any) -> None:
        super().__init__(**options)
        self.delay, self.at_once, self.requests = delay, at_once, 0
        self.objects: dict[str, bytes] = {}
        self.free: Any = None

    async def _request(self) -> None:
        self.requests += 1
        self.free = self.free or asyncio.Semaphore(self.at_once)
        async with self.free:
            await asyncio.sleep(self.delay)

    async def _cat_file(self, path: str, start: Any = None, end: Any = None, **options: Any) -> bytes:
        await self._request()
        if path not in self.objects:
            raise FileNotFoundError(path)
        return self.objects[path][start:end]

    async def _pipe_file(self, path: str, value: bytes, mode: str = "overwrite", **options: Any) -> None:
        await self._request()
        self.objects[path] = bytes(value)

    async def _get_file(self, rpath: str, lpath: str, **options: Any) -> None:
        if await self._isdir(rpath):
            os.makedirs(lpath, exist_ok=True)
            return
        pathlib.Path(lpath).write_bytes(await self._cat_file(rpath))

    async def _put_file(self, lpath: str, rpath: str, mode: str = "overwrite", **options: Any) -> None:
        if not os.path.isdir(lpath):
            await self._pipe_file(rpath, pathlib.Path(lpath).read_bytes())

    async def _cp_file(self, path1: str, path2: str, **options: Any) -> None:
        await self._request()
        self.objects[path2] = self.objects[path1]

    async def _rm_file(self, path: str, **options: Any) -> None:
        await self._request()
        self.objects.pop(path, None)

    async def _makedirs(self, path: str, exist_ok: bool = False) -> None: ...

    async def _ls(self, path: str, detail: bool = True, **options: Any) -> Any:
        await self._request()
        return self._below(path)

    def _below(self, path: str) -> list[dict[str, Any]]:
        inside = path.rstrip("/") + "/"
        return [
            {"name": name, "size": len(data), "type": "file"}
            for name, data in sorted(self.objects.items())
            if name.startswith(inside)
        ]

    async def _info(self, path: str, **options: Any) -> dict[str, Any]:
        await self._request()
        if path in self.objects:
            return {"name": path, "size": len(self.objects[path]), "type": "file"}
        if self._below(path):
            return {"name": path, "size": 0, "type": "directory"}
        raise FileNotFoundError(path)

    async def _isdir(self, path: str) -> bool:
        return path not in self.objects and bool(self._below(path))

    async def _mkdir(self, path: str, create_parents: bool = True, **options: Any) -> None: ...


def calls(fs: Any, bucket: str, here: str, folder: str, names: list[str]) -> dict[str, Callable[[], object]]:
    paths = [f"{bucket}/{name}" for name in names]
    content = {path: pathlib.Path(here, name).read_bytes() for name, path in zip(names, paths, strict=True)}

    def new() -> str:
        return tempfile.mkdtemp(dir=folder) + "/"

    def check(found: Any) -> None:
        if found != content:
            sys.exit("other bytes came back")

    return {
        "cat, a list": lambda: check(fs.cat(paths)),
        "cat, a pattern": lambda: check(fs.cat(f"{bucket}/o*")),
        # Replacing a file takes the disk longer than a new one.
        "get, a list": lambda: fs.get(paths, [new_folder + name for new_folder in [new()] for name in names]),
        "get, a folder": lambda: fs.get(f"{bucket}/", new(), recursive=True),
        "put, a list": lambda: fs.put([f"{here}/{name}" for name in names], paths),
        "put, a folder": lambda: fs.put(f"{here}/", f"{bucket}/", recursive=True),
        "pipe": lambda: fs.pipe(content),
        "cat_ranges": lambda: fs.cat_ranges(paths, 0, 100, on_error="raise"),
    }


def compare(below: Any, sealed: Any, count: int, size: int, rounds: int, folder: str) -> None:
    names = [f"o{number:04}" for number in range(count)]
    here = tempfile.mkdtemp(dir=folder)
    for name in names:
        pathlib.Path(here, name).write_bytes(os.urandom(size))
    pairs: dict[str, tuple[Callable[[], object], Callable[[], object]]] = {}
    both = []
    for fs, bucket in (below, f"plain-{size}"), (sealed, f"sealed-{size}"):
        below.mkdir(bucket)
        fs.put(f"{here}/", f"{bucket}/", recursive=True)
        both.append(calls(fs, bucket, here, folder, names))
    pairs = {what: (both[0][what], both[1][what]) for what in both[0]}
    print(f"\n{count} objects of {size:,} bytes, {rounds} rounds\n")
    head = f"{'what':<16} {'plain ms':>9} {'sealed ms':>9} {'ratio':>6} {'spread':>11}"
    print(f"{head} {'speed':>6} {'requests':>8}   goal")
    for what, works in pairs.items():
        took, requests = [], 0
        for number in range(rounds + 1):
            times = {}
            for at in (0, 1) if number % 2 else (1, 0):
                below.invalidate_cache()
                sealed.invalidate_cache()
                before, began = getattr(below, "requests", 0), time.perf_counter()
                works[at]()
                times[at] = time.perf_counter() - began
                requests = getattr(below, "requests", 0) - before if at else requests
            took.append((times[0], times[1]))
        plain, ours = (statistics.median(column) * 1e3 for column in zip(*took[1:], strict=True))
        ratios = [b / a for a, b in took[1:]]
        ratio, spread = statistics.median(ratios), f"{min(ratios):.2f}-{max(ratios):.2f}"
        goal = f"<= 1.15: {'OK' if ratio <= 1.15 else 'SHORT'}" if what[:3] in ("cat", "get", "put") else ""
        figures = f"{plain:9.0f} {ours:9.0f} {ratio:6.2f} {spread:>11} {1 / ratio:6.2f} {requests or '':>8}"
        print(f"{what:<16} {figures}   {goal}", flush=True)


TRANSFERS = [(100, MIB), (1000, MIB), (60, 4 * MIB), (24, 12 * MIB), (8, 40 * MIB), (4, 512 * MIB)]


def memory(url: str, folder: str) -> None:
    print(f"\n{'what':<34} {'largest memory, MiB':>20}   goal")
    for count, size in TRANSFERS:
        here = tempfile.mkdtemp(dir=folder)
        for number in range(count):
            with open(f"{here}/o{number}", "wb") as file:
                for _ in range(size // MIB):
                    file.write(os.urandom(MIB))
        for what in "put", "get":
            command = [sys.executable, __file__, "--transfer", what, url, here, f"size-{size}-{count}"]
            largest = int(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)
            name = f"{what} of {count} objects of {size // MIB} MiB"
            print(f"{name:<34} {largest:20}   < 256: {'OK' if largest < 256 else 'SHORT'}", flush=True)


def transfer(what: str, url: str, here: str, bucket: str) -> None:
    s3, sealed = filesystems(url)
    if what == "put":
        s3.mkdir(bucket)
        sealed.put(f"{here}/", f"{bucket}/", recursive=True)
    else:
        with tempfile.TemporaryDirectory(dir=os.path.dirname(here)) as folder:
            sealed.get(f"{bucket}/", f"{folder}/", recursive=True)
            for name in os.listdir(here):
                if os.path.getsize(f"{folder}/{name}") != os.path.getsize(f"{here}/{name}"):
                    sys.exit("other files came back")
        s3.rm(bucket, recursive=True)
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--size", type=int, nargs="*", default=[1000, MIB])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--delay", type=float, default=0.03, help="seconds per request (default 0.03)")
    parser.add_argument("--memory", action="store_true")
    parser.add_argument("--folder", help="where to write (default: a new folder here)")
    parser.add_argument("--serve", type=float, help=argparse.SUPPRESS)
    parser.add_argument("--transfer", nargs=4, help=argparse.SUPPRESS)
    parser.add_argument("--at-once", type=int, help="a store here that answers so many at once")
    given = parser.parse_args()
    if given.serve is not None:
        serve(given.serve)
        return
    os.environ.setdefault("SEALANE_BENCH_KEY", sealane.keys.generate("aes-256").to_text())
    if given.transfer:
        transfer(*given.transfer)
        return
    if given.at_once:
        with tempfile.TemporaryDirectory(dir=given.folder or ".", prefix=".bench-") as folder:
            for size in given.size:
                below = Distant(given.delay, given.at_once)
                sealed = fsspec.filesystem("sealane", fs=below, key=KEY, skip_instance_cache=True)
                compare(below, sealed, given.count, size, given.rounds, os.path.abspath(folder))
        return
    with (
        served(given.delay) as url,
        tempfile.TemporaryDirectory(dir=given.folder or ".", prefix=".bench-") as folder,
    ):
        if given.memory:
            memory(url, os.path.abspath(folder))
        else:
            for size in given.size:
                compare(*filesystems(url), given.count, size, given.rounds, os.path.abspath(folder))


if __name__ == "__main__":
    main()
