"""The tables of REncrypt: a message in memory, from 32 KiB to 1 GiB, in three calling styles.

REncrypt's figures were means of three consecutive runs, its ``copy_slice(x, buf[:n])`` copied into a
temporary object, and only REncrypt itself decrypted its ciphertexts. Its columns are three calls of its own
and two of PyFLocker. The third of its calls exists only in ``sealane.compat.rencrypt``.
"""

from __future__ import annotations

from sealane_lab import aead_contenders, machine, rencrypt_contenders
from sealane_lab.model import Cell, Contender, Experiment, Plot, Scale

TASKS = ("encrypt", "decrypt")

SIZES: dict[Scale, list[int]] = {
    "full": [1 << shift for shift in range(15, 31)],
    "quick": [1 << shift for shift in (15, 17, 20, 22, 24)],
    "tiny": [1 << 15],
}


def cells(scale: Scale) -> list[Cell]:
    return [Cell(task, size) for size in SIZES[scale] for task in TASKS]


def contenders() -> list[Contender]:
    return [
        *aead_contenders.contenders("aes-256-gcm", "in place", "into", "new bytes"),
        *rencrypt_contenders.contenders(),
        *machine.memory_limits(*TASKS),
        *machine.aes_limits(*TASKS),
    ]


EXPERIMENT = Experiment(
    name="buffers",
    title="A message in memory",
    about="AES-256-GCM from Python by message size, one thread. In place: the ciphertext overwrites the "
    "message. Into: from one buffer to another. New bytes: the call returns a new object. The tables also "
    "have the calls of REncrypt, computed by sealane; these authenticate 11 more bytes.",
    cells=cells,
    contenders=contenders,
    plots=(Plot("Speed by size of the message", TASKS, "rate", undrawn=rencrypt_contenders.NAMES),),
    budget={"full": 900, "quick": 12, "tiny": 0.2},
    memory=18,
)
