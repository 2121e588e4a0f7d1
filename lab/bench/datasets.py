"""The cost of reading datasets through the encrypted filesystem, as ratios to the same reads of plain files.

Each round reads the plain and the encrypted data, in alternating order; the tables have medians of the rounds
and of the rounds' ratios. Files are in the page cache. S3 is a moto server in this process, so its times mean
little, but its requests are counted.
"""

from __future__ import annotations

import argparse
import os
import pathlib
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from typing import Any

import fsspec
import numpy
import pyarrow
import pyarrow.dataset
import pyarrow.parquet
import sealane
import zarr
from pyarrow.fs import FSSpecHandler, PyFileSystem
from zarr.storage import FsspecStore

sys.path[:0] = [
    str(pathlib.Path(__file__).parents[2] / place) for place in ("tests/datasets", "bindings/python/tests")
]

from parts import Server  # noqa: E402

KEY = "env:SEALANE_BENCH_KEY"
MIB = 1 << 20
ROWS = 1_000_000


def seconds(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def compare(
    label: str, goal: str, plain: Callable[[], object], sealed: Callable[[], object], rounds: int
) -> None:
    """Prints one line. A goal such as ">= 0.6" is a speed ratio, one such as "<= 1.3" a time ratio."""
    pairs = []
    for number in range(rounds + 1):
        # The order alternates, because the second read finds warmer caches.
        order = (plain, sealed) if number % 2 else (sealed, plain)
        took = {work: seconds(work) for work in order}
        pairs.append((took[plain], took[sealed]))
    theirs, ours = (statistics.median(column) for column in zip(*pairs[1:], strict=True))
    ratios = [a / b if goal.startswith(">") else b / a for a, b in pairs[1:]]
    ratio, spread = statistics.median(ratios), f"{min(ratios):.2f}-{max(ratios):.2f}"
    unit = "x speed" if goal.startswith(">") else "x time"
    figures = f"{theirs * 1e3:9.1f} {ours * 1e3:9.1f} {ratio:6.2f} {unit:8} {spread:>10}"
    print(f"{label:<44} {figures}   {verdict(goal, ratio)}")


def verdict(goal: str, ratio: float) -> str:
    sign, _, bound = goal.partition(" ")
    if not bound:
        return ""
    met = ratio >= float(bound) if sign == ">=" else ratio <= float(bound)
    return f"{goal}: {'OK' if met else 'SHORT'}"


def head(title: str) -> None:
    figures = f"{'plain ms':>9} {'sealed ms':>9} {'ratio':>6} {'':8} {'spread':>10}"
    print(f"\n{title}\n\n{'what':<44} {figures}   goal")


def read_in(path: str) -> None:
    """Reads a file into the page cache, as for data that was read before.

    Data that was just written lies in the page cache in smaller pieces, depending on the writer, and is read
    up to a third slower.
    """
    with open(path, "rb", buffering=0) as file:
        os.fsync(file.fileno())
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        while file.read(MIB):
            pass


def one_file(folder: pathlib.Path, size: int, rounds: int, plain: Any, sealed: Any) -> None:
    path, encrypted = str(folder / "plain"), str(folder / "sealed")
    piece = os.urandom(MIB)
    with open(path, "wb") as file:
        for _ in range(size // MIB):
            file.write(piece)
    sealed.put_file(path, encrypted)
    for written in (path, encrypted):
        read_in(written)
    chance = random.Random(1)
    places = [chance.randrange(size - 64 * 1024) for _ in range(2000)]

    def through(fs: Any, path: str, step: int) -> Callable[[], None]:
        def read() -> None:
            with fs.open(path, "rb") as file:
                while file.read(step):
                    pass

        return read

    def here_and_there(fs: Any, path: str, length: int) -> Callable[[], None]:
        def read() -> None:
            with fs.open(path, "rb") as file:
                for place in places:
                    file.seek(place)
                    file.read(length)

        return read

    head(f"one local file of {size // MIB} MiB, {rounds} rounds")
    for step, goal in [(MIB, ">= 0.6"), (8 * MIB, ">"), (4096, ">")]:
        name = f"in order, {step // 1024} KiB a read"
        compare(name, goal, through(plain, path, step), through(sealed, encrypted, step), rounds)
    for length, goal in [(64 * 1024, ">= 0.5"), (4096, ">")]:
        name = f"at {len(places)} random places, {length // 1024} KiB a read"
        compare(
            name, goal, here_and_there(plain, path, length), here_and_there(sealed, encrypted, length), rounds
        )


def parquet(folder: pathlib.Path, rounds: int, plain: Any, sealed: Any) -> None:
    chance = numpy.random.default_rng(1)
    for name in ("table", "table-sealed"):
        (folder / name).mkdir()
    for part in range(8):
        table = pyarrow.table(
            {
                "id": numpy.arange(ROWS) + part * ROWS,
                "price": chance.normal(size=ROWS),
                "count": chance.integers(0, 1000, ROWS),
                "name": numpy.char.add("item-", chance.integers(0, 5000, ROWS).astype(str)),
            }
        )
        pyarrow.parquet.write_table(table, folder / "table" / f"{part}.parquet")
        sealed.put_file(
            folder / "table" / f"{part}.parquet", str(folder / "table-sealed" / f"{part}.parquet")
        )
    size = sum(path.stat().st_size for path in (folder / "table").iterdir())

    def scan(fs: Any, name: str, columns: list[str] | None) -> Callable[[], None]:
        def read() -> None:
            dataset = pyarrow.dataset.dataset(str(folder / name), filesystem=fs, format="parquet")
            if dataset.to_table(columns=columns).num_rows != 8 * ROWS:
                sys.exit("other rows came back")

        return read

    head(f"8 Parquet files, {8 * ROWS // 1_000_000} million rows, {size // MIB} MiB, {rounds} rounds")
    # Arrow replaces the local filesystem of fsspec by its own, unless it is wrapped explicitly.
    for whose, fs, goal in [
        ("Arrow's files", plain, "<= 1.3"),
        ("fsspec's files", PyFileSystem(FSSpecHandler(plain)), "<"),
    ]:
        for columns in (None, ["price"], ["name"]):
            what = f"scan {'all columns' if columns is None else columns[0]}, against {whose}"
            compare(what, goal, scan(fs, "table", columns), scan(sealed, "table-sealed", columns), rounds)


def chunks(folder: pathlib.Path, rounds: int) -> None:
    data = numpy.random.default_rng(1).normal(size=(4096, 2048))
    places = {"plain": f"file://{folder}/array", "sealed": f"sealane::file://{folder}/array-sealed"}
    arrays = {}
    for name, url in places.items():
        given = {"auto_mkdir": True} if name == "plain" else {"key": KEY}
        store = FsspecStore.from_url(url, storage_options=given)
        array = zarr.create_array(store, shape=data.shape, chunks=(512, 512), dtype="f8", overwrite=True)
        array[:] = data
        arrays[name] = array

    def read(name: str) -> Callable[[], None]:
        return lambda: numpy.testing.assert_array_equal(arrays[name][:], data)

    def read_one(name: str) -> Callable[[], None]:
        return lambda: [arrays[name][512 * i : 512 * i + 512, :512] for i in range(8)] and None

    head(f"a zarr array of {data.nbytes // MIB} MiB in 32 chunks, {rounds} rounds")
    compare("the whole array", "<", read("plain"), read("sealed"), rounds)
    compare("8 chunks, one by one", "<", read_one("plain"), read_one("sealed"), rounds)


def requests(size: int = 64 * MIB) -> None:
    server = Server()
    options = {"endpoint_url": server.url, "key": "x", "secret": "y", "skip_instance_cache": True}
    try:
        s3 = fsspec.filesystem("s3", **options)
        sealed = fsspec.filesystem("sealane", fs=s3, key=KEY, skip_instance_cache=True)
        s3.mkdir("bucket")
        data = os.urandom(size)
        s3.pipe_file("bucket/plain", data)
        sealed.pipe_file("bucket/sealed", data)
        chance = random.Random(2)
        near = [(at, at + 4096) for at in range(0, 100 * 50_000, 50_000)]
        far = [(at, at + 65536) for at in (chance.randrange(size - 65536) for _ in range(100))]
        print(f"\nrequests on S3, an object of {size // MIB} MiB\n\n{'what':<44} {'plain':>9} {'sealed':>9}")
        for what, ranges in [
            ("cat_ranges, 100 random ranges of 64 KiB", far),
            ("cat_ranges, 100 near ones of 4 KiB", near),
        ]:
            counts = []
            for fs, path in ((s3, "bucket/plain"), (sealed, "bucket/sealed")):
                fs.invalidate_cache()
                with server.counting() as seen:
                    found = fs.cat_ranges([path] * 100, [a for a, _ in ranges], [b for _, b in ranges])
                if found != [data[a:b] for a, b in ranges]:
                    sys.exit("other bytes came back")
                counts.append(len(seen))
            print(
                f"{what:<44} {counts[0]:9} {counts[1]:9}   {'OK' if counts[1] <= counts[0] + 5 else 'SHORT'}"
            )
        counts = []
        for fs, path in ((s3, "bucket/plain"), (sealed, "bucket/sealed")):
            fs.invalidate_cache()
            with server.counting() as seen, fs.open(path) as file:
                while file.read(MIB):
                    pass
            counts.append(len(seen))
        print(f"{'open, read to the end by 1 MiB':<44} {counts[0]:9} {counts[1]:9}")
    finally:
        server.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, default=1 << 30, help="bytes of the one file (default 1 GiB)")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--folder", help="where to write (default: a new folder here)")
    given = parser.parse_args()
    os.environ["SEALANE_BENCH_KEY"] = sealane.keys.generate("aes-256").to_text()
    plain = fsspec.filesystem("file")
    sealed = fsspec.filesystem("sealane", target_protocol="file", key=KEY)
    with tempfile.TemporaryDirectory(dir=given.folder or ".", prefix=".bench-") as name:
        folder = pathlib.Path(name).absolute()
        one_file(folder, given.size, given.rounds, plain, sealed)
        parquet(folder, given.rounds, plain, sealed)
        chunks(folder, given.rounds)
    requests()
    # Threads of Arrow may still release Python files, which would abort the interpreter at its end.
    time.sleep(0.5)


if __name__ == "__main__":
    main()
