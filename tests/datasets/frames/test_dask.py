"""Two worker processes of Dask read and write one encrypted dataset."""

from __future__ import annotations

import logging
import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import cloudpickle
import dask
import dask.array as da
import dask.bag as db
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
import sealane
from dask.base import tokenize
from distributed import Client, KilledWorker
from pandas.testing import assert_frame_equal
from parts import KEY, MARKER, RAW, VARIABLE, Place, secrets_in

pytestmark = pytest.mark.filterwarnings(
    # A warning of dask/dataframe/io/parquet/arrow.py.
    "ignore:The inplace keyword in DataFrame:pandas.errors.Pandas4Warning",
)

ROWS = 12_000


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    chance = np.random.default_rng(6)
    return pd.DataFrame(
        {
            "group": chance.integers(0, 7, ROWS),
            "sum": chance.integers(-1000, 1000, ROWS) / 8,
            "name": [f"{MARKER}-{n % 100}" for n in range(ROWS)],
        }
    )


@pytest.fixture(params=["file", "s3"])
def shared(request: Any) -> Place:
    """A folder that other processes can read."""
    return request.getfixturevalue("folder" if request.param == "file" else "bucket")


def assert_encrypted(place: Place) -> None:
    stored = place.stored()
    assert stored
    for data in stored.values():
        sealane.decrypt(data, key=RAW)
        assert MARKER.encode() not in data


def aggregate(data: Any) -> Any:
    return data.groupby("group")["sum"].agg(["sum", "count", "min", "max"])


def test_parquet_equals_the_plain_dataset(cluster: Client, shared: Place, frame: pd.DataFrame) -> None:
    whole = dd.from_pandas(frame, npartitions=4)
    whole.to_parquet(shared.below("plain"), storage_options=shared.target_options)
    plain = aggregate(dd.read_parquet(shared.below("plain"), storage_options=shared.target_options)).compute()
    shared.target.rm(shared.path("plain"), recursive=True)

    whole.to_parquet(shared.url("d"), storage_options=shared.options, write_metadata_file=True)
    assert len([name for name in shared.stored() if name.endswith(".parquet")]) == 4
    assert_encrypted(shared)
    data = dd.read_parquet(shared.url("d"), storage_options=shared.options, calculate_divisions=True)
    assert data.npartitions == 4
    assert data.known_divisions
    assert_frame_equal(aggregate(data).compute().sort_index(), plain.sort_index())
    assert_frame_equal(aggregate(frame).sort_index(), plain.sort_index())
    arrow = dd.read_parquet(
        shared.url("d"), storage_options=shared.options, columns=["sum"], filters=[("group", "==", 3)]
    )
    assert arrow["sum"].sum().compute() == frame.loc[frame["group"] == 3, "sum"].sum()


def test_both_workers_read(cluster: Client, bucket: Place, frame: pd.DataFrame) -> None:
    dd.from_pandas(frame, npartitions=2).to_parquet(bucket.url("d"), storage_options=bucket.options)
    read = cluster.run(
        lambda url, options: len(pd.read_parquet(url, storage_options=options)),
        bucket.url("d"),
        bucket.options,
    )
    assert list(read.values()) == [ROWS, ROWS]


def test_a_filesystem_as_an_argument(cluster: Client, shared: Place, frame: pd.DataFrame) -> None:
    dd.from_pandas(frame, npartitions=3).to_parquet(shared.path("d"), filesystem=shared.fs)
    assert_encrypted(shared)
    data = dd.read_parquet(shared.path("d"), filesystem=shared.fs)
    assert_frame_equal(data.compute(), frame, check_dtype=False)


def test_parquet_append_and_partition(cluster: Client, shared: Place, frame: pd.DataFrame) -> None:
    data = dd.from_pandas(frame, npartitions=2)
    for append in False, True:
        data.to_parquet(
            shared.url("d"), append=append, ignore_divisions=append, storage_options=shared.options
        )
    assert len(dd.read_parquet(shared.url("d"), storage_options=shared.options)) == 2 * ROWS
    data.to_parquet(shared.url("p"), partition_on="group", storage_options=shared.options)
    assert_encrypted(shared)
    one = dd.read_parquet(shared.url("p"), filters=[("group", "==", 3)], storage_options=shared.options)
    assert one["sum"].sum().compute() == frame.loc[frame["group"] == 3, "sum"].sum()
    # Each worker would append to one file, which would use a counter of the nonce twice.
    with pytest.raises(ValueError, match="written as a whole"):
        data.to_csv(shared.url("one.csv"), single_file=True, storage_options=shared.options)


def test_the_dataset_key_outlives_an_overwrite(
    cluster: Client, shared: Place, frame: pd.DataFrame, tmp_path: Path
) -> None:
    from sealane.fs import create_dataset_key

    reader = sealane.keys.generate("age")
    reader.save(tmp_path / "reader.key")
    shared.target.makedirs(shared.path("d"), exist_ok=True)
    create_dataset_key(
        shared.below("d/_key.age"), recipients=[reader.public], storage_options=shared.target_options
    )
    options = {
        "sealane": {"key": f"age:{shared.path('d/_key.age')}", "identity": f"file:{tmp_path / 'reader.key'}"},
        shared.protocol: shared.target_options,
    }
    before = shared.stored()["d/_key.age"]
    for half in 1, 2:
        data = dd.from_pandas(frame.head(ROWS // half), npartitions=2)
        data.to_parquet(shared.url("d"), overwrite=True, storage_options=options)
        assert shared.stored()["d/_key.age"] == before
        back = dd.read_parquet(shared.url("d"), storage_options=options)
        assert len(back) == ROWS // half
    assert len(shared.stored()) == 3
    assert all(MARKER.encode() not in data for data in shared.stored().values())


def test_csv_text_and_json(cluster: Client, shared: Place, frame: pd.DataFrame) -> None:
    data = dd.from_pandas(frame, npartitions=3)
    data.to_csv(shared.url("csv/*.csv"), index=False, storage_options=shared.options)
    assert_encrypted(shared)
    back = dd.read_csv(shared.url("csv/*.csv"), blocksize=100_000, storage_options=shared.options)
    assert back.npartitions > 3, "one file was read in blocks"
    assert_frame_equal(back.compute().reset_index(drop=True), frame, check_dtype=False)
    bag = db.from_sequence([f"{MARKER} {n}" for n in range(1000)], npartitions=4)
    bag.to_textfiles(shared.url("text/*.txt"), storage_options=shared.options)
    lines = db.read_text(shared.url("text/*.txt"), storage_options=shared.options)
    assert lines.map(lambda line: int(line.split()[1])).sum().compute() == 499_500
    assert (
        db.read_text(shared.url("text/*.txt"), blocksize=10_000, storage_options=shared.options)
        .count()
        .compute()
        == 1000
    )
    assert_encrypted(shared)


# claim: dataset-verified
@pytest.mark.parametrize("content", [b"", b"sum\n5\n", bytes(72)], ids=len)
def test_an_emptied_or_plain_file_is_not_skipped(shared: Place, content: bytes) -> None:
    """Dask asks for sizes to divide files, and leaves out a file of size 0."""
    for name in "a.csv", "b.csv":
        shared.fs.pipe_file(shared.path(name), b"sum\n1\n2\n")
    shared.target.pipe_file(shared.path("b.csv"), content)
    shared.target.invalidate_cache()
    for read in dd.read_csv, db.read_text:
        for blocks in {}, {"blocksize": 100}, {"blocksize": None}:
            with pytest.raises(sealane.SealaneError, match=r"b\.csv"):
                found = read(shared.url("*.csv"), storage_options=shared.options, **blocks)
                found.compute(scheduler="synchronous")


def test_arrays(cluster: Client, shared: Place) -> None:
    array = da.arange(40_000, chunks=5000).reshape(200, 200).rechunk((50, 100))
    array.to_zarr(shared.url("z"), storage_options=shared.options)
    for data in shared.stored().values():
        sealane.decrypt(data, key=RAW)
    back = da.from_zarr(shared.url("z"), storage_options=shared.options)
    assert back.chunks == array.chunks
    assert (back == array).all().compute()
    assert int(back[150:, 3].sum().compute()) == int(np.arange(40_000).reshape(200, 200)[150:, 3].sum())


def test_xarray_on_the_cluster(cluster: Client, shared: Place) -> None:
    import xarray as xr

    values = np.arange(1200.0).reshape(40, 30)
    dataset = xr.Dataset({"t": (("x", "y"), values)}).chunk(x=10)
    dataset.to_zarr(shared.url("z"), storage_options=shared.options, consolidated=False)
    with xr.open_zarr(shared.url("z"), storage_options=shared.options, consolidated=False) as back:
        assert back["t"].data.npartitions == 4
        np.testing.assert_array_equal(back["t"].mean("y").compute(), values.mean(axis=1))


# claim: dataset-no-keys
def test_graphs_contain_no_key(
    cluster: Client, bucket: Place, frame: pd.DataFrame, caplog: pytest.LogCaptureFixture
) -> None:
    """Checks messages, the state of the scheduler, names of tasks, and logs."""
    caplog.set_level(logging.DEBUG, "distributed")
    assert secrets_in(cloudpickle.dumps(RAW)), "the search finds what is there"
    dd.from_pandas(frame, npartitions=2).to_parquet(bucket.url("d"), storage_options=bucket.options)
    data = dd.read_parquet(bucket.url("d"), storage_options=bucket.options)
    array = da.arange(100, chunks=50)
    array.to_zarr(bucket.url("z"), storage_options=bucket.options)
    lines = db.read_text(bucket.url("d/*"), storage_options=bucket.options, encoding="latin1")
    arrow = dd.read_parquet(bucket.path("d"), filesystem=bucket.fs)
    for collection in data, arrow, da.from_zarr(bucket.url("z"), storage_options=bucket.options), lines:
        graph = collection.__dask_graph__()
        assert KEY in str(cloudpickle.dumps(graph)), "the reference travels"
        for seen in (
            cloudpickle.dumps(graph),
            cloudpickle.dumps(collection),
            repr(collection),
            repr(dict(graph)),
            tokenize(collection),
        ):
            assert not secrets_in(seen)
    persisted = cluster.persist(data)
    assert len(persisted) == ROWS
    state = cluster.run_on_scheduler(
        lambda dask_scheduler: cloudpickle.dumps(
            [[repr(task), cloudpickle.dumps(task.run_spec)] for task in dask_scheduler.tasks.values()]
        )
    )
    assert len(state) > 1000
    assert not secrets_in(state)
    assert not secrets_in("\n".join(f"{record.getMessage()} {record.args!r}" for record in caplog.records))
    assert not secrets_in(cluster.get_worker_logs())
    assert not secrets_in(cluster.get_scheduler_logs())
    assert not secrets_in(cluster.scheduler_info())


def test_errors_return_from_workers(
    cluster: Client, shared: Place, frame: pd.DataFrame, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The errors have their type and the path, from any process."""
    dd.from_pandas(frame, npartitions=2).to_parquet(shared.url("d"), storage_options=shared.options)
    data = dd.read_parquet(shared.url("d"), storage_options=shared.options)
    name = max(shared.stored())
    # The length is unchanged, so that the metadata that Dask cached stays valid.
    shared.target.pipe_file(shared.path(name), bytes(len(shared.stored()[name])))
    for look in (
        lambda: data.compute(),
        lambda: cluster.run(lambda: data["sum"].sum().compute(scheduler="sync")),
    ):
        with pytest.raises(sealane.AuthenticationError) as caught:
            look()
        assert name in str(caught.value)
    # This key exists in this process only.
    monkeypatch.setenv("ONLY_HERE", os.environ[VARIABLE])
    options = shared.options | {"sealane": {"key": "env:ONLY_HERE"}}
    lines = db.read_text(shared.url("d/*0*"), storage_options=options, encoding="latin1")
    with pytest.raises(sealane.exceptions.KeyNotFoundError, match="ONLY_HERE"):
        lines.count().compute()


def once(path: str) -> Callable[[], None]:
    """Kills the calling process at the first call."""

    def vanish() -> None:
        try:
            os.close(os.open(path, os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            return
        os.kill(os.getpid(), signal.SIGKILL)

    return vanish


# claim: tested-datasets
def test_a_lost_worker_is_replaced(
    cluster: Client, shared: Place, frame: pd.DataFrame, tmp_path: Path
) -> None:
    dd.from_pandas(frame, npartitions=6).to_parquet(shared.url("d"), storage_options=shared.options)
    vanish = once(str(tmp_path / "vanished"))

    def with_an_accident(part: pd.DataFrame, number: int) -> pd.DataFrame:
        if number == 3:
            vanish()
        return part

    data = dd.read_parquet(shared.url("d"), storage_options=shared.options)
    parts = [dask.delayed(with_an_accident)(part, number) for number, part in enumerate(data.to_delayed())]
    back = pd.concat(cluster.gather(cluster.compute(parts)))
    assert (tmp_path / "vanished").exists()
    assert_frame_equal(back, frame, check_dtype=False)
    cluster.wait_for_workers(1, timeout=120)


# claim: tested-datasets
def test_a_worker_lost_while_writing(cluster: Client, shared: Place) -> None:
    """There is no file under the final name, and the work is repeated."""
    fs, path = shared.fs, shared.path("written")
    shared.target.makedirs(shared.root, exist_ok=True)

    def write(name: str, kill: bool) -> None:
        with fs.open(name, "wb") as file:
            for _ in range(12):
                file.write(bytes(1 << 20))
            if kill:
                os.kill(os.getpid(), signal.SIGKILL)

    with dask.config.set({"distributed.scheduler.allowed-failures": 0}):
        cluster.run_on_scheduler(lambda dask_scheduler: setattr(dask_scheduler, "allowed_failures", 0))
        with pytest.raises(KilledWorker):
            cluster.submit(write, path, True).result()
        cluster.run_on_scheduler(lambda dask_scheduler: setattr(dask_scheduler, "allowed_failures", 3))
    assert "written" not in shared.stored()
    cluster.wait_for_workers(1, timeout=120)
    cluster.submit(write, path, False).result()
    assert sealane.decrypt(shared.stored()["written"], key=RAW) == bytes(12 << 20)
