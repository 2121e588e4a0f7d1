"""Small messages: what a call costs, beside an empty one."""

from __future__ import annotations

from sealane_lab import aead_ways, machine
from sealane_lab.model import Cell, Experiment, Plot, Row, Scale

TASKS = ("encrypt", "decrypt")

SIZES: dict[Scale, list[int]] = {
    "full": [16, 64, 256, 1 << 10, 1 << 12, 1 << 14],
    "quick": [16, 64, 256, 1 << 10, 1 << 12],
    "tiny": [64],
}


def cells(scale: Scale) -> list[Cell]:
    return [Cell(task, size) for size in SIZES[scale] for task in TASKS]


def rows() -> list[Row]:
    ways = aead_ways.rows("aes-256-gcm", "in place", "into", "new bytes")
    # To be opened in place again, a message has to be put there again: the clock between would be half of it.
    timed = [row for row in ways if (row.task, row.way.partition(" ")[2]) != ("decrypt", "in place")]
    return [*timed, *machine.call_limits(*TASKS)]


EXPERIMENT = Experiment(
    name="small",
    title="Small messages",
    about="AES-256-GCM from Python, one thread: the time of one call, which for small messages is that of "
    "the call itself. In place, a fresh nonce is drawn each time; into and new bytes are given one.",
    cells=cells,
    rows=rows,
    plots=(Plot("Time of one call by size of the message", TASKS, "time"),),
    budget={"full": 180, "quick": 7, "tiny": 0.2},
)
