"""Bulk calls whose workers are killed: no incomplete target, an error for each lost file, and the next
call continues.
"""

from __future__ import annotations

import concurrent.futures
import errno
import multiprocessing
import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import dask
import distributed
import pytest
import sealane

pytestmark = pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")

KEY = sealane.keys.generate("aes-256")
COUNT = 600

Pairs = list[tuple[Path, Path]]


@pytest.fixture
def pairs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Pairs:
    monkeypatch.setenv("SEALANE_TEST_KEY", KEY.to_text())
    (tmp_path / "plain").mkdir()
    made = []
    for i in range(COUNT):
        source = tmp_path / "plain" / f"file {i}"
        source.write_bytes(os.urandom(100_000 + i))
        made.append((source, tmp_path / "sealed" / source.name))
    return made


def killer(victim: Callable[[], int], at: float) -> Callable[[int, int], None]:
    """Returns a progress callback that kills one worker after the given part of the work."""
    killed = False

    def progress(done: int, total: int) -> None:
        nonlocal killed
        if not killed and done > at * total:
            killed = True
            os.kill(victim(), signal.SIGKILL)

    return progress


def check_all(pairs: Pairs, tmp_path: Path) -> None:
    """Checks that all targets exist and no other file does."""
    for source, target in pairs:
        assert sealane.decrypt(target.read_bytes(), key=KEY) == source.read_bytes()
    assert {path.name for path in (tmp_path / "sealed").iterdir()} == {source.name for source, _ in pairs}
    assert {path.name for path in tmp_path.iterdir()} <= {"plain", "sealed", "manifest", "dask"}


def check_resumed(pairs: Pairs, tmp_path: Path, first: sealane.BulkReport, executor: Any) -> None:
    """Checks that a second call processes the files that failed in ``first``, and no others."""
    assert 0 < first.done < COUNT
    assert first.done + len(first.failed) == COUNT
    for path, error in first.failed.items():
        assert isinstance(error, ChildProcessError)
        assert (error.errno, error.strerror, error.filename) == (errno.ECHILD, "the worker vanished", path)
    for _, target in pairs:
        # A target of a failed file may exist. Then it is complete.
        if target.exists():
            sealane.verify_file(target, key=KEY)
    finished = [pair for pair in pairs if str(pair[0]) not in first.failed]
    before = [(target.stat().st_ino, target.stat().st_mtime_ns) for _, target in finished]
    second = sealane.encrypt_many(
        pairs, key="env:SEALANE_TEST_KEY", executor=executor, manifest=tmp_path / "manifest"
    )
    assert (second.done, second.skipped, second.failed) == (COUNT - first.done, first.done, {})
    assert [(target.stat().st_ino, target.stat().st_mtime_ns) for _, target in finished] == before
    check_all(pairs, tmp_path)


@pytest.mark.parametrize("start", ["fork", "spawn"])
def test_a_process_that_is_killed(pairs: Pairs, tmp_path: Path, start: str) -> None:
    context = multiprocessing.get_context(start)
    with concurrent.futures.ProcessPoolExecutor(2, context) as executor:
        first = sealane.encrypt_many(
            pairs,
            key="env:SEALANE_TEST_KEY",
            executor=executor,
            manifest=tmp_path / "manifest",
            errors="return",
            progress=killer(lambda: min(executor._processes), 0.3),
        )
    with concurrent.futures.ProcessPoolExecutor(2, context) as executor:
        check_resumed(pairs, tmp_path, first, executor)


def test_a_process_that_is_killed_before_it_begins(pairs: Pairs, tmp_path: Path) -> None:
    with concurrent.futures.ProcessPoolExecutor(1) as executor:
        with pytest.raises(concurrent.futures.BrokenExecutor):
            executor.submit(os.kill, executor.submit(os.getpid).result(), signal.SIGKILL).result()
        with pytest.raises((ExceptionGroup, concurrent.futures.BrokenExecutor)):
            sealane.encrypt_many(pairs, key="env:SEALANE_TEST_KEY", executor=executor)
    assert not (tmp_path / "sealed").exists() or list((tmp_path / "sealed").iterdir()) == []


@pytest.fixture
def cluster(pairs: Pairs, tmp_path: Path) -> Iterator[distributed.LocalCluster]:
    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 0}),
        distributed.LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            processes=True,
            dashboard_address=":0",
            local_directory=str(tmp_path / "dask"),
        ) as cluster,
    ):
        yield cluster


def pids(client: distributed.Client) -> list[int]:
    return list(client.run(os.getpid).values())


def test_dask(pairs: Pairs, tmp_path: Path, cluster: distributed.LocalCluster) -> None:
    with distributed.Client(cluster) as client, client.get_executor() as executor:
        with pytest.raises(TypeError, match="keys do not travel"):
            sealane.encrypt_many(pairs, key=KEY, executor=executor)
        report = sealane.encrypt_many(pairs, key="env:SEALANE_TEST_KEY", executor=executor, verify=True)
        assert (report.done, report.failed) == (COUNT, {})
        report = sealane.verify_tree(tmp_path / "sealed", key="env:SEALANE_TEST_KEY", executor=executor)
        assert (report.done, report.failed) == (COUNT, {})
    check_all(pairs, tmp_path)


def test_a_dask_worker_that_is_killed(
    pairs: Pairs, tmp_path: Path, cluster: distributed.LocalCluster
) -> None:
    with distributed.Client(cluster) as client, client.get_executor() as executor:
        victims = pids(client)
        first = sealane.encrypt_many(
            pairs,
            key="env:SEALANE_TEST_KEY",
            executor=executor,
            manifest=tmp_path / "manifest",
            errors="return",
            progress=killer(lambda: victims[0], 0.3),
        )
        check_resumed(pairs, tmp_path, first, executor)
