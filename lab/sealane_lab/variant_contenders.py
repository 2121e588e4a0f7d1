"""The variants of sealane's own kernels, each measured in a process of its own.

A process picks the variant once, from the features of the processor without those that ``SEALANE_CPU``
removes. Therefore each narrower variant runs in a process with that variable. The process receives the number
of calls on standard input and writes the seconds.
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

from sealane_lab.model import OURS, Absent, Contender, Ready, Workspace, WrongOutput
from sealane_lab.referee import KEY, NONCE, key_of, nonce_of
from sealane_lab.timing import Work, timed

AEADS = ("aes-256-gcm", "chacha20-poly1305", "aegis-128l", "aegis-128x4")
TASKS = (*AEADS, "chacha20", "poly1305")
AES_CTR = "aes-ctr"
"""With a key of 128 bits, from the middle of a block, as in the table of aesctrat."""

WITHOUT = {
    "vaes256": "-avx512f",
    "avx2": "-avx512f",
    "aesni": "-avx512f,-vaes",
    "portable": "-avx512f,-avx2,-vaes,-aes,-neon",
}
"""Maps a variant to the features that SEALANE_CPU has to remove."""


@dataclass(frozen=True)
class Job:
    """The timed call, the variant that computes it, and its output."""

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
    """Returns the same message in every process."""
    piece = bytes(range(251))
    return (piece * (size // 251 + 1))[:size]


def contenders(tasks: Mapping[str, str]) -> list[Contender]:
    """Returns the variants that this processor can run, without the chosen one.

    ``tasks`` maps an algorithm (of TASKS, or AES_CTR) to the task name in an experiment.
    """
    found = []
    for entry in sealane.providers():
        if entry.provider != "native" or entry.algorithm not in tasks or not entry.available or entry.chosen:
            continue
        prepare = functools.partial(_elsewhere, entry.algorithm, entry.variant)
        found.append(Contender(OURS, f"sealane native {entry.variant}", tasks[entry.algorithm], prepare))
    return found


def _elsewhere(task: str, variant: str, workspace: Workspace) -> Ready:
    worker = _worker(task, variant, workspace)
    expected = job(task, message(workspace.size))

    def check() -> str:
        """Compares the output with that of the chosen variant, which other libraries confirm."""
        expected.run()
        if worker.ask("digest") != hashlib.sha256(expected.out()).hexdigest():
            raise WrongOutput(f"{variant} and {expected.variant} disagree")
        return f"{OURS} {expected.variant}"

    return Ready(lambda: worker.seconds(1), check, timed=worker.seconds)


class _Worker:
    """A separate Python process that runs ``serve`` and is controlled by this one."""

    def __init__(self, task: str, variant: str, size: int) -> None:
        code = "import sys; from sealane_lab import variant_contenders as v; v.serve(*sys.argv[1:])"
        folders = [str(Path(module).parents[1]) for module in (sealane.__file__, __file__)]
        path = os.pathsep.join([*folders, os.environ.get("PYTHONPATH", "")])
        self._child = subprocess.Popen(
            [sys.executable, "-c", code, task, str(size)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "SEALANE_CPU": WITHOUT[variant], "PYTHONPATH": path},
        )

    def ask(self, question: str) -> str:
        """Sends a line and returns the reply."""
        assert self._child.stdin is not None
        assert self._child.stdout is not None
        print(question, file=self._child.stdin, flush=True)
        reply = self._child.stdout.readline().strip()
        if not reply:
            raise Absent("its process ended")
        return reply

    def seconds(self, calls: int) -> float:
        """Returns the seconds of that many calls."""
        return float(self.ask(str(calls)))

    def close(self) -> None:
        """Ends the process, which cannot be used for measurements afterwards."""
        assert self._child.stdin is not None
        assert self._child.stdout is not None
        self._child.stdin.close()
        self._child.stdout.close()
        self._child.wait()


def _worker(task: str, variant: str, workspace: Workspace) -> _Worker:
    """Starts a process that ends with the cell."""
    if variant not in WITHOUT:
        raise Absent("the lab does not know which features SEALANE_CPU has to remove for it")
    worker = _Worker(task, variant, workspace.size)
    workspace.on_close(worker.close)
    if (got := worker.ask("variant")) != variant and not got.startswith(variant):
        raise Absent(f"SEALANE_CPU={WITHOUT[variant]} selects {got}")
    return worker


def serve(task: str, size: str) -> None:
    """Answers questions on standard input, one per line, until it ends."""
    mine = job(task, message(int(size)))
    loop = timed(mine.run)
    for line in sys.stdin:
        match line.strip():
            case "variant":
                reply = mine.variant
            case "digest":
                mine.run()
                reply = hashlib.sha256(mine.out()).hexdigest()
            case calls:
                reply = repr(loop(int(calls)))
        print(reply, flush=True)
