"""After a fork, parent and child never seal under the same nonce."""

from __future__ import annotations

import io
import multiprocessing
import os
import threading

import pytest
import sealane
from support import aead, in_child, pattern

pytestmark = pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")

AEAD = aead()
COUNT = 500


def nonces(count: int = COUNT) -> list[bytes]:
    return [AEAD.seal(b"")[:12] for _ in range(count)]


# claim: fork-nonces
def test_fork_repeats_no_nonce() -> None:
    mine = nonces(10)
    theirs = [nonce for _ in range(5) for nonce in in_child(nonces)]
    mine += nonces()
    assert len(theirs) == 5 * COUNT
    assert len(set(mine + theirs)) == len(mine) + len(theirs)


# claim: fork-nonces
def test_fork_with_running_threads() -> None:
    stop, found = threading.Event(), [[] for _ in range(3)]

    def work(mine: list[bytes]) -> None:
        while not stop.is_set():
            mine += nonces(50)

    threads = [threading.Thread(target=work, args=(mine,)) for mine in found]
    for thread in threads:
        thread.start()
    theirs = [nonce for _ in range(5) for nonce in in_child(nonces)]
    stop.set()
    for thread in threads:
        thread.join()
    everything = [nonce for mine in found for nonce in mine] + theirs + nonces()
    assert len(set(everything)) == len(everything)


def child(queue: multiprocessing.SimpleQueue[list[bytes]]) -> None:
    queue.put(nonces())


def test_multiprocessing() -> None:
    context = multiprocessing.get_context("fork")
    mine = nonces()
    queue = context.SimpleQueue()
    processes = [context.Process(target=child, args=(queue,)) for _ in range(4)]
    for process in processes:
        process.start()
    theirs = [nonce for _ in processes for nonce in queue.get()]
    for process in processes:
        process.join()
        assert process.exitcode == 0
    assert len(set(mine + theirs)) == 5 * COUNT


# claim: fork-nonces
def test_fork_of_a_fork() -> None:
    """A fork mark that was erased and set again must differ from those of all ancestors."""
    theirs = in_child(lambda: nonces() + in_child(nonces))
    mine = nonces()
    assert len(set(mine + theirs)) == 3 * COUNT


def test_parent_and_child_share_an_open_file(tmp_path: os.PathLike[str]) -> None:
    """Reading is positional, so a child does not move the position of its parent."""
    path = os.path.join(tmp_path, "sealed")
    with open(path, "wb") as file:
        file.write(sealane.encrypt(pattern(100_000), key=bytes(32)))
    with sealane.open(path, key=bytes(32)) as f:
        f.read(10)
        assert in_child(lambda: f.read(50_000)) == pattern(100_000)[10:50_010]
        assert f.read(5) == pattern(100_000)[10:15]


def test_a_child_does_not_inherit_worker_threads(tmp_path: os.PathLike[str]) -> None:
    """A large read uses persistent worker threads. A child has none of those of its parent."""
    path, data = os.path.join(tmp_path, "sealed"), pattern(3 << 20)
    sealane.encrypt_file(io.BytesIO(data), path, key=bytes(32))
    stop = threading.Event()

    def read(f: sealane.EncryptedReader, at: int) -> bool:
        f.seek(at)
        return f.read(2 << 20) == data[at : at + (2 << 20)]

    def keep_reading() -> None:
        with sealane.open(path, key=bytes(32)) as f:
            while not stop.is_set():
                assert read(f, 4321)

    def fork(generations: int) -> bool:
        with sealane.open(path, key=bytes(32)) as f:
            good = all(read(f, at) for at in (0, 1, 1 << 20, 12345))
        return good and (generations == 1 or in_child(lambda: fork(generations - 1)))

    threads = [threading.Thread(target=keep_reading) for _ in range(2)]
    for thread in threads:
        thread.start()
    try:
        for _ in range(10):
            assert in_child(lambda: fork(2))
    finally:
        stop.set()
        for thread in threads:
            thread.join()
