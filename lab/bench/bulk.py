"""The speed of encrypting and decrypting a folder of many small files, as a ratio to `cp -r` in the same run.

Every round runs each contender once, in a rotating order, with the given number of workers; the table has
medians of the rounds and of the ratios within a round. The files are in the page cache, and the target folder
is new each time. Everything written before is synced to disk before a contender starts, because an ext4
filesystem that is still writing slows down the next one. `cp` is a whole process. Calls from Python are timed
in a process that has imported sealane and started the workers, and also as whole processes.
"""

import argparse
import concurrent.futures
import filecmp
import multiprocessing
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from typing import Any

import sealane

KEY = "env:SEALANE_BENCH_KEY"
SCRIPT = "import sealane, sys; getattr(sealane, sys.argv[1])(*sys.argv[2:], key='env:SEALANE_BENCH_KEY')"


def make(folder: pathlib.Path, count: int, size: int) -> None:
    for i in range(count):
        path = folder / f"{i % 100}" / f"{i}"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(os.urandom(size))


def same(a: pathlib.Path, b: pathlib.Path) -> bool:
    names = sorted(path.relative_to(a) for path in a.rglob("*"))
    if names != sorted(path.relative_to(b) for path in b.rglob("*")):
        return False
    return all(filecmp.cmp(a / name, b / name, shallow=False) for name in names if (a / name).is_file())


def run(*command: Any) -> None:
    if subprocess.run([str(word) for word in command], check=False).returncode != 0:
        sys.exit(f"failed: {' '.join(map(str, command))}")


def started(executor: concurrent.futures.Executor, workers: int) -> concurrent.futures.Executor:
    concurrent.futures.wait([executor.submit(time.sleep, 0.2) for _ in range(workers)])
    return executor


def contenders(folder: pathlib.Path, workers: int, pools: dict[str, Any]) -> dict[str, Callable[[], object]]:
    plain, sealed, out = folder / "plain", folder / "sealed", folder / "out"
    python = [sys.executable, "-c", SCRIPT]
    found: dict[str, Callable[[], object]] = {"cp -r": lambda: run("cp", "-r", plain, out)}
    for name, pool in pools.items():
        found[f"encrypt_tree, {name}"] = lambda pool=pool: sealane.encrypt_tree(
            plain, out, key=KEY, executor=pool
        )
        found[f"decrypt_tree, {name}"] = lambda pool=pool: sealane.decrypt_tree(
            sealed, out, key=KEY, executor=pool
        )
    name = next(iter(pools))
    with_manifest = {"key": KEY, "executor": pools[name], "manifest": folder / "manifest"}
    found[f"encrypt_tree, {name}, manifest"] = lambda: sealane.encrypt_tree(plain, out, **with_manifest)
    found["encrypt_tree, whole process"] = lambda: run(*python, "encrypt_tree", plain, out)
    found["decrypt_tree, whole process"] = lambda: run(*python, "decrypt_tree", sealed, out)
    return found


def measure(folder: pathlib.Path, count: int, size: int, workers: int, rounds: int) -> None:
    plain, sealed, out = folder / "plain", folder / "sealed", folder / "out"
    make(plain, count, size)
    sealane.encrypt_tree(plain, sealed, key=KEY)
    with (
        concurrent.futures.ThreadPoolExecutor(workers) as threads,
        concurrent.futures.ProcessPoolExecutor(workers, multiprocessing.get_context("spawn")) as processes,
    ):
        pools = {"threads": threads, "processes": started(processes, workers)}
        found = contenders(folder, workers, pools)
        seconds: dict[str, list[float]] = {name: [] for name in found}
        order = list(found)
        for round_number in range(rounds + 1):
            for name in order:
                os.sync()
                began = time.perf_counter()
                found[name]()
                took = time.perf_counter() - began
                if round_number == 0:  # The first round warms the caches, and its outputs are checked.
                    if "encrypt" in name:
                        sealane.verify_tree(out, key=KEY)
                    elif not same(plain, out):
                        sys.exit("other bytes came back")
                else:
                    seconds[name].append(took)
                shutil.rmtree(out)
                (folder / "manifest").unlink(missing_ok=True)
            order = order[1:] + order[:1]
    print(f"\n{count} files of {size} bytes, {workers} workers, {rounds} interleaved rounds\n")
    print(f"{'contender':34} {'median s':>9} {'us a file':>10} {'x cp -r':>8}")
    for name in found:
        median = statistics.median(seconds[name])
        ratio = statistics.median(c / s for c, s in zip(seconds["cp -r"], seconds[name], strict=True))
        print(f"{name:34} {median:9.3f} {median / count * 1e6:10.1f} {ratio:8.2f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--size", type=int, default=16 << 10, help="bytes of a file (default 16 KiB)")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--folder", help="where to write (default: a new folder here)")
    options = parser.parse_args()
    os.environ["SEALANE_BENCH_KEY"] = sealane.keys.generate("aes-256").to_text()
    with tempfile.TemporaryDirectory(dir=options.folder or ".", prefix=".bench-") as name:
        measure(pathlib.Path(name), options.count, options.size, options.workers, options.rounds)


if __name__ == "__main__":
    main()
