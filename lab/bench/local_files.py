"""Reads of a local file through fsspec, beside the plain file and the bound of reading and decrypting.

The file is in the page cache. Each round reads the same places of the plain and of the encrypted file, in
alternating order. The bound is the time of `preadv` of the same encrypted bytes into one buffer and of
decrypting this buffer in one call, on one core. Where a read uses several cores, the table divides it by
their number. `pread` is the first half alone.
"""

from __future__ import annotations

import argparse
import os
import random
import statistics
import tempfile
import time
from collections.abc import Callable
from typing import Any

import fsspec
import sealane
from sealane._native import HEADER_LEN, DecryptWith, Ranges, sealed_range

PARALLEL = 1 << 19
"""Shortest read in bytes that uses several cores."""


def took(work: Callable[[int], object], places: list[int]) -> float:
    began = time.perf_counter()
    for place in places:
        work(place)
    return (time.perf_counter() - began) / len(places)


def compare(
    files: tuple[Any, Any], key: Any, path: str, name: str, places: list[int], size: int, rounds: int
) -> None:
    plain, sealed = files
    descriptor = os.open(path, os.O_RDONLY)
    ranges = Ranges(os.pread(descriptor, HEADER_LEN, 0), DecryptWith(key=key))
    buffer = memoryview(bytearray(size + (1 << 17)))

    def read(file: Any) -> Callable[[int], object]:
        def one(place: int) -> object:
            file.seek(place)
            return file.read(size)

        return one if name == "at random" else lambda place: file.read(size)

    def pread(place: int) -> None:
        start, end = sealed_range(place, place + size)
        os.preadv(descriptor, [buffer[: end - start]], start)

    def both(place: int) -> None:
        start, end = sealed_range(place, place + size)
        os.preadv(descriptor, [buffer[: end - start]], start)
        ranges.open(place, place + size, buffer[: end - start])

    works = {"plain": read(plain), "sealed": read(sealed), "pread": pread, "both": both}
    times: dict[str, list[float]] = {what: [] for what in works}
    for number in range(rounds + 1):
        order = list(works) if number % 2 else list(works)[::-1]
        for what in order:
            plain.seek(places[0])
            sealed.seek(places[0])
            times[what].append(took(works[what], places) * 1e6)
    us = {what: statistics.median(column[1:]) for what, column in times.items()}
    cores = len(os.sched_getaffinity(0)) if size >= PARALLEL else 1
    bound = us["both"] / cores
    of_plain = statistics.median(a / b for a, b in zip(times["plain"][1:], times["sealed"][1:], strict=True))
    row = f"{us['plain']:8.1f} {us['sealed']:9.1f} {of_plain:8.2f} {us['pread']:8.1f} {bound:8.1f}"
    print(f"{name:<10} {size >> 10:5} KiB {row} {bound / us['sealed']:9.2f}", flush=True)
    os.close(descriptor)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, default=256 << 20)
    parser.add_argument("--rounds", type=int, default=11)
    parser.add_argument("--folder", help="where to write (default: a new folder here)")
    given = parser.parse_args()
    key = sealane.keys.generate("aes-256")
    os.environ["SEALANE_BENCH_KEY"] = key.to_text()
    files = fsspec.filesystem("file")
    fs = fsspec.filesystem("sealane", fs=files, key="env:SEALANE_BENCH_KEY")
    chance = random.Random(1)
    with tempfile.TemporaryDirectory(dir=given.folder or ".", prefix=".bench-") as folder:
        plain, sealed = f"{folder}/plain", f"{folder}/sealed"
        with open(plain, "wb") as file:
            for _ in range(given.size >> 20):
                file.write(os.urandom(1 << 20))
        fs.put_file(plain, sealed)
        print(f"{given.size >> 20} MiB, {given.rounds} rounds, us for a read\n")
        head = f"{'plain':>8} {'sealed':>9} {'x plain':>8} {'pread':>8} {'bound':>8} {'of bound':>9}"
        print(f"{'':<20} {head}")
        with files.open(plain) as one, fs.open(sealed) as other:
            for size in 16 << 10, 64 << 10, 256 << 10, 1 << 20, 8 << 20:
                count = max(min(1000, given.size // size), 8)
                order = [number * size for number in range(min(count, given.size // size))]
                places = [chance.randrange(given.size - size) for _ in range(count)]
                compare((one, other), key, sealed, "in order", order, size, given.rounds)
                compare((one, other), key, sealed, "at random", places, size, given.rounds)


if __name__ == "__main__":
    main()
