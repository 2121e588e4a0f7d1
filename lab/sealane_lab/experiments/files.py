"""The file of REncrypt's table, 938.2 MB of 2^20 bytes each, from path to path, compared with ``cp``."""

from __future__ import annotations

from sealane_lab import file_contenders
from sealane_lab.model import Cell, Experiment, Plot, Scale

TASKS = ("encrypt", "decrypt")

RENCRYPT_SIZE = 9382 * (1 << 20) // 10

SIZES: dict[Scale, list[int]] = {
    "full": [16 << 20, 128 << 20, RENCRYPT_SIZE],
    "quick": [64 << 20],
    "tiny": [(1 << 20) + 1],
}


def cells(scale: Scale) -> list[Cell]:
    return [Cell(task, size) for size in SIZES[scale] for task in TASKS]


EXPERIMENT = Experiment(
    name="files",
    title="A file",
    about="From path to path, in the page cache, without waiting for the disk. A loop is the code that users "
    "of a library without a file format write: pieces of 256 KiB under AES-256-GCM.",
    cells=cells,
    contenders=file_contenders.contenders,
    plots=(Plot("Speed of the largest file", TASKS, "rate", over="contender"),),
    budget={"full": 420, "quick": 13, "tiny": 0.5},
    memory=10,
)
