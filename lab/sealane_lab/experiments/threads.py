"""How the work grows with Python threads, under one key.

Whoever holds Python's lock while it works stays where it is with one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import sealane

from sealane_lab import machine
from sealane_lab.model import LIMIT, OURS, Absent, Cell, Experiment, Plot, Ready, Room, Row, Scale
from sealane_lab.peers import here, need
from sealane_lab.referee import KEY, NONCE, opened
from sealane_lab.results import Sample, ways_of
from sealane_lab.text import times_text

MESSAGES, SHORTER = "messages of 1 MiB", "messages of 64 KiB"
SIZES = {MESSAGES: 1 << 20, SHORTER: 64 << 10}
TASKS = (MESSAGES, SHORTER)

EACH = 8
"""MiB that a thread seals in one run: enough that starting it does not count."""


def cells(scale: Scale) -> list[Cell]:
    most = machine.cores()
    counts = sorted({1, 2, most, *(1 << shift for shift in range(most.bit_length()) if 1 << shift <= most)})
    if scale == "tiny":
        return [Cell(MESSAGES, SIZES[MESSAGES], threads) for threads in (1, 2)]
    return [Cell(task, SIZES[task], threads) for task in TASKS for threads in counts]


Seal = Callable[[bytes, bytearray], object]
"""The message and a buffer for its ciphertext, which those who return new bytes do not touch."""


def _ours() -> Seal:
    encrypt = sealane.Aead("aes-256-gcm", KEY).encrypt_into
    return lambda plain, out: encrypt(NONCE, plain, None, out)


def _cryptography() -> Seal:
    encrypt = need("cryptography.hazmat.primitives.ciphers.aead").AESGCM(KEY).encrypt_into
    return lambda plain, out: encrypt(NONCE, plain, None, out)


def _rencrypt() -> Seal:
    of = need("rencrypt")
    seal = of.Cipher(of.CipherMeta.Ring(of.RingAlgorithm.Aes256Gcm), bytearray(KEY)).seal_in_place_from
    return lambda plain, out: seal(plain, out)


def _pycryptodome() -> Seal:
    aes = need("Crypto.Cipher.AES")
    new, gcm = aes.new, aes.MODE_GCM
    return lambda plain, out: new(KEY, gcm, nonce=NONCE).encrypt_and_digest(
        plain, output=memoryview(out)[: len(plain)]
    )


def _pynacl() -> Seal:
    encrypt = need("nacl.bindings").crypto_aead_aes256gcm_encrypt
    return lambda plain, out: encrypt(plain, b"", NONCE, KEY)


SEALS: dict[str, Callable[[], Seal]] = {
    OURS: _ours,
    "cryptography": _cryptography,
    "rencrypt": _rencrypt,
    "pycryptodome": _pycryptodome,
    "PyNaCl": _pynacl,
}


def rows() -> list[Row]:
    found = [
        Row(peer, peer, task, partial(_ready, seal, peer)) for task in TASKS for peer, seal in SEALS.items()
    ]
    return [*found, *(Row(LIMIT, "copy in memory", task, _copy) for task in TASKS)]


def _pool(room: Room) -> ThreadPoolExecutor:
    """One for all who are measured in a cell."""
    pool = ThreadPoolExecutor(room.cell.threads)
    room.later(pool.shutdown)
    return pool


def _ready(make: Callable[[], Seal], peer: str, room: Room) -> Ready:
    plain, threads, seal = room.plain, room.cell.threads, make()
    each = max(1, (EACH << 20) // room.size)
    outs = [bytearray(room.size + (28 if peer == "rencrypt" else 16)) for _ in range(threads)]
    pool = room.once("pool", lambda: _pool(room))

    def work(out: bytearray) -> None:
        for _ in range(each):
            seal(plain, out)

    def check() -> str:
        made = seal(plain, outs[0])
        if isinstance(made, bytes):
            return opened(room, "aes-256-gcm", made, by_other_than=peer)
        if isinstance(made, tuple):
            return opened(room, "aes-256-gcm", outs[0][:-16] + made[1], by_other_than=peer)
        nonce, wire = (outs[0][-12:], outs[0][:-12]) if peer == "rencrypt" else (NONCE, outs[0])
        return opened(room, "aes-256-gcm", wire, by_other_than=peer, nonce=nonce)

    return Ready(partial(_spread, pool, work, outs), check, count=each * threads)


def _spread(pool: ThreadPoolExecutor, work: Callable[[Any], None], over: Sequence[Any]) -> None:
    """One thread each. What a thread raises is raised here."""
    for done in [pool.submit(work, one) for one in over]:
        done.result()


def _copy(room: Room) -> Ready:
    """By NumPy, which does not hold Python's lock meanwhile; a copy of bytes does."""
    if here("numpy").version is None:
        raise Absent("NumPy is not installed")
    import numpy

    source = numpy.frombuffer(room.plain, numpy.uint8)
    targets = [numpy.empty(room.size, numpy.uint8) for _ in range(room.cell.threads)]
    each = max(1, (EACH << 20) // room.size)

    def work(target: Any) -> None:
        for _ in range(each):
            numpy.copyto(target, source)

    run = partial(_spread, room.once("pool", lambda: _pool(room)), work, targets)
    return Ready(run, lambda: "", count=each * len(targets))


def findings(samples: Sequence[Sample]) -> list[str]:
    """How many times as much with all threads as with one."""
    lines = []
    for task in TASKS:
        mine = [s for s in samples if s.task == task and s.peer != LIMIT]
        most = max((sample.threads for sample in mine), default=1)
        parts = []
        for way in ways_of(mine):
            by = {sample.threads: sample for sample in mine if sample.way == way}
            if most > 1 and {1, most} <= by.keys():
                parts.append(f"{way} {times_text(by[1].median / by[most].median)}")
        if parts:
            lines.append(f"{task}, {most} threads against one: {', '.join(parts)}.")
    return lines


EXPERIMENT = Experiment(
    name="threads",
    title="Threads",
    about="AES-256-GCM into a buffer (PyNaCl: new bytes), the same key in so many Python threads at once; "
    "what is told is all of them together.",
    cells=cells,
    rows=rows,
    plots=(Plot("Speed by threads", TASKS, "rate", over="threads"),),
    budget={"full": 60, "quick": 4, "tiny": 0.2},
    findings=findings,
)
