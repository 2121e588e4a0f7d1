"""Bulk calls on Dask workers."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest
import sealane
from distributed import Client
from parts import KEY, RAW
from support import CHUNK, pattern

FILES = {f"{number % 7}/{number}": pattern(number * 300 % (2 * CHUNK)) for number in range(150)}


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """Many small files."""
    for name, data in FILES.items():
        (path := tmp_path / "src" / name).parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return tmp_path


def assert_all_there(folder: Path) -> None:
    found = {
        str(path.relative_to(folder / "dst")): sealane.decrypt(path.read_bytes(), key=RAW)
        for path in (folder / "dst").rglob("*")
        if path.is_file()
    }
    assert found == {f"{name}.sealed": data for name, data in FILES.items()}


def test_encrypt_tree_and_decrypt_tree_round_trip(cluster: Client, tree: Path) -> None:
    report = sealane.encrypt_tree(
        tree / "src", tree / "dst", suffix=".sealed", key=KEY, executor=cluster.get_executor()
    )
    assert (report.done, report.skipped, report.failed) == (len(FILES), 0, {})
    assert_all_there(tree)
    back = sealane.decrypt_tree(
        tree / "dst", tree / "back", suffix=".sealed", key=KEY, executor=cluster.get_executor()
    )
    assert back.done == len(FILES)
    for name, data in FILES.items():
        assert (tree / "back" / name).read_bytes() == data
    with pytest.raises(TypeError, match="reference"):
        sealane.encrypt_tree(tree / "src", tree / "no", key=RAW, executor=cluster.get_executor())
    assert not (tree / "no").exists()


def test_a_call_continues_after_its_worker_vanished(cluster: Client, tree: Path) -> None:
    """The second call processes the remaining files and does not read the finished ones."""
    killed: list[int] = []

    def kill_one(done: int, total: int) -> None:
        if not killed and done:
            killed.append(min(cluster.run(os.getpid).values()))
            os.kill(killed[0], signal.SIGKILL)

    first = sealane.encrypt_tree(
        tree / "src",
        tree / "dst",
        suffix=".sealed",
        key=KEY,
        executor=cluster.get_executor(),
        manifest=tree / "manifest",
        progress=kill_one,
        errors="return",
    )
    assert killed
    assert first.done + len(first.failed) == len(FILES)
    # One is enough. On a busy machine Dask may give up the restart of the other one.
    cluster.wait_for_workers(1, timeout=120)
    second = sealane.encrypt_tree(
        tree / "src",
        tree / "dst",
        suffix=".sealed",
        key=KEY,
        executor=cluster.get_executor(),
        manifest=tree / "manifest",
    )
    assert (second.done, second.skipped) == (len(first.failed), first.done)
    assert_all_there(tree)
    assert sealane.verify_tree(tree / "dst", suffix=".sealed", key=KEY).done == len(FILES)
