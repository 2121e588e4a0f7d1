"""Calls from inside a call to the same object: an exception, never a deadlock; the outer call continues."""

from __future__ import annotations

import io
import signal
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest
import sealane
from sealane import _native
from support import pattern

KEY = pattern(32)
DATA = pattern(3 << 20)
SEALED = sealane.encrypt(DATA, key=KEY)


class CallsBack(io.BytesIO):
    """A file object that calls `hook` in every read and write."""

    hook: Callable[[], object] | None = None
    errors: list[BaseException | None]
    nap = 0.0

    def _call(self) -> None:
        if self.hook is not None:
            time.sleep(self.nap)
            try:
                self.hook()
                self.errors.append(None)
            except Exception as error:
                self.errors.append(error)

    def write(self, data: Any) -> int:
        self._call()
        return super().write(data)

    def read(self, size: int | None = -1) -> bytes:
        self._call()
        return super().read(size)


def refused(file: CallsBack) -> None:
    assert file.errors
    assert {type(error) for error in file.errors} == {sealane.ReentrantCallError}


# claim: reentrant
@pytest.mark.parametrize("name", ["write", "close", "discard"])
def test_a_file_object_calls_back_into_its_writer(name: str) -> None:
    sink = CallsBack()
    writer = sealane.open(sink, "wb", key=KEY)
    arguments = [b"data"] if name == "write" else []
    sink.errors, sink.hook = [], lambda: getattr(writer, name)(*arguments)
    assert writer.write(DATA) == len(DATA)
    writer.close()
    refused(sink)
    assert sealane.decrypt(sink.getvalue(), key=KEY) == DATA


def test_a_file_object_calls_back_into_a_native_writer() -> None:
    sink = CallsBack()
    native = _native.Writer.encrypt(sink, _native.EncryptWith(key=KEY), False)
    calls = [lambda: native.write(b"x"), lambda: native.finish(False), native.discard]
    for call in calls:
        sink.errors, sink.hook = [], call
        native.write(DATA)
        refused(sink)
    native.finish(False)
    refused(sink)
    assert sealane.decrypt(sink.getvalue(), key=KEY) == DATA * 3


def test_a_file_object_calls_back_into_a_native_decryptor() -> None:
    sink = CallsBack()
    native = _native.Writer.decrypt(sink, _native.DecryptWith(key=KEY))
    sink.errors, sink.hook = [], lambda: native.write(b"x")
    native.write(SEALED)
    sink.hook = native.discard
    native.finish(False)
    refused(sink)
    assert sink.getvalue() == DATA


# From 4 MiB on, helper threads of the core read the file object.
@pytest.mark.parametrize("length", [300_000, 9 << 20])
@pytest.mark.parametrize("name", ["read", "peek", "readinto", "seek"])
def test_a_file_object_calls_back_into_its_reader(name: str, length: int) -> None:
    data = pattern(length)
    source = CallsBack(sealane.encrypt(data, key=KEY))
    reader = sealane.open(source, "rb", key=KEY)
    arguments: list[Any] = {"readinto": [bytearray(10)], "seek": [0]}.get(name, [])
    source.errors, source.hook = [], lambda: getattr(reader, name)(*arguments)
    assert reader.read() == data
    refused(source)


@pytest.mark.parametrize("length", [300_000, 9 << 20])
def test_a_file_object_calls_back_into_a_native_reader(length: int) -> None:
    data = pattern(length)
    source = CallsBack(sealane.encrypt(data, key=KEY))
    native = _native.Reader(source, _native.DecryptWith(key=KEY))
    source.errors, source.hook = [], lambda: native.read_at(0, 100)
    assert native.read_at(0, length) == data
    refused(source)


# claim: reentrant
@pytest.mark.parametrize("kind", ["writer", "reader"])
def test_a_signal_handler_uses_the_object(kind: str) -> None:
    file = CallsBack(SEALED if kind == "reader" else b"")
    used = sealane.open(file, "rb" if kind == "reader" else "wb", key=KEY)
    raised: list[BaseException | None] = []

    def handler(*_: object) -> None:
        try:
            used.peek() if kind == "reader" else used.discard()
            raised.append(None)
        except Exception as error:
            raised.append(error)

    file.errors, file.nap, file.hook = [], 0.3, lambda: None
    before = signal.signal(signal.SIGALRM, handler)
    signal.setitimer(signal.ITIMER_REAL, 0.1)
    try:
        if kind == "reader":
            assert used.read(300_000) == DATA[:300_000]
        else:
            used.write(DATA[: 2 << 20])
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert [type(error) for error in raised] == [sealane.ReentrantCallError]
    file.hook = None
    if kind == "writer":
        used.close()
        assert sealane.decrypt(file.getvalue(), key=KEY) == DATA[: 2 << 20]


def test_a_signal_reaches_a_thread_that_waits_for_another() -> None:
    """The main thread waits for a slow call of another thread, and Ctrl-C still works."""
    sink = CallsBack()
    writer = sealane.open(sink, "wb", key=KEY)
    waiting, interrupted = threading.Event(), threading.Event()

    def interrupt() -> None:
        sink.hook = None
        waiting.wait()
        time.sleep(0.2)
        signal.raise_signal(signal.SIGINT)
        # The call goes on until the other thread was interrupted.
        assert interrupted.wait(60)

    sink.errors, sink.hook = [], interrupt
    thread = threading.Thread(target=writer.write, args=(DATA,))
    with pytest.raises(KeyboardInterrupt):
        thread.start()
        while sink.hook is not None:
            time.sleep(0.01)
        waiting.set()
        writer.write(b"more")
    interrupted.set()
    thread.join()
    assert sink.errors == [None]
    writer.close()
    assert sealane.decrypt(sink.getvalue(), key=KEY) == DATA


def test_threads_take_turns() -> None:
    """Many threads share one writer: each piece is written whole."""
    sink = io.BytesIO()
    writer = sealane.open(sink, "wb", key=KEY)
    native = sealane.hazmat.Poly1305(KEY)

    def work(which: int) -> None:
        for _ in range(50):
            writer.write(bytes([which]) * 10_000)
            native.update(b"same" * 3000)

    threads = [threading.Thread(target=work, args=(which,)) for which in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    writer.close()
    plain = sealane.decrypt(sink.getvalue(), key=KEY)
    pieces = sorted(plain[at : at + 10_000] for at in range(0, len(plain), 10_000))
    assert pieces == [bytes([which]) * 10_000 for which in range(6) for _ in range(50)]
    assert native.finalize() == sealane.hazmat.Poly1305(KEY).update(b"same" * 3000 * 300).finalize()


def test_the_lock_itself() -> None:
    lock = _native.CallLock()
    with lock:
        with pytest.raises(sealane.ReentrantCallError), lock:
            pass
        entered: list[float] = []

        def enter() -> None:
            with lock:
                entered.append(time.monotonic())

        thread = threading.Thread(target=enter)
        thread.start()
        time.sleep(0.1)
        assert not entered
    thread.join()
    assert entered
    with lock:
        pass
