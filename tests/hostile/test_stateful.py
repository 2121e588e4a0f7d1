"""Random sequences of calls on every object that changes, with forks, signals, threads and changing buffers.

One property holds in every step: the result is right, or the exception is a typed one, and no object that
counts nonces continues in a child.
"""

from __future__ import annotations

import contextlib
import io
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import sealane
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    precondition,
    rule,
    run_state_machine_as_test,
)
from sealane.hazmat import AeadDecryptor, AeadEncryptor, Poly1305
from support import in_child, pattern

pytestmark = pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")

KEY, NONCE = pattern(32), bytes(12)
IDENTITY = sealane.keys.generate("age")
FORMATS: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({"key": KEY}, {"key": KEY}),
    ({"key": KEY, "format": "tink-4kb"}, {"key": KEY, "format": "tink-4kb"}),
    ({"recipients": [IDENTITY.public]}, {"identities": [IDENTITY]}),
    ({"recipients": [IDENTITY.public], "armor": True}, {"identities": [IDENTITY]}),
]
ALGORITHMS = st.sampled_from(["aes-128-gcm", "aes-256-gcm", "chacha20-poly1305"])
LENGTHS = st.sampled_from([0, 1, 4096, 16384, 65536, 100_000, (1 << 20) - 1, 1 << 20, 2_500_000])

REFUSED = "ForkedError"


def name_of_exception(call: Callable[[], object]) -> str:
    try:
        call()
    except Exception as error:
        return type(error).__name__
    return ""


def names_in_child(calls: list[Callable[[], object]]) -> list[str]:
    """Returns the names of the exceptions of the calls in a forked child, where "" is none."""
    return list(in_child(lambda: list(map(name_of_exception, calls))))


@contextlib.contextmanager
def changing(data: bytearray) -> Iterator[None]:
    """Lets another thread change the last byte of a buffer over and over."""
    stop, interval = threading.Event(), sys.getswitchinterval()
    sys.setswitchinterval(0.0002)

    def change() -> None:
        while not stop.is_set():
            data[-1] ^= 0xFF

    thread = threading.Thread(target=change)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()
        sys.setswitchinterval(interval)


class Sink(io.BytesIO):
    """The file object of a writer. It runs a hook in the next write."""

    hook: Callable[[], object] | None = None

    def write(self, data: Any) -> int:
        hook, self.hook = self.hook, None
        if hook is not None:
            hook()
        return super().write(data)


class Writers(RuleBasedStateMachine):
    """One writer with the plaintext that it was given."""

    @initialize(which=st.sampled_from(range(len(FORMATS))))
    def begin(self, which: int) -> None:
        self.start(which)

    @precondition(lambda self: self.writer.closed)
    @rule(which=st.sampled_from(range(len(FORMATS))))
    def begin_again(self, which: int) -> None:
        self.start(which)

    def start(self, which: int) -> None:
        encryption, self.decryption = FORMATS[which]
        self.sink, self.plain, self.lost = Sink(), bytearray(), False
        self.unordered: list[tuple[int, list[int] | None]] = []
        self.writer = sealane.open(self.sink, "wb", **encryption)

    def usable(self) -> bool:
        return not self.writer.closed

    @precondition(usable)
    @rule(length=LENGTHS, first=st.integers(0, 255))
    def write(self, length: int, first: int) -> None:
        piece = bytes([first]) * length
        if self.lost:
            assert name_of_exception(lambda: self.writer.write(piece)) == "ValueError"
            return
        assert self.writer.write(piece) == length
        self.plain += piece

    @precondition(usable)
    @rule(length=LENGTHS, order=st.permutations(["write", "close", "discard"]))
    def fork(self, length: int, order: list[str]) -> None:
        calls = {
            "write": lambda: self.writer.write(bytes(length)),
            "close": self.writer.close,
            "discard": self.writer.discard,
        }
        if not self.lost:
            names = dict(zip(order, names_in_child([calls[call] for call in order]), strict=True))
            assert names["discard"] == ""
            # A writer that was discarded is closed, and one that could not be closed as well.
            discarded = order.index("discard") < order.index("close")
            assert names["close"] == ("" if discarded else REFUSED)
            assert names["write"] == (REFUSED if order[0] == "write" else "ValueError")

    @precondition(usable)
    @rule(call=st.sampled_from(["write", "close", "discard"]), by_signal=st.booleans())
    def call_back(self, call: str, by_signal: bool) -> None:
        """The file object calls back, directly or because a signal handler runs in its write."""
        found: list[str] = []
        arguments = [b"x"] if call == "write" else []

        def inside(*_: object) -> None:
            found.append(name_of_exception(lambda: getattr(self.writer, call)(*arguments)))

        before = signal.signal(signal.SIGUSR1, inside)
        self.sink.hook = (lambda: signal.raise_signal(signal.SIGUSR1)) if by_signal else inside
        try:
            self.write(2_500_000, 7)
        finally:
            signal.signal(signal.SIGUSR1, before)
            self.sink.hook = None
        assert found == ([] if self.lost else ["ReentrantCallError"])

    @precondition(usable)
    @rule(by_fork=st.booleans())
    def fork_or_thread_inside_a_write(self, by_fork: bool) -> None:
        found: list[str] = []
        calls = [lambda: self.writer.write(b"x" * 3_000_000)]

        def inside() -> None:
            if by_fork:
                found.extend(names_in_child(calls))
            else:
                # Another thread waits until this write has ended.
                thread = threading.Thread(target=lambda: self.writer.tell())
                thread.start()
                thread.join()

        self.sink.hook = inside
        self.write(2_500_000, 8)
        self.sink.hook = None
        assert set(found) <= {REFUSED, "ReentrantCallError"}

    @precondition(usable)
    @rule(lengths=st.lists(st.sampled_from([10_000, 700_000]), min_size=2, max_size=4))
    def threads(self, lengths: list[int]) -> None:
        if self.lost:
            return
        before, sums = len(self.plain), sum(lengths)
        work = [
            threading.Thread(target=self.writer.write, args=(bytes([n + 1]) * length,))
            for n, length in enumerate(lengths)
        ]
        for thread in work:
            thread.start()
        for thread in work:
            thread.join()
        assert self.writer.tell() == before + sums
        # The order is unknown: each piece is whole, which the end of the test checks.
        self.plain += b"?" * sums
        self.unordered.append((before, lengths))

    @precondition(usable)
    @rule(length=st.sampled_from([100, 2_500_000]))
    def changing_buffer(self, length: int) -> None:
        if self.lost:
            return
        piece = bytearray(length)
        with changing(piece):
            self.writer.write(piece)
        self.plain += piece[:-1] + b"?"
        self.unordered.append((len(self.plain) - 1, None))

    @precondition(usable)
    @rule()
    def failing_sink(self) -> None:
        def fail() -> None:
            raise OSError(28, "No space left on device")

        if self.lost:
            return
        self.sink.hook = fail
        assert name_of_exception(lambda: self.writer.write(bytes(2_500_000))) == "OSError"
        self.sink.hook = None
        self.lost = True

    @precondition(usable)
    @rule(how=st.sampled_from(["close", "block", "discard", "failed block", "failed wrapper"]))
    def end(self, how: str) -> None:
        complete = False
        with contextlib.suppress(ZeroDivisionError):
            if how == "failed wrapper":
                with io.BufferedWriter(self.writer):
                    raise ZeroDivisionError
            if how == "failed block":
                with self.writer:
                    raise ZeroDivisionError
        if how == "discard":
            self.writer.discard()
        if how == "close":
            complete = name_of_exception(self.writer.close) == ""
        if how == "block":
            with contextlib.suppress(ValueError), self.writer:
                complete = not self.lost
        assert self.writer.closed
        assert complete == (how in ("close", "block") and not self.lost)
        self.check(complete)

    def check(self, complete: bool) -> None:
        sealed = self.sink.getvalue()
        if not complete:
            assert name_of_exception(lambda: sealane.decrypt(sealed, **self.decryption)) != ""
            return
        plain = bytearray(sealane.decrypt(sealed, **self.decryption))
        for at, lengths in self.unordered:
            if lengths is None:
                assert plain[at] in (0, 0xFF)
                plain[at] = ord("?")
            else:
                found, end = [], at + sum(lengths)
                while at < end:
                    length = lengths[plain[at] - 1]
                    assert plain[at : at + length] == bytes([plain[at]]) * length
                    found.append(plain[at] - 1)
                    plain[at : at + length] = b"?" * length
                    at += length
                assert sorted(found) == list(range(len(lengths)))
        assert plain == self.plain

    def teardown(self) -> None:
        if hasattr(self, "writer"):
            self.writer.discard()


class Pieces(RuleBasedStateMachine):
    """An AeadEncryptor, an AeadDecryptor and a Poly1305 that process the same message."""

    @initialize(algorithm=ALGORITHMS)
    def begin(self, algorithm: str) -> None:
        self.start(algorithm)

    @precondition(lambda self: self.ended)
    @rule(algorithm=ALGORITHMS)
    def begin_again(self, algorithm: str) -> None:
        self.start(algorithm)

    def start(self, algorithm: str) -> None:
        key = KEY[: {"aes-128-gcm": 16}.get(algorithm, 32)]
        self.aead = sealane.Aead(algorithm, key)
        self.encryptor, self.mac = AeadEncryptor(algorithm, key, NONCE), Poly1305(KEY)
        self.decryptor, self.same_mac = AeadDecryptor(algorithm, key, NONCE), Poly1305(KEY)
        self.plain, self.sealed, self.ended = bytearray(), bytearray(), False

    def usable(self) -> bool:
        return not self.ended

    @precondition(usable)
    @rule(length=LENGTHS, in_place=st.booleans())
    def update(self, length: int, in_place: bool) -> None:
        piece = bytearray(pattern(length))
        if in_place:
            out = bytearray(piece)
            self.encryptor.update_into(out, out)
        else:
            out = bytearray(self.encryptor.update(piece))
        assert self.decryptor.update(out) == piece
        self.mac.update(out)
        self.same_mac.update(out)
        self.plain += piece
        self.sealed += out

    @precondition(usable)
    @rule(length=st.sampled_from([5, 100_000]))
    def changing_buffer(self, length: int) -> None:
        """The ciphertext is that of one of the contents, and the tag is right for it."""
        piece = bytearray(length)
        with changing(piece):
            out = self.encryptor.update(piece)
        plain = self.decryptor.update(out)
        assert plain[:-1] == piece[:-1]
        assert plain[-1] in (0, 0xFF)
        self.mac.update(out)
        self.same_mac.update(out)
        self.plain += plain
        self.sealed += out

    @precondition(usable)
    @rule(order=st.permutations(range(5)))
    def fork(self, order: list[int]) -> None:
        calls = [
            self.encryptor.finalize,
            lambda: self.encryptor.update(b"x"),
            lambda: self.encryptor.aad(b"x"),
            self.mac.finalize,
            lambda: self.decryptor.update(b"x"),
        ]
        names = names_in_child([calls[n] for n in order])
        ended = False
        for n, name in zip(order, names, strict=True):
            # A finalized encryptor says so, also if finalizing was refused.
            allowed = {REFUSED, "ValueError"} if ended and n in (1, 2) else {"" if n == 4 else REFUSED}
            assert name in allowed
            ended = ended or n == 0

    @precondition(usable)
    @rule(count=st.integers(2, 4))
    def threads(self, count: int) -> None:
        """Pieces of one byte repeated, so that their order does not matter."""
        results: list[bytes] = []
        work = [
            threading.Thread(target=lambda: results.append(self.mac.update(b"s" * 9000) and b""))
            for _ in range(count)
        ]
        for thread in work:
            thread.start()
        for thread in work:
            thread.join()
        assert results == [b""] * count
        self.same_mac.update(b"s" * 9000 * count)

    @precondition(usable)
    @rule()
    def finalize(self) -> None:
        self.ended = True
        tag = self.encryptor.finalize()
        self.decryptor.finalize(tag)
        assert self.mac.finalize() == self.same_mac.finalize()
        assert self.aead.encrypt(NONCE, self.plain) == bytes(self.sealed) + tag
        for call in (lambda: self.encryptor.update(b"x")), self.encryptor.finalize, self.mac.finalize:
            assert name_of_exception(call) == "ValueError"


class Readers(RuleBasedStateMachine):
    """One reader over a file object, which may call back, fail or change meanwhile."""

    class Source(io.BytesIO):
        hook: Callable[[], object] | None = None

        def read(self, size: int | None = -1) -> bytes:
            hook, self.hook = self.hook, None
            if hook is not None:
                hook()
            return super().read(size)

    @initialize(which=st.sampled_from(range(len(FORMATS))), length=st.sampled_from([1, 100_000, 5_000_000]))
    def begin(self, which: int, length: int) -> None:
        encryption, decryption = FORMATS[which]
        self.plain = pattern(length)
        self.source = self.Source(sealane.encrypt(self.plain, **encryption))
        self.reader, self.position = sealane.open(self.source, "rb", **decryption), 0

    @rule(n=st.one_of(st.integers(0, 70_000), st.just(5_000_000)))
    def read(self, n: int) -> None:
        expected = self.plain[self.position : self.position + n]
        assert self.reader.read(n) == expected
        self.position += len(expected)
        assert self.reader.tell() == self.position

    @rule(part=st.floats(0, 1))
    def seek(self, part: float) -> None:
        self.position = self.reader.seek(int(len(self.plain) * part))

    @rule(call=st.sampled_from(["read", "peek", "seek"]), n=st.sampled_from([10, 5_000_000]))
    def call_back(self, call: str, n: int) -> None:
        found: list[str] = []
        arguments = [0] if call == "seek" else []
        self.source.hook = lambda: found.append(
            name_of_exception(lambda: getattr(self.reader, call)(*arguments))
        )
        self.read(n)
        self.source.hook = None
        assert set(found) <= {"ReentrantCallError"}

    @rule()
    def fork(self) -> None:
        def check() -> None:
            assert self.reader.read() == self.plain[self.position :]

        assert names_in_child([check]) == [""]
        self.read(100)

    @rule()
    def failing_source(self) -> None:
        def fail() -> None:
            raise OSError(5, "Input/output error")

        self.source.hook = fail
        name = name_of_exception(lambda: self.reader.read(70_000))
        if name == "":
            # The bytes were in the buffer of the last chunk, or at the end of the file.
            self.position = self.reader.tell()
        self.source.hook = None
        assert name in ("", "OSError")
        assert self.reader.tell() == self.position

    @rule()
    def threads(self) -> None:
        self.position = self.reader.seek(0)
        pieces: list[bytes] = []

        def work() -> None:
            while piece := self.reader.read(40_000):
                pieces.append(piece)

        if len(self.plain) > 1_000_000:
            return
        several = [threading.Thread(target=work) for _ in range(3)]
        for thread in several:
            thread.start()
        for thread in several:
            thread.join()
        self.position = len(self.plain)
        expected = [self.plain[at : at + 40_000] for at in range(0, len(self.plain), 40_000)]
        assert sorted(pieces) == sorted(expected)


MACHINES = [Writers, Pieces, Readers]
CHECKS = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]


# claim: reentrant
@pytest.mark.parametrize("machine", MACHINES)
def test_sequences(machine: type[RuleBasedStateMachine]) -> None:
    quick = settings(max_examples=12, stateful_step_count=12, deadline=None, suppress_health_check=CHECKS)
    run_state_machine_as_test(machine, settings=quick)


@pytest.mark.slow
@pytest.mark.parametrize("portion", range(8))
@pytest.mark.parametrize("machine", MACHINES)
def test_many_sequences(machine: type[RuleBasedStateMachine], portion: int) -> None:
    """400 sequences of each machine, in portions that end long before ``faulthandler_timeout``."""
    many = settings(max_examples=50, stateful_step_count=40, deadline=None, suppress_health_check=CHECKS)
    run_state_machine_as_test(machine, settings=many)
