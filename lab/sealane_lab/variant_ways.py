"""sealane's own variants beside each other: a process each, which takes its turns like everyone else.

The variant is picked once, when a process first needs it, from what the processor has and ``SEALANE_CPU``
leaves of it. So each narrower one gets a process with that variable, which repeats its work as often as it is
told and answers with the seconds.
"""

from __future__ import annotations

import functools
import hashlib
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import sealane
from sealane import hazmat

from sealane_lab.model import OURS, Absent, Ready, Room, Row, Wrong
from sealane_lab.referee import KEY, NONCE, key_of, nonce_of
from sealane_lab.timing import Work, timed

AEADS = ("aes-256-gcm", "chacha20-poly1305", "aegis-128l", "aegis-128x4")
TASKS = (*AEADS, "chacha20", "poly1305")
AES_CTR = "aes-ctr"
"""With a key of 128 bits, from the middle of a block, as aesctrat's figures are."""

WITHOUT = {
    "vaes256": "-avx512f",
    "avx2": "-avx512f",
    "aesni": "-avx512f,-vaes",
    "portable": "-avx512f,-avx2,-vaes,-aes,-neon",
}
"""Variant to what has to be taken away for it."""


@dataclass(frozen=True)
class Job:
    """What is timed, the variant that does it, and what comes out."""

    run: Work
    variant: str
    out: Callable[[], bytes | bytearray]


def job(task: str, data: bytes, provider: str | None = "native") -> Job:
    if task in AEADS:
        aead, nonce = sealane.Aead(task, key_of(task), provider), nonce_of(task)
        sealed, encrypt = bytearray(len(data) + 16), aead.encrypt_into
        return Job(lambda: encrypt(nonce, data, None, sealed), aead.variant, lambda: sealed)
    if task == "chacha20":
        cipher = hazmat.ChaCha20(KEY, NONCE)
        text, xor = bytearray(len(data)), cipher.xor_into
        return Job(lambda: xor(0, data, text), cipher.variant, lambda: text)
    if task == AES_CTR:
        stream = hazmat.AesCtr(KEY[:16], bytes(range(16)))
        text, at = bytearray(len(data)), stream.xor_into
        return Job(lambda: at(5, data, text), stream.variant, lambda: text)
    mac = hazmat.Poly1305
    return Job(
        lambda: mac(KEY).update(data).finalize(),
        mac(KEY).variant,
        lambda: mac(KEY).update(data).finalize(),
    )


def message(size: int) -> bytes:
    """The same in every process."""
    piece = bytes(range(251))
    return (piece * (size // 251 + 1))[:size]


def rows(tasks: Mapping[str, str]) -> list[Row]:
    """Of every variant that this processor can run and that is not the chosen one.

    ``tasks``: what is computed (of TASKS, or AES_CTR) to what an experiment calls that task.
    """
    found = []
    for row in sealane.providers():
        if row.provider != "native" or row.algorithm not in tasks or not row.available or row.chosen:
            continue
        prepare = functools.partial(_elsewhere, row.algorithm, row.variant)
        found.append(Row(OURS, f"sealane native {row.variant}", tasks[row.algorithm], prepare))
    return found


def _elsewhere(task: str, variant: str, room: Room) -> Ready:
    worker = _worker(task, variant, room)
    wanted = job(task, message(room.size))

    def check() -> str:
        """The chosen variant computes the same, and that is confirmed by others."""
        wanted.run()
        if worker.ask("digest") != hashlib.sha256(wanted.out()).hexdigest():
            raise Wrong(f"{variant} computes something else")
        return f"{OURS} {wanted.variant}"

    return Ready(lambda: worker.seconds(1), check, timed=worker.seconds)


class _Worker:
    def __init__(self, task: str, variant: str, size: int) -> None:
        code = "import sys; from sealane_lab.variant_ways import serve; serve(sys.argv[1], int(sys.argv[2]))"
        path = os.pathsep.join([str(Path(sealane.__file__).parents[1]), os.environ.get("PYTHONPATH", "")])
        self._child = subprocess.Popen(
            [sys.executable, "-c", code, task, str(size)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "SEALANE_CPU": WITHOUT[variant], "PYTHONPATH": path},
        )

    def ask(self, what: str) -> str:
        assert self._child.stdin is not None
        assert self._child.stdout is not None
        print(what, file=self._child.stdin, flush=True)
        answer = self._child.stdout.readline().strip()
        if not answer:
            raise Absent("its process ended")
        return answer

    def seconds(self, calls: int) -> float:
        return float(self.ask(str(calls)))

    def close(self) -> None:
        assert self._child.stdin is not None
        assert self._child.stdout is not None
        self._child.stdin.close()
        self._child.stdout.close()
        self._child.wait()


def _worker(task: str, variant: str, room: Room) -> _Worker:
    """It lives to the end of the cell."""
    if variant not in WITHOUT:
        raise Absent("the lab does not know how to ask for it")
    worker = _Worker(task, variant, room.size)
    room.later(worker.close)
    if (got := worker.ask("variant")) != variant and not got.startswith(variant):
        raise Absent(f"what was asked for it is computed by {got}")
    return worker


def serve(task: str, size: int) -> None:
    """The other side: a question a line, until there are no more."""
    mine = job(task, message(size))
    loop = timed(mine.run)
    for line in sys.stdin:
        match line.strip():
            case "variant":
                answer = mine.variant
            case "digest":
                mine.run()
                answer = hashlib.sha256(mine.out()).hexdigest()
            case calls:
                answer = repr(loop(int(calls)))
        print(answer, flush=True)
