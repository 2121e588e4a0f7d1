"""Runs experiments: prepares and checks every contender, then times all of them in interleaved rounds."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterable
from pathlib import Path

from sealane_lab import machine, peers
from sealane_lab.model import LIMIT, Absent, Cell, Contender, Experiment, Ready, Scale, Workspace, WrongOutput
from sealane_lab.progress import Bar
from sealane_lab.results import Results, Sample, Skipped
from sealane_lab.text import size_text
from sealane_lab.timing import Clock, Effort, measure, summary, timed

MIN_SECONDS: dict[Scale, float] = {"full": 0.005, "quick": 0.001, "tiny": 0.00002}
"""Seconds that one contender takes in one round, at least."""


def run(
    experiment: Experiment,
    scale: Scale,
    results: Results,
    bar: Bar,
    folder: Path | None = None,
    clock: Clock = time.perf_counter,
) -> None:
    """Measures all cells. Adds the samples to ``results``, and the skipped contenders with the reason."""
    contenders, cells = experiment.contenders(), experiment.cells(scale)
    budget = experiment.budget[scale]
    ends = clock() + budget
    for index, cell in enumerate(cells):
        size = size_text(cell.size) if cell.size else ""
        bar.step(0, f"{experiment.name}: {cell.task} {size}")
        share = (ends - clock()) / (len(cells) - index)
        effort = Effort(max(share, 0), MIN_SECONDS[scale], experiment.rounds[scale])
        _cell(experiment, cell, [c for c in contenders if c.task == cell.task], effort, results, folder)
        bar.step(budget / len(cells), experiment.name)


def _cell(
    experiment: Experiment,
    cell: Cell,
    contenders: Iterable[Contender],
    effort: Effort,
    results: Results,
    folder: Path | None,
) -> None:
    needed = cell.size * experiment.memory
    if (total := machine.memory()) is not None and needed > total:
        why = f"needs {needed >> 20} MiB of memory, this machine has {total >> 20} MiB"
        results.skipped.append(Skipped(experiment.name, cell.task, "all", cell.size, why))
        return
    workspace = Workspace(cell, folder)
    try:
        _measured(experiment.name, contenders, workspace, effort, results)
    finally:
        workspace.close()


def _measured(
    experiment: str, contenders: Iterable[Contender], workspace: Workspace, effort: Effort, results: Results
) -> None:
    cell, began = workspace.cell, time.perf_counter()
    ready: dict[str, tuple[Contender, Ready, str]] = {}

    def failed(name: str, error: Exception) -> None:
        """Skips a contender that raises. The others are measured all the same."""
        known = isinstance(error, Absent | WrongOutput)
        why = str(error) if known else f"{type(error).__name__}: {error}"
        results.skipped.append(Skipped(experiment, cell.task, name, cell.size, why))

    for contender in contenders:
        try:
            ready[contender.name] = (contender, *_prepared(contender, workspace))
        except Exception as error:
            failed(contender.name, error)
    for name, (contender, one, checked) in list(ready.items()):
        if one.memory is not None:
            del ready[name]
            try:
                figures = summary([one.memory()])
            except Exception as error:
                failed(name, error)
                continue
            key = (experiment, cell.task, name, contender.peer, cell.size, cell.threads)
            results.samples.append(Sample.of(key, figures, checked, "B"))
    # The time of the checks counts against the budget.
    left = Effort(max(effort.budget - (time.perf_counter() - began), 0), effort.min_seconds, effort.rounds)
    works = {name: one.timed or timed(one.run, one.reset) for name, (_, one, _) in ready.items()}
    for name, seconds in measure(works, left, failed=failed).items():
        contender, one, checked = ready[name]
        figures = summary([s / one.count for s in seconds])
        key = (experiment, cell.task, name, contender.peer, cell.size, cell.threads)
        results.samples.append(Sample.of(key, figures, checked))


def _prepared(contender: Contender, workspace: Workspace) -> tuple[Ready, str]:
    """Prepares and checks a contender."""
    if contender.peer != LIMIT and (presence := peers.find(contender.peer)).version is None:
        raise Absent(f"{contender.peer}: {presence.reason}")
    if contender.largest is not None and workspace.size > contender.largest:
        raise Absent(f"not above {contender.largest >> 20} MiB")
    with warnings.catch_warnings():
        # A peer may use deprecated functions of its own dependencies; the lab cannot change that.
        warnings.simplefilter("ignore")
        ready = contender.prepare(workspace)
        return ready, ready.check()
