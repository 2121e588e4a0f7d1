"""Scaling with Python threads that share one key.

A library that keeps the global interpreter lock during encryption gains nothing from more threads.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import sealane

from sealane_lab import machine
from sealane_lab.model import LIMIT, OURS, Absent, Cell, Contender, Experiment, Plot, Ready, Scale, Workspace
from sealane_lab.peers import find, require
from sealane_lab.referee import KEY, NONCE, opened
from sealane_lab.results import Sample, contenders_of
from sealane_lab.text import times_text

MESSAGES, SHORTER = "messages of 1 MiB", "messages of 64 KiB"
SIZES = {MESSAGES: 1 << 20, SHORTER: 64 << 10}
TASKS = (MESSAGES, SHORTER)

EACH = 8
"""MiB that a thread encrypts in one run, enough to make the start of the thread negligible."""


def cells(scale: Scale) -> list[Cell]:
    cores = machine.cores()
    counts = sorted({1, 2, cores, *(1 << shift for shift in range(cores.bit_length()))})
    if scale == "tiny":
        return [Cell(MESSAGES, SIZES[MESSAGES], threads) for threads in (1, 2)]
    return [Cell(task, SIZES[task], threads) for task in TASKS for threads in counts]


Seal = Callable[[bytes, bytearray], object]
"""Takes the message and a buffer for its ciphertext, which functions that return new bytes ignore."""


def _ours() -> Seal:
    encrypt = sealane.Aead("aes-256-gcm", KEY).encrypt_into
    return lambda plain, out: encrypt(NONCE, plain, None, out)


def _cryptography() -> Seal:
    encrypt = require("cryptography.hazmat.primitives.ciphers.aead").AESGCM(KEY).encrypt_into
    return lambda plain, out: encrypt(NONCE, plain, None, out)


def _rencrypt() -> Seal:
    of = require("rencrypt")
    seal = of.Cipher(of.CipherMeta.Ring(of.RingAlgorithm.Aes256Gcm), bytearray(KEY)).seal_in_place_from
    return lambda plain, out: seal(plain, out)


def _pycryptodome() -> Seal:
    aes = require("Crypto.Cipher.AES")
    new, gcm = aes.new, aes.MODE_GCM
    return lambda plain, out: new(KEY, gcm, nonce=NONCE).encrypt_and_digest(
        plain, output=memoryview(out)[: len(plain)]
    )


def _pynacl() -> Seal:
    encrypt = require("nacl.bindings").crypto_aead_aes256gcm_encrypt
    return lambda plain, out: encrypt(plain, b"", NONCE, KEY)


SEALS: dict[str, Callable[[], Seal]] = {
    OURS: _ours,
    "cryptography": _cryptography,
    "rencrypt": _rencrypt,
    "pycryptodome": _pycryptodome,
    "PyNaCl": _pynacl,
}


def contenders() -> list[Contender]:
    found = [
        Contender(peer, peer, task, partial(_ready, seal, peer))
        for task in TASKS
        for peer, seal in SEALS.items()
    ]
    return [*found, *(Contender(LIMIT, "copy in memory", task, _copy) for task in TASKS)]


def _pool(workspace: Workspace) -> ThreadPoolExecutor:
    """Returns a pool that ends with the cell."""
    pool = ThreadPoolExecutor(workspace.cell.threads)
    workspace.on_close(pool.shutdown)
    return pool


def _ready(make: Callable[[], Seal], peer: str, workspace: Workspace) -> Ready:
    plain, threads, seal = workspace.plain, workspace.cell.threads, make()
    each = max(1, (EACH << 20) // workspace.size)
    outs = [bytearray(workspace.size + (28 if peer == "rencrypt" else 16)) for _ in range(threads)]
    pool = workspace.once("pool", lambda: _pool(workspace))

    def work(out: bytearray) -> None:
        for _ in range(each):
            seal(plain, out)

    def check() -> str:
        made = seal(plain, outs[0])
        if isinstance(made, bytes):
            return opened(workspace, "aes-256-gcm", made, by_other_than=peer)
        if isinstance(made, tuple):
            return opened(workspace, "aes-256-gcm", outs[0][:-16] + made[1], by_other_than=peer)
        nonce, wire = (outs[0][-12:], outs[0][:-12]) if peer == "rencrypt" else (NONCE, outs[0])
        return opened(workspace, "aes-256-gcm", wire, by_other_than=peer, nonce=nonce)

    return Ready(partial(_spread, pool, work, outs), check, count=each * threads)


def _spread(pool: ThreadPoolExecutor, work: Callable[[Any], None], over: Sequence[Any]) -> None:
    """Runs ``work`` once per thread, and raises the first error of a thread."""
    for done in [pool.submit(work, one) for one in over]:
        done.result()


def _copy(workspace: Workspace) -> Ready:
    """Copies with NumPy, which releases the global interpreter lock; copying bytes objects does not."""
    if find("numpy").version is None:
        raise Absent("NumPy is not installed")
    import numpy

    source = numpy.frombuffer(workspace.plain, numpy.uint8)
    targets = [numpy.empty(workspace.size, numpy.uint8) for _ in range(workspace.cell.threads)]
    each = max(1, (EACH << 20) // workspace.size)

    def work(target: Any) -> None:
        for _ in range(each):
            numpy.copyto(target, source)

    run = partial(_spread, workspace.once("pool", lambda: _pool(workspace)), work, targets)
    return Ready(run, lambda: "", count=each * len(targets))


def findings(samples: Sequence[Sample]) -> list[str]:
    """Returns the speed with all threads relative to one thread."""
    lines = []
    for task in TASKS:
        mine = [s for s in samples if s.task == task and s.peer != LIMIT]
        max_threads = max((sample.threads for sample in mine), default=1)
        parts = []
        for contender in contenders_of(mine):
            by = {sample.threads: sample for sample in mine if sample.contender == contender}
            if max_threads > 1 and {1, max_threads} <= by.keys():
                parts.append(f"{contender} {times_text(by[1].median / by[max_threads].median)}")
        if parts:
            lines.append(f"{task}, {max_threads} threads against one: {', '.join(parts)}.")
    return lines


EXPERIMENT = Experiment(
    name="threads",
    title="Threads",
    about="AES-256-GCM into a buffer (PyNaCl: new bytes) with one key in several Python threads at once; "
    "the figures are the sum of all threads.",
    cells=cells,
    contenders=contenders,
    plots=(Plot("Speed by threads", TASKS, "rate", over="threads"),),
    budget={"full": 60, "quick": 4, "tiny": 0.2},
    findings=findings,
)
