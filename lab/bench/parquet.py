"""Parquet scans: plain files, whole files through the encrypted filesystem, and encrypted columns.

Each round reads the three in another order; the table has the medians of the rounds and of the rounds' ratios
to plain files. Files are in the page cache, and then on an S3 server that answers after 30 ms. All are read
through fsspec, as a dataset of PyArrow.
"""

from __future__ import annotations

import argparse
import os
import pathlib
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from typing import Any

import fsspec
import numpy
import pyarrow
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import sealane
from many_objects import filesystems, served
from pyarrow.fs import FSSpecHandler, PyFileSystem
from sealane.parquet import ParquetKeys

ROWS, PARTS = 1_000_000, 4


def written(folder: pathlib.Path, keys: ParquetKeys, sealed: Any) -> None:
    chance = numpy.random.default_rng(1)
    for name in ("plain", "sealed", "columns"):
        (folder / name).mkdir()
    for part in range(PARTS):
        table = pyarrow.table(
            {
                "id": numpy.arange(ROWS) + part * ROWS,
                "price": chance.normal(size=ROWS),
                "count": chance.integers(0, 1000, ROWS),
                "name": numpy.char.add("item-", chance.integers(0, 5000, ROWS).astype(str)),
            }
        )
        name = f"{part}.parquet"
        pq.write_table(table, folder / "plain" / name)
        sealed.put_file(folder / "plain" / name, str(folder / "sealed" / name))
        properties = keys.encryption("table", {"pii": ["name"], "table": ["id", "price", "count"]})
        pq.write_table(table, folder / "columns" / name, encryption_properties=properties)


def scan(folder: str, fs: Any, columns: list[str] | None, options: Any) -> Callable[[], None]:
    form = ds.ParquetFileFormat(default_fragment_scan_options=options)

    def read() -> None:
        found = ds.dataset(folder, filesystem=fs, format=form).to_table(columns=columns)
        if found.num_rows != PARTS * ROWS:
            sys.exit("other rows came back")

    return read


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--only-cached", action="store_true", help="no files on a server")
    parser.add_argument("--folder", help="where to write (default: a new folder here)")
    given = parser.parse_args()
    for name in ("KEY", "TABLE", "PII"):
        os.environ[f"SEALANE_BENCH_{name}"] = sealane.keys.generate("aes-256").to_text()
    keys = ParquetKeys({"table": "env:SEALANE_BENCH_TABLE", "pii": "env:SEALANE_BENCH_PII"})
    sealed = fsspec.filesystem("sealane", target_protocol="file", key="env:SEALANE_BENCH_TABLE")
    # Arrow would replace the local filesystem of fsspec by its own.
    plain = PyFileSystem(FSSpecHandler(fsspec.filesystem("file")))
    with tempfile.TemporaryDirectory(dir=given.folder or ".", prefix=".bench-") as name:
        folder = pathlib.Path(name).absolute()
        written(folder, keys, sealed)
        print(f"{PARTS} Parquet files, {PARTS * ROWS // 1_000_000} million rows, {given.rounds} rounds")
        compare("the page cache", str(folder), plain, sealed, keys, given.rounds)
        if not given.only_cached:
            with served(0.03) as url:
                s3, _ = filesystems(url)
                s3.mkdir("bucket")
                s3.put(f"{folder}/", "bucket/data/", recursive=True)
                sealed = fsspec.filesystem("sealane", fs=s3, key="env:SEALANE_BENCH_TABLE")
                plain = PyFileSystem(FSSpecHandler(s3))
                compare("S3 after 30 ms", "bucket/data", plain, sealed, keys, given.rounds)
    # Threads of Arrow may still release Python files, which would abort the interpreter at its end.
    time.sleep(0.5)


def compare(where: str, folder: str, plain: Any, sealed: Any, keys: ParquetKeys, rounds: int) -> None:
    guarded = keys.filesystem(filesystem=plain)
    decrypting = ds.ParquetFragmentScanOptions(decryption_config=keys.dataset_decryption(guarded))
    print(f"\n{'from ' + where:<20} {'way':<12} {'ms':>8} {'ratio':>6} {'spread':>11}   goal")
    for columns in (None, ["price"], ["name"]):
        ways = {
            "plain": scan(f"{folder}/plain", plain, columns, None),
            "whole files": scan(f"{folder}/sealed", sealed, columns, None),
            "columns": scan(f"{folder}/columns", guarded, columns, decrypting),
        }
        took: dict[str, list[float]] = {way: [] for way in ways}
        for number in range(rounds + 1):
            order = list(ways)[number % 3 :] + list(ways)[: number % 3]
            for way in order:
                began = time.perf_counter()
                ways[way]()
                took[way].append(time.perf_counter() - began)
        for way, goal in (("plain", None), ("whole files", 1.1), ("columns", 1.2)):
            ratios = [a / b for a, b in zip(took[way][1:], took["plain"][1:], strict=True)]
            ratio, spread = statistics.median(ratios), f"{min(ratios):.2f}-{max(ratios):.2f}"
            shown = "" if goal is None else f"<= {goal}: {'OK' if ratio <= goal else 'SHORT'}"
            what = "all columns" if columns is None else columns[0]
            time_ms = statistics.median(took[way][1:]) * 1e3
            print(f"{what:<20} {way:<12} {time_ms:8.1f} {ratio:6.2f} {spread:>11}   {shown}", flush=True)


if __name__ == "__main__":
    main()
