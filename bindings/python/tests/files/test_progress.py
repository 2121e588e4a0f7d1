"""Progress is reported on the calling thread. An exception there, Ctrl-C included, stops the work
cleanly.
"""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import sealane
from support import leftovers, pattern

KEY = pattern(32)
LENGTH = 20_000_000


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "plain").write_bytes(pattern(LENGTH))
    sealane.encrypt_file(tmp_path / "plain", tmp_path / "sealed", key=KEY)
    return tmp_path


Hook = Callable[[int, int | None], object]


def attempts(folder: Path, hook: Hook, threads: int | None = None) -> list[Callable[[], None]]:
    job: dict[str, Any] = {"key": KEY, "progress": hook, "threads": threads}
    plain, sealed, out = folder / "plain", folder / "sealed", folder / "out"
    data, file = plain.read_bytes(), sealed.read_bytes()
    return [
        lambda: sealane.encrypt_file(plain, out, **job),
        lambda: sealane.decrypt_file(sealed, out, **job),
        lambda: sealane.verify_file(sealed, **job),
        lambda: sealane.encrypt_file(io.BytesIO(data), out, **job),
        lambda: sealane.decrypt_file(io.BytesIO(file), out, **job),
        lambda: sealane.verify_file(io.BytesIO(file), **job),
    ]


@pytest.mark.parametrize("threads", [None, 1])
def test_reports_progress(folder: Path, threads: int | None) -> None:
    heard: list[tuple[int, int | None]] = []
    callers: set[int] = set()

    def hook(done: int, total: int | None) -> None:
        heard.append((done, total))
        callers.add(threading.get_ident())

    for attempt in attempts(folder, hook, threads):
        heard.clear()
        attempt()
        done = [done for done, _ in heard]
        assert done == sorted(done)
        # Other threads may do the whole work before this one, which reports, has a part of it.
        assert len(done) > (5 if threads == 1 else 0)
        assert done[-1] in (LENGTH, (folder / "sealed").stat().st_size)
        assert {total for _, total in heard} in ({None}, {LENGTH})
    assert callers == {threading.get_ident()}


class Stop(Exception):
    pass


@pytest.mark.parametrize("threads", [None, 1])
@pytest.mark.parametrize("error", [Stop, KeyboardInterrupt, SystemExit, StopIteration])
def test_an_exception_cancels_the_call(folder: Path, error: type[BaseException], threads: int | None) -> None:
    calls = 0

    def hook(done: int, total: int | None) -> None:
        nonlocal calls
        calls += 1
        raise error("stop")

    for attempt in attempts(folder, hook, threads):
        calls = 0
        with pytest.raises(error, match="stop"):
            attempt()
        assert calls == 1
        assert leftovers(folder, "plain", "sealed") == []


def test_rejects_a_hook_that_is_not_callable(folder: Path) -> None:
    with pytest.raises(TypeError):
        sealane.encrypt_file(folder / "plain", folder / "out", key=KEY, progress=7)
    assert leftovers(folder, "plain", "sealed") == []


SCRIPT = """
import io, os, sys, sealane
folder, what = sys.argv[1:]
os.chdir(folder)
key = bytes(32)
class Endless(io.RawIOBase):
    def readable(self): return True
    def readinto(self, into): return len(into)
print("begin", flush=True)
try:
    if what == "path":
        while True:
            sealane.encrypt_file("big", "out", key=key)
            os.unlink("out")
    elif what == "object":
        sealane.encrypt_file(Endless(), "out", key=key)
    elif what == "pipe":
        sealane.encrypt_file("pipe", "out", key=key)
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""


@pytest.mark.xdist_group("serial")
@pytest.mark.parametrize("what", ["path", "object", "pipe"])
def test_ctrl_c_stops_the_call(tmp_path: Path, what: str) -> None:
    """Without a progress hook, and in a call that waits for a pipe."""
    with (tmp_path / "big").open("wb") as file:
        file.truncate(1 << 30)
    os.mkfifo(tmp_path / "pipe")
    took: list[float] = []
    # Removing a large file alone takes seconds on a busy machine, so one good try of ten is enough.
    while not took or (min(took) > 2 and len(took) < 10):
        with subprocess.Popen(
            [sys.executable, "-c", SCRIPT, str(tmp_path), what], stdout=subprocess.PIPE, text=True
        ) as process:
            assert process.stdout is not None
            assert process.stdout.readline() == "begin\n"
            time.sleep(0.3)
            before = time.monotonic()
            process.send_signal(signal.SIGINT)
            assert process.stdout.read() == "interrupted\n"
            took.append(time.monotonic() - before)
            assert process.wait() == 0
        assert leftovers(tmp_path, "big", "pipe") in ([], ["out"] if what == "path" else [])
        if (tmp_path / "out").exists():
            # It was raised between two calls, and the file of the first one is complete.
            assert sealane.inspect(tmp_path / "out").plaintext_len == 1 << 30
            (tmp_path / "out").unlink()
    assert min(took) < 2, took


# claim: input-signals
@pytest.mark.xdist_group("serial")
def test_a_signal_stops_a_large_read(tmp_path: Path) -> None:
    """The signal handler runs between the pieces of one large read."""
    (tmp_path / "plain").write_bytes(b"")
    os.truncate(tmp_path / "plain", 1 << 30)
    sealane.encrypt_file(tmp_path / "plain", tmp_path / "sealed", key=KEY)
    with sealane.open(tmp_path / "sealed", key=KEY) as f:
        timer = threading.Timer(0.02, os.kill, (os.getpid(), signal.SIGINT))
        timer.start()
        with pytest.raises(KeyboardInterrupt):
            while True:
                f.seek(0)
                f.read()
        timer.join()
