"""pandas, pyarrow and polars read and write encrypted files with the same results as plain files."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import nullcontext
from typing import Any

import duckdb
import fsspec
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.dataset
import pyarrow.feather
import pyarrow.parquet as pq
import pytest
import sealane
from pandas.io.excel import ExcelWriter, register_writer
from pandas.testing import assert_frame_equal
from parts import KEY, MARKER, RAW, Place, Server
from pyarrow.fs import FSSpecHandler, PyFileSystem

ROWS = 20_000


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    chance = np.random.default_rng(6)
    return pd.DataFrame(
        {
            "year": chance.integers(2020, 2024, ROWS),
            "sum": chance.integers(-1000, 1000, ROWS) / 8,
            "name": [f"{MARKER}-{n % 100}" for n in range(ROWS)],
        }
    )


@pytest.fixture(scope="module")
def table(frame: pd.DataFrame) -> pa.Table:
    return pa.Table.from_pandas(frame, preserve_index=False)


def assert_encrypted(place: Place) -> None:
    """Checks that every stored file is encrypted and contains no plaintext."""
    stored = place.stored()
    assert stored
    for data in stored.values():
        sealane.decrypt(data, key=RAW)
        assert MARKER.encode() not in data
        assert b"PAR1" not in data


def test_pandas_parquet(place: Place, frame: pd.DataFrame) -> None:
    frame.to_parquet(place.url("t.parquet"), storage_options=place.options)
    assert_encrypted(place)
    assert_frame_equal(pd.read_parquet(place.url("t.parquet"), storage_options=place.options), frame)
    columns = pd.read_parquet(place.url("t.parquet"), columns=["sum"], storage_options=place.options)
    assert_frame_equal(columns, frame[["sum"]])
    some = pd.read_parquet(
        place.url("t.parquet"), filters=[("year", "==", 2021)], storage_options=place.options
    )
    assert len(some) == (frame["year"] == 2021).sum()


def test_pandas_with_the_key_alone(folder: Place, frame: pd.DataFrame) -> None:
    frame.to_parquet(folder.url("t.parquet"), storage_options={"key": KEY})
    assert_encrypted(folder)
    assert_frame_equal(pd.read_parquet(folder.url("t.parquet"), storage_options={"key": KEY}), frame)


def test_pandas_partitions(place: Place, frame: pd.DataFrame) -> None:
    frame.to_parquet(place.url("t"), partition_cols=["year"], storage_options=place.options)
    assert_encrypted(place)
    assert {name.split("/")[1] for name in place.stored()} == {f"year={year}" for year in range(2020, 2024)}
    back = pd.read_parquet(place.url("t"), storage_options=place.options)
    assert len(back) == ROWS
    assert back.groupby("year", observed=True)["sum"].sum().to_list() == pytest.approx(
        frame.groupby("year")["sum"].sum().to_list()
    )


@pytest.mark.parametrize("name", ["t.csv", "t.csv.gz"])
def test_pandas_csv(place: Place, frame: pd.DataFrame, name: str) -> None:
    frame.to_csv(place.url(name), index=False, storage_options=place.options)
    assert_encrypted(place)
    back = pd.read_csv(place.url(name), storage_options=place.options)
    assert_frame_equal(back, frame)
    with pd.read_csv(place.url(name), chunksize=7000, storage_options=place.options) as pieces:
        assert [len(piece) for piece in pieces] == [7000, 7000, 6000]


def test_pandas_feather_json_and_pickle(place: Place, frame: pd.DataFrame) -> None:
    for kind, read in ("feather", pd.read_feather), ("json", pd.read_json), ("pickle", pd.read_pickle):
        more = {"double_precision": 15} if kind == "json" else {}
        getattr(frame, f"to_{kind}")(place.url(f"t.{kind}"), storage_options=place.options, **more)
        assert_frame_equal(read(place.url(f"t.{kind}"), storage_options=place.options), frame)
    assert_encrypted(place)


def test_a_workbook_that_fails_in_the_middle(place: Place, frame: pd.DataFrame) -> None:
    """pandas closes a workbook whether its cells could be written or not."""

    class Writer(ExcelWriter):
        _engine, _supported_extensions = "cells", (".cells",)
        sheets = book = property(lambda self: {})

        def _write_cells(self, cells: Iterable[Any], *_: object, **__: object) -> None:
            self._handles.handle.write(b"first cell")
            for cell in cells:
                if cell.val == "bad":
                    raise ValueError("cell")

        def _save(self) -> None:
            self._handles.handle.write(b"end")

    register_writer(Writer)
    for cell in "bad", "good":
        outcome = pytest.raises(ValueError, match="cell") if cell == "bad" else nullcontext()
        with outcome:
            pd.DataFrame({"a": [cell]}).to_excel(
                place.url("t.cells"), engine="cells", storage_options=place.options
            )
        assert bool(place.stored()) == (cell == "good")


def test_pyarrow_dataset(place: Place, table: pa.Table) -> None:
    root = place.path("dataset")
    pa.dataset.write_dataset(
        table, root, filesystem=place.fs, format="parquet", partitioning=["year"], partitioning_flavor="hive"
    )
    assert_encrypted(place)
    dataset = pa.dataset.dataset(root, filesystem=place.fs, format="parquet", partitioning="hive")
    assert dataset.count_rows() == ROWS
    only = dataset.to_table(columns=["sum"], filter=pa.dataset.field("year") == 2022)
    expected = table.filter(pa.compute.equal(table["year"], 2022)).select(["sum"])
    assert only.sort_by("sum") == expected.sort_by("sum")
    assert sum(batch.num_rows for batch in dataset.to_batches(columns=["name"])) == ROWS
    pa.dataset.write_dataset(
        table.slice(0, 10),
        root,
        filesystem=place.fs,
        format="parquet",
        partitioning=["year"],
        partitioning_flavor="hive",
        existing_data_behavior="delete_matching",
    )
    again = pa.dataset.dataset(root, filesystem=place.fs, format="parquet", partitioning="hive")
    assert again.count_rows() < ROWS


@pytest.mark.parametrize("format", ["feather", "csv"])
def test_pyarrow_dataset_in_other_formats(place: Place, table: pa.Table, format: str) -> None:
    pa.dataset.write_dataset(table, place.path("d"), filesystem=place.fs, format=format)
    assert_encrypted(place)
    back = pa.dataset.dataset(place.path("d"), filesystem=place.fs, format=format).to_table()
    assert back.cast(table.schema) == table


def test_pyarrow_parquet(place: Place, table: pa.Table) -> None:
    path = place.path("t.parquet")
    pq.write_table(table, path, filesystem=place.fs, row_group_size=4000)
    assert_encrypted(place)
    assert pq.read_table(path, filesystem=place.fs) == table
    assert pq.read_table(path, filesystem=place.fs, columns=["name"], pre_buffer=True) == table.select(
        ["name"]
    )
    with place.fs.open(path) as file, pq.ParquetFile(file) as parquet:
        assert parquet.metadata.num_row_groups == 5
        assert parquet.read_row_group(3, columns=["sum"]) == table.slice(12_000, 4000).select(["sum"])
    arrow = PyFileSystem(FSSpecHandler(place.fs))
    with arrow.open_input_file(path) as file:
        assert file.size() == place.fs.size(path)
        assert file.read_at(4, 0) == b"PAR1"
        assert file.read_at(4, file.size() - 4) == b"PAR1"
    with arrow.open_output_stream(place.path("raw")) as stream:
        stream.write(b"through arrow")
    assert place.fs.cat_file(place.path("raw")) == b"through arrow"


def test_one_column_fetches_a_part_of_the_file(
    bucket: Place, server: Server, table: pa.Table, capsys: pytest.CaptureFixture[str]
) -> None:
    counts = {}
    for name, fs in ("plain", bucket.target), ("sealed", bucket.fs):
        pq.write_table(table, bucket.path(name), filesystem=fs, row_group_size=2000, compression="none")
        with server.counting() as requests:
            column = pq.read_table(bucket.path(name), filesystem=fs, columns=["sum"])
        assert column == table.select(["sum"])
        counts[name] = len(requests)
    with capsys.disabled():
        print(f"\nrequests for a column of ten row groups on S3: {counts}")
    assert counts["sealed"] <= counts["plain"] + 5


def test_polars(place: Place, frame: pd.DataFrame) -> None:
    expected = pl.from_pandas(frame)
    with place.fs.open(place.path("t.parquet"), "wb") as file:
        expected.write_parquet(file)
    with fsspec.open(place.url("t.csv"), "wb", **place.options) as file:
        expected.write_csv(file)
    with place.fs.open(place.path("t.arrow"), "wb") as file:
        expected.write_ipc(file)
    assert_encrypted(place)
    with place.fs.open(place.path("t.parquet")) as file:
        assert pl.read_parquet(file).equals(expected)
    with place.fs.open(place.path("t.parquet")) as file:
        assert pl.read_parquet(file, columns=["sum"]).equals(expected.select("sum"))
    with place.fs.open(place.path("t.parquet")) as file:
        lazy = pl.scan_parquet(file).filter(pl.col("year") == 2023).select(pl.col("sum").sum())
        assert lazy.collect().item() == pytest.approx(frame[frame["year"] == 2023]["sum"].sum())
    with place.fs.open(place.path("t.csv")) as file:
        assert pl.read_csv(file).equals(expected)
    with place.fs.open(place.path("t.arrow")) as file:
        assert pl.read_ipc(file).equals(expected)


def test_polars_scans_a_dataset(place: Place, frame: pd.DataFrame, table: pa.Table) -> None:
    pa.dataset.write_dataset(
        table,
        place.path("d"),
        filesystem=place.fs,
        format="parquet",
        max_rows_per_file=5000,
        max_rows_per_group=5000,
    )
    assert_encrypted(place)
    dataset = pa.dataset.dataset(place.path("d"), filesystem=place.fs, format="parquet")
    lazy = pl.scan_pyarrow_dataset(dataset).filter(pl.col("year") > 2021).select(pl.col("sum").sum())
    assert lazy.collect().item() == pytest.approx(frame[frame["year"] > 2021]["sum"].sum())


def test_reports_a_plain_file_in_a_dataset(place: Place, table: pa.Table) -> None:
    """The error contains its path, and its content is not used."""
    for number in range(3):
        pq.write_table(table.slice(number * 10, 10), place.path(f"d/{number}.parquet"), filesystem=place.fs)
    place.target.invalidate_cache()
    dataset = pa.dataset.dataset(place.path("d"), filesystem=place.fs, format="parquet")
    assert dataset.to_table() == table.slice(0, 30)
    place.target.makedirs(place.root, exist_ok=True)
    with place.target.open(place.path("d/1.parquet"), "wb") as file:
        pq.write_table(table, file)
    place.fs.invalidate_cache()
    for read in (
        lambda: pa.dataset.dataset(place.path("d"), filesystem=place.fs, format="parquet").to_table(),
        lambda: pd.read_parquet(place.url("d"), storage_options=place.options),
        lambda: pl.scan_pyarrow_dataset(dataset).collect(),
    ):
        with pytest.raises((sealane.SealaneError, OSError, pl.exceptions.ComputeError), match=r"1\.parquet"):
            read()


def test_duckdb(place: Place) -> None:
    place.target.makedirs(place.root, exist_ok=True)
    with duckdb.connect() as connection:
        connection.register_filesystem(place.fs)
        root = place.root.lstrip("/") if place.protocol == "s3" else place.root
        for part in range(2):
            query = f"SELECT range + {part * 1000} AS a, 'plain' AS b FROM range(1000)"
            connection.execute(f"COPY ({query}) TO 'sealane://{root}/{part}.parquet' (FORMAT parquet)")
        found = connection.execute(f"SELECT sum(a), count(b) FROM 'sealane://{root}/*.parquet'").fetchone()
    assert found == (sum(range(2000)), 2000)
    for stored in place.stored().values():
        assert sealane.decrypt(stored, key=RAW).startswith(b"PAR1")


def test_csv_in_utf_16(place: Place) -> None:
    """pandas writes no byte order mark to a URL, so the guide names two other ways."""
    frame = pd.DataFrame({"a": ["é", "ü"]})
    frame.to_csv(place.url("le"), index=False, encoding="utf-16-le", storage_options=place.options)
    with place.fs.open(place.path("mark"), "w", encoding="utf-16", newline="") as file:
        frame.to_csv(file, index=False)
    for name, encoding in ("le", "utf-16-le"), ("mark", "utf-16"):
        read = pd.read_csv(place.url(name), encoding=encoding, storage_options=place.options)
        assert read.equals(frame)
