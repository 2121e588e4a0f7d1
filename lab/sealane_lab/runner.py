"""From experiments to results: who takes part, checked first, then timed in turns."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterable
from pathlib import Path

from sealane_lab import machine, peers
from sealane_lab.model import LIMIT, Absent, Cell, Experiment, Ready, Room, Row, Scale, Wrong
from sealane_lab.progress import Bar
from sealane_lab.results import Results, Sample, Skipped
from sealane_lab.text import size_text
from sealane_lab.timing import Clock, Effort, measure, summary, timed

LEAST: dict[Scale, float] = {"full": 0.005, "quick": 0.001, "tiny": 0.00002}
"""Seconds that one way takes in a round."""


def run(
    experiment: Experiment,
    scale: Scale,
    results: Results,
    bar: Bar,
    folder: Path | None = None,
    clock: Clock = time.perf_counter,
) -> None:
    """Measures all cells and adds to ``results`` what came out, and what did not and why."""
    rows, cells = experiment.rows(), experiment.cells(scale)
    budget = experiment.budget[scale]
    ends = clock() + budget
    for index, cell in enumerate(cells):
        bar.step(0, f"{experiment.name}: {cell.task} {_size(cell)}")
        share = (ends - clock()) / (len(cells) - index)
        effort = Effort(max(share, 0), LEAST[scale], experiment.rounds[scale])
        _cell(experiment, cell, [row for row in rows if row.task == cell.task], effort, results, folder)
        bar.step(budget / len(cells), experiment.name)


def _cell(
    one: Experiment, cell: Cell, rows: Iterable[Row], effort: Effort, results: Results, folder: Path | None
) -> None:
    needed = cell.size * one.memory
    if (total := machine.memory()) is not None and needed > total:
        why = f"needs {needed >> 20} MiB of memory, more than there is"
        results.skipped.append(Skipped(one.name, cell.task, "all", cell.size, why))
        return
    room = Room(cell, folder)
    try:
        _measured(one.name, rows, room, effort, results)
    finally:
        room.close()


def _measured(name: str, rows: Iterable[Row], room: Room, effort: Effort, results: Results) -> None:
    cell, began = room.cell, time.perf_counter()
    ready: dict[str, tuple[Row, Ready, str]] = {}

    def failed(way: str, error: Exception) -> None:
        """Whatever a peer raises: the others are measured nevertheless."""
        told = isinstance(error, Absent | Wrong)
        why = str(error) if told else f"{type(error).__name__}: {error}"
        results.skipped.append(Skipped(name, cell.task, way, cell.size, why))

    for row in rows:
        try:
            ready[row.way] = (row, *_prepared(row, room))
        except Exception as error:
            failed(row.way, error)
    # The checks are part of the time that a run takes.
    left = Effort(max(effort.budget - (time.perf_counter() - began), 0), effort.least, effort.rounds)
    ways = {way: one.timed or timed(one.run, one.reset) for way, (_, one, _) in ready.items()}
    for way, seconds in measure(ways, left, failed=failed).items():
        row, one, checked = ready[way]
        figures = summary([s / one.count for s in seconds])
        key = (name, cell.task, way, row.peer, cell.size, cell.threads)
        results.samples.append(Sample.of(key, figures, checked))


def _prepared(row: Row, room: Room) -> tuple[Ready, str]:
    """Ready and checked."""
    if row.peer != LIMIT and (presence := peers.here(row.peer)).version is None:
        raise Absent(f"{row.peer}: {presence.reason}")
    if row.largest is not None and room.size > row.largest:
        raise Absent(f"not above {row.largest >> 20} MiB")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # What a peer is warned of by those it is built on is not the lab's.
        ready = row.prepare(room)
        return ready, ready.check()


def _size(cell: Cell) -> str:
    return size_text(cell.size) if cell.size else ""
