"""Calls that take seconds notice signals: a handler that raises, as that of Ctrl-C does, ends them soon."""

from __future__ import annotations

import contextlib
import io
import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import sealane
from sealane import keys
from support import children

pytestmark = pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs a timer that sends a signal")


class Interrupted(Exception):
    pass


@contextmanager
def signal_after(seconds: float) -> Iterator[None]:
    def handler(*_: object) -> None:
        raise Interrupted

    previous = signal.signal(signal.SIGALRM, handler)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)


IDENTITY = keys.generate("age")


def long_header() -> bytes:
    """A file with 4096 recipients, none of which is ours. All attempts together take about a second."""
    other = sealane.encrypt(b"", recipients=[keys.generate("age").public])
    begin, end = other.index(b"\n") + 1, other.index(b"\n--- ") + 1
    return other[:begin] + other[begin:end] * 4096 + other[end:]


WORK: dict[str, Callable[[], object]] = {
    "Argon2id": lambda: keys.derive(b"x", bytes(16), memory_kib=1 << 14, passes=4000),
    "scrypt": lambda: sealane.decrypt(LONG_SCRYPT, passphrase="x", max_work_factor=24),
    "scrypt of a file object": lambda: sealane.open(
        io.BytesIO(LONG_SCRYPT), passphrase="x", max_work_factor=24
    ),
    "many identities": lambda: sealane.decrypt(long_header(), identities=[IDENTITY] * 100),
}

# The work factor is changed to 2^21: 2 GiB of memory and some seconds.
LONG_SCRYPT = sealane.encrypt(b"", passphrase="x").replace(b" 18\n", b" 21\n", 1)


# claim: input-signals
@pytest.mark.parametrize("name", WORK)
def test_a_handler_that_raises_ends_the_call(name: str) -> None:
    with signal_after(0.5):
        began = time.monotonic()
        with pytest.raises(Interrupted):
            WORK[name]()
    assert time.monotonic() - began < 5


def finalized(decryptor: sealane.Decryptor, sealed: bytes) -> bytes:
    """Decrypts a file so short that its header is parsed at the end."""
    return decryptor.update(sealed) + decryptor.finalize()


@pytest.mark.parametrize("call", ["encrypt", "open", "save", "Decryptor"])
def test_a_handler_that_raises_ends_a_plugin(tmp_path: Path, call: str) -> None:
    plugin = tmp_path / "age-plugin-hang"
    plugin.write_text("#!/bin/sh\nexec sleep 60\n")
    plugin.chmod(0o700)
    sealane.plugins.enable(path=tmp_path)
    identity = sealane.plugins.identity("hang")
    sealed = sealane.encrypt(b"", recipients=[IDENTITY.public])
    calls: dict[str, Callable[[], object]] = {
        "encrypt": lambda: sealane.encrypt(b"", recipients=[identity]),
        "open": lambda: sealane.open(io.BytesIO(sealed), identities=[identity]),
        "save": lambda: IDENTITY.save(tmp_path / "key", recipients=[identity]),
        "Decryptor": lambda: finalized(sealane.Decryptor(identities=[identity]), sealed),
    }
    with signal_after(0.5):
        began = time.monotonic()
        with pytest.raises(Interrupted):
            calls[call]()
    sealane.plugins.disable()
    assert time.monotonic() - began < 5
    assert not {"sleep", "age-plugin-hang"} & {*children()}


WAITING: dict[str, Callable[[Path, Path], object]] = {
    "load": lambda pipe, _: keys.load(pipe),
    "load with identities": lambda pipe, own: keys.load(own, identities=[pipe]),
    "PublicKey.load": lambda pipe, _: keys.PublicKey.load(pipe),
    "resolve": lambda pipe, _: keys.resolve(f"file:{pipe}"),
    "save": lambda pipe, _: IDENTITY.save(pipe),
    "decrypt": lambda pipe, own: sealane.decrypt(own.read_bytes(), identities=[pipe]),
    "rewrap": lambda pipe, own: sealane.rewrap(own, identities=[pipe], recipients=[IDENTITY.public]),
    "rewrap of a pipe": lambda pipe, _: sealane.rewrap(
        pipe, identities=[IDENTITY], recipients=[IDENTITY.public]
    ),
    "encrypt_file": lambda pipe, own: sealane.encrypt_file(pipe, own.with_name("out"), key=bytes(32)),
    "verify_file": lambda pipe, _: sealane.verify_file(pipe, key=bytes(32)),
    "open": lambda pipe, _: sealane.open(pipe, key=bytes(32)).read(),
    "sign_key": lambda pipe, own: sealane.write_inventory(
        own.parent, own.with_name("list"), sign_key=str(pipe), key=bytes(32)
    ),
    "signer": lambda pipe, own: sealane.verify_inventory(own.parent, own, signer=str(pipe), key=bytes(32)),
}


# claim: input-signals
@pytest.mark.parametrize("has_writer", [False, True])
@pytest.mark.parametrize("name", WAITING)
def test_a_handler_that_raises_ends_the_wait_for_a_pipe(tmp_path: Path, name: str, has_writer: bool) -> None:
    pipe, own = tmp_path / "pipe", tmp_path / "own"
    os.mkfifo(pipe)
    own.write_bytes(sealane.encrypt(b"", recipients=[IDENTITY.public]))
    if has_writer and name == "rewrap of a pipe":
        return  # Nothing waits.
    writer = os.open(pipe, os.O_RDWR) if has_writer else None
    if writer is not None and name == "save":
        os.set_blocking(writer, False)
        with contextlib.suppress(BlockingIOError):
            while True:  # Until the pipe is full.
                os.write(writer, bytes(1 << 12))
    try:
        with signal_after(0.1):
            began = time.monotonic()
            with pytest.raises(Interrupted):
                WAITING[name](pipe, own)
        assert time.monotonic() - began < 5
    finally:
        if writer is not None:
            os.close(writer)


# claim: input-signals
def test_a_large_file_of_a_bulk_call_is_given_up(tmp_path: Path) -> None:
    source, target = tmp_path / "source", tmp_path / "target"
    with source.open("wb") as file:
        file.truncate(1 << 30)
    with signal_after(0.05), pytest.raises(Interrupted):
        sealane.encrypt_many([(source, target)], key=bytes(32))
    assert os.listdir(tmp_path) == ["source"]


# claim: input-signals
def test_a_handler_that_returns_changes_nothing() -> None:
    calls = []
    previous = signal.signal(signal.SIGALRM, lambda *_: calls.append(1))
    signal.setitimer(signal.ITIMER_REAL, 0.05, 0.05)
    try:
        derived = keys.derive(b"x", bytes(16), memory_kib=1 << 14, passes=40)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)
    assert derived == keys.derive(b"x", bytes(16), memory_kib=1 << 14, passes=40)
    assert calls


def test_a_signal_ends_the_look_at_the_files_of_a_rotation(tmp_path: Path) -> None:
    ring = keys.Keyring.generate()
    (tmp_path / "tree").mkdir()
    first = tmp_path / "tree" / "first"
    sealane.encrypt_file(__file__, first, key=ring)
    for number in range(30_000):
        os.link(first, tmp_path / "tree" / str(number))
    assert sealane.rotate_tree(tmp_path / "tree", key=ring).skipped == 30_001
    job = sealane._native.Job.tree(str(tmp_path / "tree"), in_place=True, batch=1)
    with signal_after(0.05), pytest.raises(Interrupted):
        job.run(sealane._native.Operation.rotate(ring))
    assert job.progress()[0] < job.progress()[1] or job.progress() == (0, 0)
