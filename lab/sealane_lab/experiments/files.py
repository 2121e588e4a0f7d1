"""REncrypt's file: 938.2 MB (of 2^20 bytes, as its bench counts), from path to path, beside ``cp``."""

from __future__ import annotations

from sealane_lab import file_ways
from sealane_lab.model import Cell, Experiment, Plot, Scale

TASKS = ("encrypt", "decrypt")

SEEDS = 9382 * (1 << 20) // 10

SIZES: dict[Scale, list[int]] = {
    "full": [16 << 20, 128 << 20, SEEDS],
    "quick": [64 << 20],
    "tiny": [(1 << 20) + 1],
}


def cells(scale: Scale) -> list[Cell]:
    return [Cell(task, size) for size in SIZES[scale] for task in TASKS]


EXPERIMENT = Experiment(
    name="files",
    title="A file",
    about="From path to path, in the page cache, without waiting for the disk. A loop is what users of a "
    "library without a file format write: pieces of 256 KiB under AES-256-GCM.",
    cells=cells,
    rows=file_ways.rows,
    plots=(Plot("Speed of the largest file", TASKS, "rate", over="way"),),
    budget={"full": 420, "quick": 13, "tiny": 0.5},
    memory=10,
)
