"""Objects that are closed, ended or released while another thread is in a call to them."""

from __future__ import annotations

import gc
import io
import mmap
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import sealane
from sealane import _native, hazmat
from support import pattern

KEY = pattern(32)
DATA = pattern(1 << 20)
SEALED = sealane.encrypt(DATA, key=KEY)


class Stopping(io.BytesIO):
    """A file object that stops in its next read or write until it may go on."""

    def __init__(self, data: bytes = b"") -> None:
        super().__init__(data)
        self.stops = False
        self.inside, self.go_on = threading.Event(), threading.Event()

    def _stop(self) -> None:
        if self.stops:
            self.stops = False
            self.inside.set()
            assert self.go_on.wait(60)

    def read(self, size: int | None = -1) -> bytes:
        self._stop()
        return super().read(size)

    def readinto(self, buffer: Any) -> int:
        self._stop()
        return super().readinto(buffer)

    def write(self, data: Any) -> int:
        self._stop()
        return super().write(data)


class Call:
    """A call in another thread."""

    def __init__(self, work: Callable[[], object]) -> None:
        self.outcome: object = None

        def run() -> None:
            try:
                self.outcome = work()
            except Exception as error:
                self.outcome = error

        self._thread = threading.Thread(target=run)
        self._thread.start()

    def is_running(self) -> bool:
        self._thread.join(0.1)
        return self._thread.is_alive()

    def result(self) -> object:
        self._thread.join(60)
        assert not self._thread.is_alive()
        return self.outcome


def during(
    file: Stopping, call: Callable[[], object], end: Callable[[], object], *, waits: bool
) -> tuple[object, object]:
    """Ends an object during a call, which is inside the file object, and returns both outcomes."""
    file.stops = True
    running = Call(call)
    assert file.inside.wait(60)
    ending = Call(end)
    assert ending.is_running() == waits
    file.go_on.set()
    return running.result(), ending.result()


# claim: lifetimes
def test_a_reader_that_is_closed_finishes_its_call() -> None:
    source = Stopping(SEALED)
    reader = sealane.open(source, "rb", key=KEY)
    found = during(source, lambda: reader.read(300_000), reader.close, waits=False)
    assert found == (DATA[:300_000], None)
    with pytest.raises(ValueError, match="closed"):
        reader.read(1)


# claim: lifetimes
@pytest.mark.parametrize("name", ["close", "discard"])
def test_ending_a_writer_waits(name: str) -> None:
    sink = Stopping()
    writer = sealane.open(sink, "wb", key=KEY)
    found = during(sink, lambda: writer.write(DATA * 3), getattr(writer, name), waits=True)
    assert found == (3 * len(DATA), None)
    with pytest.raises(ValueError, match=r"closed|finished|discarded"):
        writer.write(b"more")
    if name == "close":
        assert sealane.decrypt(sink.getvalue(), key=KEY) == DATA * 3


# claim: lifetimes
def test_ending_raw_ciphers_waits_or_is_refused() -> None:
    long = bytes(16 << 20)
    for make in (
        lambda: hazmat.Poly1305(KEY),
        lambda: hazmat.AeadEncryptor("aes-256-gcm", KEY, bytes(12)),
    ):
        for _ in range(3):
            ended: Any = make()
            running = [Call(lambda ended=ended: ended.update(long)) for _ in range(2)]  # type: ignore[misc]
            tag = ended.finalize()
            assert len(tag) == 16
            for call in running:
                found = call.result()
                assert not isinstance(found, Exception) or isinstance(found, ValueError), found


# claim: lifetimes
def test_memory_in_use_is_not_released(tmp_path: Path) -> None:
    """The caller's memory is held during a call, so that it cannot be resized, released or unmapped."""
    (tmp_path / "data").write_bytes(bytes(32 << 20))
    aead = sealane.Aead("aes-256-gcm", KEY)
    with (tmp_path / "data").open("r+b") as file:
        mapping = mmap.mmap(file.fileno(), 0)
    array = bytearray(32 << 20)
    view = memoryview(array)
    for data, end in (array, array.clear), (view, view.release), (mapping, mapping.close):
        running = Call(lambda data=data: aead.open(aead.seal(data)))  # type: ignore[misc]
        refused = 0
        while running.is_running():
            try:
                end()
            except BufferError:
                refused += 1
        assert not isinstance(running.result(), ValueError) or refused == 0
        assert running.result() == bytes(32 << 20) or isinstance(running.result(), ValueError)


def _ends_everything() -> None:
    """Drops and ends objects while other threads are in calls to them. Runs under valgrind."""
    folder = Path(sys.argv[2])
    (folder / "sealed").write_bytes(sealane.encrypt(DATA[:200_000], key=KEY))
    for round in range(5):
        reader = sealane.open(folder / "sealed", "rb", key=KEY)
        writer = sealane.open(folder / "new", "wb", key=KEY)
        native = _native.Reader(io.BytesIO((folder / "sealed").read_bytes()), _native.DecryptWith(key=KEY))
        aead, mac = sealane.Aead("aes-256-gcm", KEY), hazmat.Poly1305(KEY)
        key = sealane.keys.generate("x25519")
        calls = [
            Call(lambda reader=reader, round=round: reader.read(100_000 + round)),
            Call(lambda writer=writer: writer.write(DATA[:100_000])),
            Call(lambda native=native: native.read_at(0, 100_000)),
            Call(lambda aead=aead: aead.open(aead.seal(DATA[:100_000]))),
            Call(lambda mac=mac: mac.update(DATA[:100_000])),
            Call(lambda key=key: sealane.hybrid.open(key, sealane.hybrid.seal(key.public, DATA[:1000]))),
        ]  # type: ignore[misc]
        reader.close()
        writer.discard()
        mac.finalize()
        del reader, writer, native, aead, mac, key
        gc.collect()
        for call in calls:
            found = call.result()
            assert not isinstance(found, Exception) or isinstance(found, ValueError), found
    os.remove(folder / "sealed")


# claim: lifetimes
@pytest.mark.slow
def test_no_call_uses_freed_memory(tmp_path: Path) -> None:
    valgrind = shutil.which("valgrind")
    if valgrind is None:
        pytest.skip("NOT RUN: needs valgrind")
    done = subprocess.run(
        [
            *(valgrind, "-q", "--error-exitcode=9", "--undef-value-errors=no"),
            *(sys.executable, __file__, "ends-everything", str(tmp_path)),
        ],
        env=os.environ | {"PYTHONMALLOC": "malloc", "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    assert not os.listdir(tmp_path)


if __name__ == "__main__" and sys.argv[1:2] == ["ends-everything"]:
    _ends_everything()
